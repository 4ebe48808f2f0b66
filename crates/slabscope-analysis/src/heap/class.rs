//! The size class of an object.

use serde::{Deserialize, Serialize};

use super::SpanKind;

/// The size class of objects: 0 for large ones, [`Class::NONE`] for those in no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Class(pub(crate) u8);

impl Class {
    pub(crate) const NONE: Class = Class(u8::MAX);

    /// The class of an object in such a span.
    pub(crate) fn of(kind: SpanKind) -> Class {
        match kind {
            SpanKind::Small(class) => Class(class.index() as u8),
            SpanKind::Large => Class(0),
            SpanKind::Other | SpanKind::Unknown => Class::NONE,
        }
    }
}
