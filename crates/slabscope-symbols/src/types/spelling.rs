//! Types as people write them: well-known ones without their paths, defaults left out.

/// Types that are known by their names alone.
const KNOWN: [&str; 40] = [
    "alloc::borrow::Cow",
    "alloc::boxed::Box",
    "alloc::collections::binary_heap::BinaryHeap",
    "alloc::collections::btree::map::BTreeMap",
    "alloc::collections::btree::set::BTreeSet",
    "alloc::collections::linked_list::LinkedList",
    "alloc::collections::vec_deque::VecDeque",
    "alloc::ffi::c_str::CString",
    "alloc::rc::Rc",
    "alloc::string::String",
    "alloc::sync::Arc",
    "alloc::vec::Vec",
    "core::cell::Cell",
    "core::cell::RefCell",
    "core::cell::once::OnceCell",
    "core::future::future::Future",
    "core::marker::PhantomData",
    "core::marker::Send",
    "core::marker::Sync",
    "core::mem::manually_drop::ManuallyDrop",
    "core::mem::maybe_uninit::MaybeUninit",
    "core::ops::function::Fn",
    "core::ops::function::FnMut",
    "core::ops::function::FnOnce",
    "core::option::Option",
    "core::pin::Pin",
    "core::result::Result",
    "core::sync::atomic::AtomicBool",
    "core::sync::atomic::AtomicUsize",
    "core::time::Duration",
    "std::collections::hash::map::HashMap",
    "std::collections::hash::set::HashSet",
    "std::ffi::os_str::OsString",
    "std::fs::File",
    "std::io::error::Error",
    "std::path::PathBuf",
    "std::sync::once_lock::OnceLock",
    "std::sync::poison::mutex::Mutex",
    "std::sync::poison::rwlock::RwLock",
    "std::time::Instant",
];

/// Arguments that are there unless one says otherwise.
const DEFAULTS: [&str; 3] = [
    ", alloc::alloc::Global",
    ", std::hash::random::RandomState",
    ", std::collections::hash::map::RandomState",
];

/// The type without the paths of well-known types and without default arguments.
pub fn short(name: &str) -> String {
    let mut plain = name.to_owned();
    for default in DEFAULTS {
        plain = plain.replace(default, "");
    }
    let mut short = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while let Some(c) = rest.chars().next() {
        if !is_part_of_path(c) {
            short.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = rest.find(|c: char| !is_part_of_path(c)).unwrap_or(rest.len());
        let (path, after) = rest.split_at(end);
        let known = KNOWN.contains(&path);
        let last = path.rsplit("::").next().unwrap_or(path);
        short.push_str(if known { last } else { path });
        rest = after;
    }
    without_environments(&short)
}

fn is_part_of_path(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
}

/// What debug information calls the state of functions without a name.
const ENVIRONMENTS: [(&str, &str); 3] = [
    ("{async_fn_env#", "async fn"),
    ("{async_block_env#", "async block"),
    ("{closure_env#", "closure"),
];

/// `app::run::{async_block_env#0}` is an async block in `app::run`.
fn without_environments(name: &str) -> String {
    let mut plain = name.to_owned();
    for (mark, what) in ENVIRONMENTS {
        while let Some(at) = plain.find(mark) {
            let Some(len) = plain[at..].find('}') else { break };
            let end = at + len + 1;
            let path = plain[..at].rfind(|c| !is_part_of_path(c)).map_or(0, |before| before + 1);
            let inside = plain[path..at].trim_end_matches("::");
            let number = plain[at + mark.len()..end - 1].trim();
            let text = match number {
                "0" => format!("{{{what} in {inside}}}"),
                number => format!("{{{what} {number} in {inside}}}"),
            };
            plain.replace_range(path..end, &text);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_types_lose_their_paths() {
        let cases = [
            ("alloc::vec::Vec<my::Order, alloc::alloc::Global>", "Vec<my::Order>"),
            (
                "(alloc::string::String, &my::alloc::string::String)",
                "(String, &my::alloc::string::String)",
            ),
            ("alloc::boxed::Box<(dyn my::Job + core::marker::Send)>", "Box<(dyn my::Job + Send)>"),
            (
                "alloc::boxed::Box<app::run::{async_block_env#0}<u8>>",
                "Box<{async block in app::run}<u8>>",
            ),
        ];
        for (name, expected) in cases {
            assert_eq!(short(name), expected);
        }
    }
}
