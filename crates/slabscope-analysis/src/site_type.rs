//! The type that owns the memory of a site, and how sure that is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use slabscope_symbols::types::{Certainty, OwningType, short};

/// The type that owns some memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteType {
    /// The type, as people write it.
    #[serde(rename = "type")]
    pub name: Arc<str>,
    /// How sure that is.
    #[serde(rename = "type_certainty")]
    pub certainty: TypeCertainty,
}

/// How sure a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeCertainty {
    /// It fits what is known.
    Guess,
    /// Functions say so whose code may have been merged with that for another type.
    Likely,
    /// A function says so in code that is there for no other types.
    Exact,
    /// The program said so, or the trace has types and no sites.
    Declared,
}

impl SiteType {
    /// A type with its certainty as side data have it; see
    /// [`slabscope_wire::alloc_free::data::SITE_TYPES`].
    pub(crate) fn new(certainty: u64, name: &str) -> SiteType {
        let certainty = match certainty {
            2 => TypeCertainty::Likely,
            3 => TypeCertainty::Exact,
            4 => TypeCertainty::Declared,
            _ => TypeCertainty::Guess,
        };
        SiteType { name: name.into(), certainty }
    }

    /// A type that the program declared in a scope, spelled as those that are found out are.
    pub(crate) fn of_scope(name: &str) -> SiteType {
        SiteType { name: short(name).into(), certainty: TypeCertainty::Declared }
    }

    /// Its name, if it was declared.
    pub(crate) fn if_declared(&self) -> Option<Arc<str>> {
        (self.certainty == TypeCertainty::Declared).then(|| Arc::clone(&self.name))
    }

    /// A type that the trace itself names.
    pub(crate) fn declared(name: &str) -> SiteType {
        SiteType { name: name.into(), certainty: TypeCertainty::Declared }
    }
}

impl From<OwningType> for SiteType {
    fn from(found: OwningType) -> Self {
        let certainty = match found.certainty {
            Certainty::Guess => TypeCertainty::Guess,
            Certainty::Likely => TypeCertainty::Likely,
            Certainty::Exact => TypeCertainty::Exact,
        };
        SiteType { name: found.name.into(), certainty }
    }
}
