//! Call stacks.

use std::fmt;
use std::sync::Arc;

use crate::tables::Tables;
use crate::text::Text;

/// A call stack of one generation; cheap to clone, keeps its generation's tables alive.
#[derive(Clone)]
pub struct Stack {
    tables: Arc<Tables>,
    id: u64,
}

impl Stack {
    pub(crate) fn new(tables: Arc<Tables>, id: u64) -> Self {
        Stack { tables, id }
    }

    /// Its number, which means something in its generation only.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its frames, innermost first; none for a stack the trace does not have.
    pub fn frames(&self) -> impl Iterator<Item = Frame> {
        self.tables.frames(self.id)
    }
}

impl PartialEq for Stack {
    /// Two stacks are equal when they are the same stack of the same generation.
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.tables, &other.tables)
    }
}

impl Eq for Stack {}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stack({}) ", self.id)?;
        f.debug_list().entries(self.frames()).finish()
    }
}

/// One level of a call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The address: of the sample in the innermost frame, of the call in the others.
    pub pc: u64,
    /// The function.
    pub function: Text,
    /// The source file.
    pub file: Text,
    /// The line in that file.
    pub line: u64,
}
