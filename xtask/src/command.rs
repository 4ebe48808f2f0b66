//! Running other programs: said on stderr, and an error when they fail.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs `command` to its end; its output goes where ours goes.
///
/// # Errors
/// When it cannot be started or fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start: {line}"))?;
    if !status.success() {
        bail!("{status}: {line}");
    }
    Ok(())
}

/// Runs `command` to its end and returns what it wrote to stdout.
///
/// # Errors
/// When it cannot be started or fails.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let line = line(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start: {line}"))?;
    if !output.status.success() {
        bail!("{}: {line}", output.status);
    }
    Ok(output.stdout)
}

/// The command as one would type it, long lists of arguments cut.
pub(crate) fn line(command: &Command) -> String {
    const SHOWN: usize = 12;
    let program = command.get_program().to_string_lossy();
    let mut line = program.rsplit('/').next().unwrap_or_default().to_owned();
    for argument in command.get_args().take(SHOWN) {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    if command.get_args().count() > SHOWN {
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let error = run(Command::new("/bin/sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(format!("{error}"), "exit status: 3: sh -c exit 3");
        assert!(output(&mut Command::new("/does/not/exist")).is_err());
        assert_eq!(output(Command::new("/bin/echo").arg("here")).unwrap(), b"here\n");
    }
}
