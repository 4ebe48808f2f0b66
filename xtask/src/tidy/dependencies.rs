//! `docs/dependencies.md` gives a reason for each crate of others, and for no more.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Fault, Text};
use crate::workspace::Workspace;

const DOCUMENT: &str = "docs/dependencies.md";

/// Finds dependencies without a reason, and reasons without a dependency.
pub(super) fn check(workspace: &Workspace, documents: &[Text]) -> Vec<Fault> {
    let members = workspace.members();
    let ours: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let used: BTreeSet<&str> = members
        .iter()
        .flat_map(|member| &member.dependencies)
        .map(|dependency| dependency.name.as_str())
        .filter(|name| !ours.contains(name))
        .collect();
    let document = documents.iter().find(|document| document.path == Path::new(DOCUMENT));
    compare(&used, document.map_or("", |document| &document.content))
}

fn compare(used: &BTreeSet<&str>, document: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut explained = BTreeSet::new();
    for (index, line) in document.lines().enumerate() {
        // A row of the table: its first cell holds the crate's name in a code mark.
        let Some(name) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) else {
            continue;
        };
        explained.insert(name);
        if !used.contains(name) {
            let what = format!("explains {name}, which no crate depends on");
            faults.push(Fault::new(Path::new(DOCUMENT), index + 1, what));
        }
    }
    faults.extend(used.difference(&explained).map(|name| {
        Fault::new(Path::new(DOCUMENT), 0, format!("say why we depend on {name}: | `{name}` | ..."))
    }));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_and_dependencies_are_the_same() {
        let used = BTreeSet::from(["libc", "syn"]);
        let document = "| crate | why |\n|---|---|\n| `libc` | x |\n| `gone` | y |\n";
        let faults: Vec<_> = compare(&used, document).into_iter().map(|fault| fault.what).collect();
        assert_eq!(
            faults,
            ["explains gone, which no crate depends on", "say why we depend on syn: | `syn` | ..."]
        );
    }
}
