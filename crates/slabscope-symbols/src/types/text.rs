//! Text: vectors of bytes that are known to be more.

use super::{Memory, Rule};
use crate::name::Name;

pub(super) const RULES: &[Rule] = &[
    Rule { module: "alloc::string", functions: &["into_boxed_str"], means: boxed_text },
    Rule { module: "alloc::str", functions: &["into_boxed_bytes"], means: boxed_text },
    Rule { module: "alloc::string", functions: &[], means: text },
    Rule { module: "alloc::str", functions: &[], means: text },
    Rule { module: "alloc::fmt", functions: &[], means: text },
    Rule { module: "alloc::ffi::c_str", functions: &[], means: c_text },
    Rule { module: "std::ffi::os_str", functions: &[], means: os_text },
    Rule { module: "std::sys::os_str", functions: &[], means: os_text },
    Rule { module: "std::path", functions: &[], means: path },
];

fn is_bytes(inner: Option<&Memory>) -> bool {
    inner.and_then(Memory::elements) == Some("u8")
}

fn is_type(inner: Option<&Memory>, wanted: &str) -> bool {
    matches!(inner, Some(Memory::Type(name)) if name == wanted)
}

fn named(name: &str) -> Option<Memory> {
    Some(Memory::Type(name.to_owned()))
}

fn text(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    if is_bytes(inner) { named("alloc::string::String") } else { None }
}

fn boxed_text(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let is_text = is_bytes(inner) || is_type(inner, "alloc::boxed::Box<[u8]>");
    if is_text { named("alloc::boxed::Box<str>") } else { None }
}

fn c_text(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let is_text = is_bytes(inner) || is_type(inner, "alloc::boxed::Box<[u8]>");
    if is_text { named("alloc::ffi::c_str::CString") } else { None }
}

/// Functions for it call each other, so it may be known already.
fn os_text(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let os_text = "std::ffi::os_str::OsString";
    if is_bytes(inner) || is_type(inner, os_text) { named(os_text) } else { None }
}

fn path(_: &Name, inner: Option<&Memory>) -> Option<Memory> {
    let is_text = is_bytes(inner) || is_type(inner, "std::ffi::os_str::OsString");
    if is_text { named("std::path::PathBuf") } else { None }
}
