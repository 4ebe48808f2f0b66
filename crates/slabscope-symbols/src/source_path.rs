//! From the path of a source file to the module of Rust that it is.
//!
//! With line tables only, debug information has functions without their paths, but with their files.

/// The module, such as `alloc::raw_vec` or `my_crate::orders`; `None` for a file that does not look
/// like one of a crate.
pub(crate) fn module(file: &str) -> Option<String> {
    let file = file.strip_suffix(".rs")?;
    let (before, inside) = split_at_src(file)?;
    let directory = before.rsplit(['/', '\\']).next().unwrap_or(before);
    let mut module = crate_name(before, directory);
    for part in inside.split(['/', '\\']) {
        if !matches!(part, "lib" | "main" | "mod" | "bin") {
            module.push_str("::");
            module.push_str(part);
        }
    }
    Some(module)
}

/// Parts before and behind the directory where a crate's sources lie.
fn split_at_src(file: &str) -> Option<(&str, &str)> {
    let places = ["/src/", "/tests/", "/examples/", "/benches/"];
    let found = places.iter().filter_map(|place| Some((file.rfind(place)?, place.len())));
    let (at, len) = found.max()?;
    Some((&file[..at], &file[at + len..]))
}

/// The crate in this directory. Those that were downloaded have their version in its name.
fn crate_name(path: &str, directory: &str) -> String {
    let is_versioned = path.contains("/registry/src/") || path.starts_with("/rust/deps/");
    let name = match directory.rsplit_once('-') {
        Some((name, version))
            if is_versioned && version.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            name
        }
        _ => directory,
    };
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_std_crates_and_projects_have_modules() {
        let cases = [
            ("/rustc/59807616e1fa/library/alloc/src/raw_vec/mod.rs", "alloc::raw_vec"),
            ("/rust/deps/hashbrown-0.16.1/src/raw/mod.rs", "hashbrown::raw"),
            (
                "/root/.cargo/registry/src/index.crates.io-1949/tokio-util-0.7.1/src/a/b.rs",
                "tokio_util::a::b",
            ),
            ("/home/me/app/src/main.rs", "app"),
            ("crates/slabscope-demo/src/items.rs", "slabscope_demo::items"),
            ("/home/me/app/src/bin/tool.rs", "app::tool"),
            ("/home/me/app/examples/words.rs", "app::words"),
        ];
        for (file, expected) in cases {
            assert_eq!(module(file).as_deref(), Some(expected), "{file}");
        }
        assert_eq!((module("malloc.c"), module("lib.rs")), (None, None));
    }
}
