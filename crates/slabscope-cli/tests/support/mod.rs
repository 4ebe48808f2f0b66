//! Running the program, for every test.

use assert_cmd::Command;

/// The program.
pub(crate) fn slabscope(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("slabscope").expect("it is built for the tests");
    command.args(args);
    command
}
