//! That no command lacks what all of them have: options, a manual page, completions, an example.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::Args;

/// What every command that reads a trace understands.
const OPTIONS: [&str; 3] = ["from", "json", "to"];

/// What a command does without, and why.
const EXCEPTIONS: [(&str, &[&str], &str); 4] = [
    ("symbolize", &["from", "to"], "only the events before a part tell what is live as it begins"),
    ("recover", &["from", "to"], "a trace is made whole, or not at all"),
    ("man", &["from", "json", "to"], "it reads no trace"),
    ("completions", &["from", "json", "to"], "it reads no trace"),
];

/// All of them; each test says how many it has seen.
const COMMANDS: usize = 18;

fn commands() -> Vec<Command> {
    let mut all = Args::command();
    all.build();
    all.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect()
}

#[test]
fn each_has_its_options_or_a_reason() {
    let commands = commands();
    for command in &commands {
        let has = |name: &&str| command.get_arguments().any(|arg| arg.get_long() == Some(*name));
        let lacks: Vec<&str> = OPTIONS.into_iter().filter(|name| !has(name)).collect();
        let known = EXCEPTIONS.iter().find(|exception| exception.0 == command.get_name());
        let (may_lack, reason) = known.map_or((&[][..], ""), |known| (known.1, known.2));
        assert_eq!(lacks, may_lack, "{}: {reason}", command.get_name());
    }
    assert_eq!(commands.len(), COMMANDS);
}

#[test]
fn each_has_a_manual_page_with_its_options_and_an_example() {
    let mut pages = 0;
    for command in commands() {
        let name = command.get_name().to_owned();
        let options: Vec<_> =
            command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned).collect();
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap().replace("\\-", "-");
        assert!(page.contains(".TH") && page.contains(&format!("slabscope {name}")), "{name}");
        for option in options {
            assert!(page.contains(&format!("--{option}")), "{name}: {option}");
        }
        pages += 1;
    }
    assert_eq!(pages, COMMANDS);
}

#[test]
fn each_is_completed_in_every_shell() {
    let shells = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];
    for shell in shells {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Args::command(), "slabscope", &mut script);
        let script = String::from_utf8(script).unwrap();
        let of = |command: &Command| command.get_name().to_owned();
        let missing: Vec<_> =
            commands().iter().map(of).filter(|name| !script.contains(name.as_str())).collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
        assert!(script.contains("debug-dir") && script.contains("within"), "{shell}");
    }
}

#[test]
fn each_has_a_section_with_an_example_in_the_documentation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let text = std::fs::read_to_string(path).unwrap();
    let sections: Vec<(&str, &str)> =
        text.split("\n## ").skip(1).filter_map(|section| section.split_once('\n')).collect();
    let mut found = 0;
    for command in commands() {
        let name = command.get_name();
        let of = |section: &&(&str, &str)| section.0.split([' ', ',']).any(|word| word == name);
        let (_, section) = sections.iter().find(of).unwrap_or_else(|| panic!("no {name}"));
        let examples = section.split("```").skip(1).step_by(2).flat_map(str::lines);
        let example = format!("slabscope {name} ");
        let count = examples.filter(|line| line.contains(&example)).count();
        assert!(count > 0, "{name} has no example");
        found += 1;
    }
    assert_eq!(found, COMMANDS);
}
