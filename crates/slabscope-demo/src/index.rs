//! The index: what is declared where, and which words and calls are frequent.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::items::{Found, ItemKind};

/// Where a name is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which file, by its place in [`Index::files`].
    pub(crate) file: usize,
    /// On which line, from 1.
    pub(crate) line: usize,
    /// As what.
    pub(crate) kind: ItemKind,
}

/// What all files together declare and say.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The files that could be read, by name.
    pub(crate) files: Vec<PathBuf>,
    /// Files that are not Rust as `syn` knows it, such as tests of a compiler.
    pub(crate) unreadable: usize,
    /// Places by name.
    pub(crate) names: HashMap<String, Vec<Place>>,
    /// How often each word stands in a doc comment.
    pub(crate) words: HashMap<String, u64>,
    /// How often each function or method is called.
    pub(crate) calls: HashMap<String, u64>,
}

impl Index {
    /// Adds what `path` declares and says.
    pub(crate) fn add(&mut self, path: PathBuf, found: Found) {
        let file = self.files.len();
        self.files.push(path);
        for item in found.items {
            let place = Place { file, line: item.line, kind: item.kind };
            self.names.entry(item.name).or_default().push(place);
        }
        for word in found.words {
            *self.words.entry(word).or_default() += 1;
        }
        for call in found.calls {
            *self.calls.entry(call).or_default() += 1;
        }
    }

    /// How many declarations there are of each kind.
    pub(crate) fn kinds(&self) -> BTreeMap<ItemKind, usize> {
        let mut kinds = BTreeMap::new();
        for place in self.names.values().flatten() {
            *kinds.entry(place.kind).or_default() += 1;
        }
        kinds
    }

    /// Where `name` is first declared: in the file that comes first by name.
    pub(crate) fn first(&self, name: &str) -> Option<(&PathBuf, Place)> {
        let places = self.names.get(name)?;
        let named = places.iter().filter_map(|&place| Some((self.files.get(place.file)?, place)));
        named.min_by_key(|&(path, place)| (path, place.line))
    }

    /// How many names begin with `prefix`.
    pub(crate) fn starting_with(&self, prefix: &str) -> usize {
        self.names.keys().filter(|name| name.starts_with(prefix)).count()
    }
}

/// The `count` most frequent, ties in the order of the alphabet.
pub(crate) fn most_frequent(
    counts: impl IntoIterator<Item = (String, u64)>,
    count: usize,
) -> Vec<(String, u64)> {
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sorted.truncate(count);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items;

    #[test]
    fn the_order_of_files_does_not_matter() {
        let sources = [("b.rs", "fn new() { new() }"), ("a.rs", "\nfn new() {}\nfn news() {}")];
        for order in [[0, 1], [1, 0]] {
            let mut index = Index::default();
            for (path, source) in order.map(|which| sources[which]) {
                index.add(path.into(), items::parse(source).unwrap());
            }
            let (path, place) = index.first("new").unwrap();
            assert_eq!((path.to_str(), place.line), (Some("a.rs"), 2));
            assert_eq!(index.starting_with("new"), 2);
            assert_eq!(index.kinds(), [(ItemKind::Function, 3)].into());
            assert_eq!(most_frequent(index.calls, 5), [("new".to_owned(), 1)]);
        }
    }

    #[test]
    fn ties_are_broken_by_name() {
        let counts = [("b", 2), ("c", 3), ("a", 2)].map(|(name, n)| (name.to_owned(), n));
        let first: Vec<_> = most_frequent(counts, 2).into_iter().map(|(name, _)| name).collect();
        assert_eq!(first, ["c", "a"]);
    }
}
