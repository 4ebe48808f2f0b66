//! Where a file's debug information lies when it is not in the file itself.

use std::fs;
use std::path::{Path, PathBuf};

use object::Object;

use crate::module::BuildId;

/// Where distributions put it.
const SYSTEM: &str = "/usr/lib/debug";

/// Files that may have the debug information of the module at `path`, best first.
///
/// `directories` are those the user named.
pub(crate) fn candidates(
    path: &Path,
    file: &object::File<'_>,
    build_id: &BuildId,
    directories: &[PathBuf],
) -> Vec<PathBuf> {
    let mut found = by_build_id(build_id, directories);
    if let Ok(Some((link, _))) = file.gnu_debuglink()
        && let Some(link) = plain_name(link)
    {
        let own = path.parent().unwrap_or(Path::new("/"));
        found.extend(directories.iter().map(|directory| directory.join(link)));
        found.push(own.join(".debug").join(link));
        let relative = own.strip_prefix("/").unwrap_or(own);
        found.push(Path::new(SYSTEM).join(relative).join(link));
        // It may be the file itself, by another way.
        if path.file_name() != Some(link.as_ref()) {
            found.push(own.join(link));
        }
    }
    found
}

/// Files that are named after this build.
pub(crate) fn by_build_id(build_id: &BuildId, directories: &[PathBuf]) -> Vec<PathBuf> {
    let id = build_id.to_string();
    let Some((first, rest)) = id.split_at_checked(2).filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let name = Path::new(".build-id").join(first).join(format!("{rest}.debug"));
    let all = directories.iter().map(PathBuf::as_path).chain([Path::new(SYSTEM)]);
    all.map(|directory| directory.join(&name)).collect()
}

/// A name without a way out of its directory: the file it stands in may be hostile.
fn plain_name(link: &[u8]) -> Option<&str> {
    let link = std::str::from_utf8(link).ok()?;
    let is_plain = !link.is_empty() && !link.contains('/') && link != ".." && link != ".";
    is_plain.then_some(link)
}

/// The file with this build id in a directory the user named, whatever it is called there.
pub(crate) fn with_name(path: &Path, directories: &[PathBuf]) -> Vec<PathBuf> {
    let Some(name) = path.file_name() else { return Vec::new() };
    let mut found: Vec<_> = directories.iter().map(|directory| directory.join(name)).collect();
    found.retain(|path| fs::metadata(path).is_ok_and(|metadata| metadata.is_file()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_and_links_lead_to_files() {
        let id = BuildId(vec![0xab, 0xcd, 0xef]);
        let found = by_build_id(&id, &["/x".into()]);
        let expected = ["/x/.build-id/ab/cdef.debug", "/usr/lib/debug/.build-id/ab/cdef.debug"];
        assert_eq!(found, expected.map(PathBuf::from));
        assert!(by_build_id(&BuildId::default(), &[]).is_empty());
        assert_eq!(plain_name(b"app.debug"), Some("app.debug"));
        assert_eq!((plain_name(b"../../etc/passwd"), plain_name(b"..")), (None, None));
    }
}
