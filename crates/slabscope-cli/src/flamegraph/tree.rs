//! The tree that a flame graph shows, as data.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use slabscope_analysis::Profile;

use crate::args::Weight;
use crate::export::collapsed::frames;

/// A frame, with what was called from it: `name`, `value` and `children`, as most programs that draw such
/// trees have them.
#[derive(Debug, Serialize)]
pub(super) struct Tree {
    name: String,
    /// Of the frame and all within.
    value: u64,
    #[serde(serialize_with = "largest_first")]
    children: BTreeMap<String, Tree>,
}

impl Tree {
    /// All stacks that have some of this weight.
    pub(super) fn new(profile: &Profile, weight: Weight) -> Tree {
        let mut all = Tree::leaf("all".to_owned());
        for folded in profile.stacks() {
            all.add(frames(&folded), folded.weight(weight.into()));
        }
        all
    }

    fn leaf(name: String) -> Tree {
        Tree { name, value: 0, children: BTreeMap::new() }
    }

    fn add(&mut self, frames: Vec<String>, weight: u64) {
        if weight == 0 {
            return;
        }
        self.value = self.value.saturating_add(weight);
        let mut at = self;
        for frame in frames {
            at = at.children.entry(frame.clone()).or_insert_with(|| Tree::leaf(frame));
            at.value = at.value.saturating_add(weight);
        }
    }
}

fn largest_first<S: Serializer>(
    children: &BTreeMap<String, Tree>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut children: Vec<_> = children.values().collect();
    children.sort_by_key(|child| std::cmp::Reverse(child.value));
    serializer.collect_seq(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_stacks_share_are_one() {
        let mut tree = Tree::leaf("all".to_owned());
        let stack = |frames: &[&str]| frames.iter().map(|&frame| frame.to_owned()).collect();
        tree.add(stack(&["main", "small"]), 3);
        tree.add(stack(&["main", "large"]), 7);
        tree.add(stack(&["other"]), 0);
        let leaf = |name: &str, value: u64| serde_json::json!({ "name": name, "value": value, "children": [] });
        let main = serde_json::json!({
            "name": "main", "value": 10, "children": [leaf("large", 7), leaf("small", 3)],
        });
        let all = serde_json::json!({ "name": "all", "value": 10, "children": [main] });
        assert_eq!(serde_json::to_value(&tree).unwrap(), all);
    }
}
