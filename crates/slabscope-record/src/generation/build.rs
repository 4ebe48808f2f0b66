//! How the trace is made, as rows of keys and values.

use slabscope_os::file::{Errno, read_link, read_whole};
use slabscope_os::process;
use slabscope_os::say::Decimal;
use slabscope_wire::alloc_free::data;

use super::Generation;
use crate::ring::Protocol;
use crate::session::Session;

/// How frames are found, behind their number.
const STACKS_BY: &str =
    " frames at most; by frame pointer or by unwind table, as each frame has it";

impl Generation<'_> {
    /// Writes them.
    pub(super) fn write_build(&mut self) {
        let session = self.session;
        let (mut exe, mut command) = ([0; 4096], [0; 4096]);
        let exe_len = read_link(c"/proc/self/exe", &mut exe).unwrap_or(0);
        let command_len = read_whole(c"/proc/self/cmdline", &mut command).unwrap_or(0);
        for byte in &mut command {
            if *byte == 0 {
                *byte = b' ';
            }
        }
        let command = command.get(..command_len).unwrap_or_default().trim_ascii_end();
        let pid = Decimal::new(process::id());
        let rings = Decimal::new(session.rings().count() as u64 - 1);
        let control = Decimal::new(self.control);
        let survives = match session.live().refusal() {
            None => "yes",
            Some(Errno(0)) => "no: not beside such a file",
            Some(why) => why.text(),
        };
        let rows: [(&str, &[u8]); 10] = [
            ("writer", session.writer()),
            ("executable", exe.get(..exe_len).unwrap_or_default()),
            ("command", command),
            ("pid", pid.as_str().as_bytes()),
            ("options", session.options()),
            ("rings", protocol_name(session).as_bytes()),
            ("cpus", rings.as_str().as_bytes()),
            ("clock", if session.rings().ticks_are_time() { b"tsc" } else { b"monotonic" }),
            ("survives a kill", survives.as_bytes()),
            ("control thread", control.as_str().as_bytes()),
        ];
        let mut batch = self.data(data::BUILD);
        for (key, value) in rows {
            batch.record(|b| b.text(key.as_bytes()) && b.text(value));
        }
        if session.policy().stacks > 0 {
            let depth = session.stacks().map_or(0, |stacks| stacks.depth());
            let depth = Decimal::new(depth as u64);
            let value = [depth.as_str(), STACKS_BY];
            let len: usize = value.iter().map(|part| part.len()).sum();
            batch.record(|b| {
                b.text(b"stacks")
                    && b.varint(len as u64)
                    && value.iter().all(|part| b.bytes(part.as_bytes()))
            });
        }
        batch.close();
    }
}

impl Generation<'_> {
    /// Writes how many events do without what there was no room for, if any.
    pub(super) fn write_without(&mut self) {
        let session = self.session;
        let stacks = session.stacks().map_or(0, |stacks| stacks.without());
        let mut batch = self.data(data::BUILD);
        let left_out = session.stacks().map_or(0, |stacks| stacks.unwinder().left_out());
        for (key, without) in [
            ("without a stack", stacks),
            ("without their type", session.type_names().without()),
            ("modules without an unwind table", left_out.into()),
        ] {
            if without > 0 {
                let without = Decimal::new(without);
                batch.record(|b| b.text(key.as_bytes()) && b.text(without.as_str().as_bytes()));
            }
        }
        batch.close();
    }
}

fn protocol_name(session: &Session) -> &'static str {
    match (session.rings().protocol(), session.policy().force_cas) {
        (Protocol::Rseq(_), _) => "rseq",
        (Protocol::Cas, true) => "cas (forced)",
        (Protocol::Cas, false) => "cas",
    }
}
