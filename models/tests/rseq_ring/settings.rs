//! What is pushed in the machine, and onto what rings.

use crate::caller::{Op, Plan};
use crate::kernel::{CLOCK, Setting, Without};

const SHORT: Op = Op { is_long: false, floor: 0 };
const LONG: Op = Op { is_long: true, ..SHORT };
/// Later than the clock is when it is pushed.
const LATE: Op = Op { floor: CLOCK + 12, ..SHORT };

fn plan(ops: &[Op], signals: usize) -> Plan {
    Plan { ops: ops.to_vec(), signals }
}

/// Two threads with all kinds of events; rings that are soon full, and whose head goes round at 32 bits;
/// events that must wait for the clock.
pub(crate) fn settings(without: Without) -> Vec<Setting> {
    let around = u32::MAX - 1;
    let setting = |words, before, one: &[Op], other: &[Op], shared| Setting {
        words,
        before,
        plans: [plan(one, 1), plan(other, 0)],
        without,
        shared,
    };
    vec![
        setting(16, 0, &[SHORT, SHORT, LONG], &[SHORT, SHORT], 2),
        setting(8, around, &[SHORT; 7], &[LONG], 4),
        setting(16, 5, &[LATE, SHORT], &[LATE], 1),
    ]
}
