//! What a function is called, taken apart as far as the rules for types need it.

use crate::generics;
use crate::source_path;

/// The name of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Name {
    /// The whole name, for people.
    pub full: String,
    /// The module it stands in, such as `alloc::raw_vec`; empty where that is not known.
    pub module: String,
    /// Its own name without generic arguments, such as `grow_one`.
    pub base: String,
    /// Generic arguments with their actual types: those of the `impl` first, then its own.
    pub arguments: Vec<String>,
    /// The type whose method it is, with actual types; empty where that is not known.
    pub owner: String,
    /// Whether it is one of several that the compiler made of one function, each for other types.
    pub is_instance: bool,
}

/// What debug information and symbols say of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts<'a> {
    /// The name for the linker.
    pub(crate) linkage: Option<&'a str>,
    /// The name in the source, in Rust with its actual generic arguments.
    pub(crate) source: Option<&'a str>,
    /// Its generic arguments, from descriptions of their own.
    pub(crate) arguments: &'a [String],
    /// The file its code is in.
    pub(crate) file: &'a str,
}

impl Name {
    /// The name made of what is known; `None` of nothing.
    pub(crate) fn new(parts: Parts<'_>) -> Option<Name> {
        let linked = parts.linkage.map(Linked::new);
        let mut name = match linked {
            Some(Linked::Rust { path, is_exact }) => Name::of_path(&path, is_exact),
            Some(Linked::Other(full)) => Name { base: full.clone(), full, ..Name::default() },
            None => Name::of_source(parts.source?),
        };
        // The file says where the code stands; a path may name the type of a caller's crate.
        if let Some(module) = source_path::module(parts.file) {
            name.module = module;
        }
        if parts.linkage.is_none() && !name.module.is_empty() {
            name.full = format!("{}::{}", name.module, name.full);
        }
        // Those in the source's name come in one order, whichever way names are mangled.
        let source = parts.source.map(|source| owned(generics::split(source).1));
        let better = [source.unwrap_or_default(), parts.arguments.to_vec()];
        if let Some(arguments) = better.into_iter().find(|list| !list.is_empty()) {
            name.arguments = arguments;
        }
        name.is_instance = match parts.source {
            // It has the arguments of all that the function stands in.
            Some(_) => !name.arguments.is_empty(),
            None => has_arguments(&name.full),
        };
        Some(name)
    }

    /// A name of nothing but text.
    pub(crate) fn plain(full: String) -> Name {
        Name { base: full.clone(), full, ..Name::default() }
    }

    /// From a path such as `<alloc::raw_vec::RawVec<u8>>::grow_one`. In older ones generic
    /// arguments are no types but the letters of the source.
    fn of_path(path: &str, is_exact: bool) -> Name {
        let (path_of_function, last) = function_segment(path);
        let (base, own) = generics::split(last);
        let owner = owner(path_of_function);
        let mut name = Name {
            full: path.to_owned(),
            module: module_of_path(path_of_function, owner),
            base: base.to_owned(),
            ..Name::default()
        };
        if is_exact {
            name.owner = owner.unwrap_or_default().to_owned();
            name.arguments = owned(owner.map(|owner| generics::split(owner).1).unwrap_or_default());
            name.arguments.extend(owned(own));
        }
        name
    }

    fn of_source(source: &str) -> Name {
        let (base, arguments) = generics::split(source);
        Name {
            full: source.replace(", alloc::alloc::Global", ""),
            base: base.to_owned(),
            arguments: owned(arguments),
            ..Name::default()
        }
    }
}

/// A name for the linker, made readable.
enum Linked {
    Rust { path: String, is_exact: bool },
    Other(String),
}

impl Linked {
    fn new(mangled: &str) -> Linked {
        // What a linker or LLVM hangs on behind is no part of the name.
        let plain = mangled.split_once(".llvm.").map_or(mangled, |(name, _)| name);
        if let Ok(name) = rustc_demangle::try_demangle(plain) {
            let is_exact = plain.trim_start_matches('_').starts_with('R');
            return Linked::Rust { path: format!("{name:#}"), is_exact };
        }
        let cpp = plain.starts_with("_Z").then(|| cpp_demangle::Symbol::new(plain).ok()).flatten();
        let text = cpp.and_then(|symbol| symbol.demangle().ok());
        Linked::Other(text.unwrap_or_else(|| mangled.to_owned()))
    }
}

fn owned(list: Vec<&str>) -> Vec<String> {
    list.into_iter().map(str::to_owned).collect()
}

/// The path around a function and its own segment; what stands inside a function belongs to it.
fn function_segment(path: &str) -> (&str, &str) {
    generics::last_segment(path)
}

/// The type in `<Type>` or `<Type as Trait>`, or in a path that ends in a type.
fn owner(path: &str) -> Option<&str> {
    let inner = path.strip_prefix('<')?;
    let inner = inner.strip_suffix('>')?;
    let mut depth = 0_i32;
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 && inner[at..].starts_with(" as ") => return Some(&inner[..at]),
            _ => {}
        }
    }
    Some(inner)
}

