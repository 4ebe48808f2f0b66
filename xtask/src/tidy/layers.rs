//! The arrows between crates, as `docs/architecture.md` draws them.

use std::path::Path;

use cargo_metadata::{DependencyKind, Package};

use super::Fault;
use crate::workspace::Workspace;

/// A crate, and what it may be built on.
struct Layer {
    name: &'static str,
    /// Crates of ours.
    below: &'static [&'static str],
    /// Crates of others; `None` for any.
    others: Option<&'static [&'static str]>,
}

const LAYERS: [Layer; 15] = [
    Layer { name: "slabscope-os", below: &[], others: Some(&["libc", "zstd-sys"]) },
    Layer { name: "slabscope-wire", below: &[], others: Some(&[]) },
    Layer { name: "slabscope-heap", below: &["slabscope-os", "slabscope-wire"], others: Some(&[]) },
    Layer {
        name: "slabscope-unwind",
        below: &["slabscope-os", "slabscope-wire"],
        others: Some(&["gimli"]),
    },
    Layer {
        name: "slabscope-record",
        below: &["slabscope-os", "slabscope-wire", "slabscope-unwind"],
        others: Some(&[]),
    },
    Layer {
        name: "slabscope",
        below: &[
            "slabscope-os",
            "slabscope-wire",
            "slabscope-heap",
            "slabscope-unwind",
            "slabscope-record",
        ],
        others: Some(&["once_cell", "corosensei"]),
    },
    Layer { name: "slabscope-recover", below: &["slabscope-wire"], others: None },
    Layer { name: "slabscope-trace", below: &["slabscope-wire"], others: None },
    Layer { name: "slabscope-symbols", below: &[], others: None },
    Layer {
        name: "slabscope-analysis",
        below: &["slabscope-symbols", "slabscope-trace", "slabscope-wire"],
        others: None,
    },
    Layer {
        name: "slabscope-cli",
        below: &[
            "slabscope",
            "slabscope-analysis",
            "slabscope-recover",
            "slabscope-symbols",
            "slabscope-trace",
            "slabscope-wire",
        ],
        others: None,
    },
    Layer { name: "slabscope-demo", below: &["slabscope"], others: None },
    Layer { name: "slabscope-models", below: &[], others: Some(&[]) },
    Layer { name: "slabscope-benches", below: &["slabscope"], others: None },
    Layer { name: "xtask", below: &["slabscope-trace", "slabscope-wire"], others: None },
];

/// Finds arrows that are not drawn. What only tests need is free.
pub(super) fn check(workspace: &Workspace) -> Vec<Fault> {
    let members = workspace.members();
    let mut faults = Vec::new();
    for member in &members {
        let manifest = member.manifest_path.as_std_path();
        let manifest = manifest.strip_prefix(workspace.root()).unwrap_or(manifest);
        let built_on: Vec<&str> = built_on(member);
        faults.extend(check_one(&member.name, manifest, &built_on, |name| {
            members.iter().any(|member| member.name.as_str() == name)
        }));
    }
    for layer in &LAYERS {
        if !members.iter().any(|member| member.name.as_str() == layer.name) {
            let what = format!("no crate is called {}: take it out of the table", layer.name);
            faults.push(Fault::new(Path::new("xtask/src/tidy/layers.rs"), 0, what));
        }
    }
    faults
}

fn built_on(member: &Package) -> Vec<&str> {
    let dependencies = member.dependencies.iter();
    dependencies
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

fn check_one(
    name: &str,
    manifest: &Path,
    built_on: &[&str],
    is_ours: impl Fn(&str) -> bool,
) -> Vec<Fault> {
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        let what = format!("{name} is not in the table of layers in xtask/src/tidy/layers.rs");
        return vec![Fault::new(manifest, 0, what)];
    };
    let allowed = |dependency: &str| {
        if is_ours(dependency) {
            layer.below.contains(&dependency)
        } else {
            layer.others.is_none_or(|others| others.contains(&dependency))
        }
    };
    built_on
        .iter()
        .filter(|dependency| !allowed(dependency))
        .map(|dependency| Fault::new(manifest, 0, format!("{name} may not depend on {dependency}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, built_on: &[&str]) -> Vec<String> {
        check_one(name, Path::new("m"), built_on, |name| name.starts_with("slabscope"))
            .into_iter()
            .map(|fault| fault.what)
            .collect()
    }

    #[test]
    fn an_arrow_upwards_or_outwards_is_a_fault() {
        assert_eq!(faults("slabscope-heap", &["slabscope-os", "slabscope-wire"]), [""; 0]);
        assert_eq!(
            faults("slabscope-heap", &["slabscope-record", "libc"]),
            [
                "slabscope-heap may not depend on slabscope-record",
                "slabscope-heap may not depend on libc"
            ]
        );
        assert_eq!(faults("slabscope-cli", &["clap"]), [""; 0]);
        assert_eq!(faults("slabscope-new", &[]).len(), 1);
    }
}
