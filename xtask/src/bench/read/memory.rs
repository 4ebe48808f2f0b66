//! The most memory a program has in use while it runs.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// How often it is looked at. The kernel keeps the peak, so only what comes after the last look is
/// missed.
const PAUSE: Duration = Duration::from_millis(5);

/// The peak of a program's resident memory, in bytes.
pub(super) fn peak(command: &mut Command) -> Result<u64> {
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait()?.is_none() {
        peak = fs::read_to_string(&status).ok().and_then(|status| resident(&status)).or(peak);
        thread::sleep(PAUSE);
    }
    peak.context("the kernel does not tell how much memory a program has")
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_found_among_other_lines() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 12 kB\n";
        assert_eq!(resident(status), Some(2 << 20));
        assert!(peak(Command::new("sleep").arg("0.1")).unwrap() > 0);
    }
}