/// Whether there are generic arguments anywhere in a path, beside the `<` that a type may begin with.
fn has_arguments(path: &str) -> bool {
    let path = path.strip_prefix('<').unwrap_or(path);
    path.contains('<')
}

/// The module that a function stands in, from its name for people; the name itself where it has none.
pub fn module_of(function: &str) -> String {
    let (path, own) = function_segment(function);
    // What has no name of its own stands in a function.
    let path = if own.starts_with('{') { generics::last_segment(path).0 } else { path };
    if path.is_empty() { function.to_owned() } else { module_of_path(path, owner(path)) }
}

/// The crate of a function, from its name for people; the name itself where it is none of Rust.
pub fn crate_of(function: &str) -> String {
    let module = module_of(function);
    let path = module.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    path.split("::").next().unwrap_or(path).to_owned()
}

/// The module of a path whose last part may be a type.
fn module_of_path(path: &str, owner: Option<&str>) -> String {
    let path = generics::split(owner.unwrap_or(path)).0;
    let path = path.trim_start_matches(['&', '*']).trim_start_matches("mut ");
    let (before, last) = generics::last_segment(path);
    let is_type = owner.is_some() || last.starts_with(|c: char| c.is_uppercase());
    if is_type && !before.is_empty() { before.to_owned() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(linkage: Option<&str>, source: Option<&str>, file: &str) -> Name {
        Name::new(Parts { linkage, source, file, ..Parts::default() }).unwrap()
    }

    #[test]
    fn exact_names_have_owner_and_arguments() {
        let mangled = "_RNvMs_NtCsl_5alloc7raw_vecINtB4_6RawVechE8grow_one";
        let name = of(Some(mangled), None, "");
        assert_eq!(name.full, "<alloc::raw_vec::RawVec<u8>>::grow_one");
        assert_eq!((&*name.module, &*name.base), ("alloc::raw_vec", "grow_one"));
        assert_eq!(
            (&*name.owner, &name.arguments[..]),
            ("alloc::raw_vec::RawVec<u8>", &["u8".to_owned()][..])
        );
    }

    #[test]
    fn legacy_names_take_their_arguments_from_the_source() {
        let mangled = "_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE";
        let name = of(Some(mangled), Some("push<my::Order, alloc::alloc::Global>"), "");
        assert_eq!(name.full, "alloc::vec::Vec<T,A>::push");
        assert_eq!((&*name.module, &*name.base), ("alloc::vec", "push"));
        assert_eq!(name.arguments, ["my::Order", "alloc::alloc::Global"]);
    }

    #[test]
    fn names_without_a_path_take_it_from_the_file() {
        let file = "/rustc/5980/library/alloc/src/vec/mod.rs";
        let name = of(None, Some("push<my::Order, alloc::alloc::Global>"), file);
        assert_eq!(name.full, "alloc::vec::push<my::Order>");
        assert_eq!((&*name.module, &*name.base), ("alloc::vec", "push"));
        let c = of(None, Some("qsort"), "qsort.c");
        assert_eq!((&*c.full, &*c.module), ("qsort", ""));
    }

    #[test]
    fn instances_are_told_from_functions_that_are_there_once() {
        let vec = "_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE";
        let own =
            "_ZN52_$LT$app..Order$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE";
        assert!(of(Some(vec), None, "").is_instance);
        assert!(of(Some(vec), Some("push<u8, alloc::alloc::Global>"), "").is_instance);
        assert!(
            of(Some("_RNvMs_NtCsl_5alloc7raw_vecINtB4_6RawVechE8grow_one"), None, "").is_instance
        );
        assert!(of(None, Some("{closure#0}<app::Order>"), "").is_instance);
        for name in
            [of(Some(own), None, ""), of(None, Some("main"), ""), of(Some("qsort"), None, "")]
        {
            assert!(!name.is_instance, "{name:?}");
        }
    }

    #[test]
    fn functions_have_modules_and_crates() {
        let cases = [
            ("app::orders::Book::insert", "app::orders", "app"),
            ("<app::orders::Book<u8> as core::clone::Clone>::clone", "app::orders", "app"),
            ("<&mut syn::parse::ParseBuffer as core::fmt::Debug>::fmt", "syn::parse", "syn"),
            ("app::run::{closure#0}", "app", "app"),
            ("app::main", "app", "app"),
            ("main", "main", "main"),
            ("", "", ""),
        ];
        for (function, module, krate) in cases {
            assert_eq!(
                (&*module_of(function), &*crate_of(function)),
                (module, krate),
                "{function}"
            );
        }
    }

    #[test]
    fn other_languages_are_readable() {
        assert_eq!(of(Some("_ZN3foo3barEi"), None, "").full, "foo::bar(int)");
        assert_eq!(of(Some("memcpy"), None, "").full, "memcpy");
    }
}
