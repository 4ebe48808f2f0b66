//! Sites, call stacks and modules from the recorder's tables.

use std::collections::{BTreeMap, BTreeSet};

use slabscope_wire::alloc_free::frame as wire;
use slabscope_wire::live::{header, site};
use slabscope_wire::varint;

use crate::live::Live;

/// What a site's number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) number: u64,
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// The number of the declared type's name; 0 where none was.
    pub(crate) declared: u16,
    /// The innermost frame of its call stack; 0 for none.
    pub(crate) frame: u32,
}

/// The site with this number; `None` for 0 and numbers never given out.
pub(crate) fn site(live: &Live<'_>, number: u32) -> Option<Site> {
    let number = u64::from(number);
    let plain = live.header(header::SITES).unwrap_or_default();
    let (request, frame) = match number.checked_sub(plain).filter(|&number| number > 0) {
        Some(number) => {
            let (request, frame) = live.stack_site(number)?;
            (request, if live.frame(frame.into()).is_some() { frame } else { 0 })
        }
        None => (live.word_of(header::SITES_AT, number.checked_sub(1)?), 0),
    };
    let (size, align, declared) = site::unpack(request)?;
    Some(Site { number, size, align, declared, frame })
}

/// All frames of the stacks that begin with these, each after the one that called it: number,
/// parent, flags, address.
pub(crate) fn frames(live: &Live<'_>, innermost: impl Iterator<Item = u32>) -> Vec<[u64; 4]> {
    let mut found = BTreeMap::new();
    for frame in innermost {
        let mut number = u64::from(frame);
        while let Some((address, mut flags, parent)) = live.frame(number) {
            if found.contains_key(&number) {
                break;
            }
            // A parent was entered before its children; what says otherwise is broken, and ends there.
            let mut parent = u64::from(parent);
            if parent >= number || (parent != 0 && live.frame(parent).is_none()) {
                (parent, flags) = (0, flags | wire::TRUNCATED);
            }
            found.insert(number, [number, parent, flags, address]);
            number = parent;
        }
    }
    // By number, so parents come first.
    found.into_values().collect()
}

/// The records of modules, of each the last.
pub(crate) fn modules<'a>(live: &Live<'a>) -> Vec<&'a [u8]> {
    let (mut rest, mut ends) = (live.modules(), Vec::new());
    while let Some((id, len)) = module(rest) {
        let (record, behind) = rest.split_at(len);
        ends.push((id, record));
        rest = behind;
    }
    let (mut seen, mut modules) = (BTreeSet::new(), Vec::new());
    for (id, record) in ends.into_iter().rev() {
        if seen.insert(id) {
            modules.push(record);
        }
    }
    modules.reverse();
    modules
}

/// Id and length of the record that these bytes begin with.
fn module(bytes: &[u8]) -> Option<(u64, usize)> {
    let (mut at, mut id) = (0, 0);
    for field in 0..8 {
        let (value, len) = varint::decode(bytes.get(at..)?).ok()?;
        at = at.checked_add(len)?;
        match field {
            0 => id = value,
            // The build id and the path: as many bytes follow.
            6 | 7 => at = at.checked_add(usize::try_from(value).ok()?)?,
            _ => {}
        }
    }
    (at <= bytes.len()).then_some((id, at))
}
