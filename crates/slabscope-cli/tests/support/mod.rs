//! Running the program, for every test.

use assert_cmd::Command;

/// The program.
pub(crate) fn slabscope(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("slabscope").expect("it is built for the tests");
    // Names that another run found would make tests depend on each other, and on the user.
    command.args(args).env("XDG_CACHE_HOME", "/dev/null");
    command
}
