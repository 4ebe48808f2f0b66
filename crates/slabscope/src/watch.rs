//! Following the variable while the program runs.
//!
//! A program that was started with the variable keeps one sleeping thread, which looks at it from
//! time to time: `std::env::set_var` begins and ends traces.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::AtomicU32;
use core::time::Duration;

use slabscope_os::lock::Lock;
use slabscope_os::{futex, thread};
use slabscope_record::EndReason;

use crate::env::{Settings, Text};
use crate::session;
use crate::tls::{self, GONE};
use crate::trace;

/// How often the watcher looks.
const EVERY: Duration = Duration::from_millis(50);

/// The watcher's stack, in bytes: a few texts and paths, and a session as it is made. What it does not
/// touch costs nothing.
const STACK_LEN: usize = 256 * 1024;

/// The text that was acted on last. Touched before there is a watcher, and then by it alone.
static LAST: Lock<Option<Text>> = Lock::new(None);

/// Starts the watcher, who compares with `text`. Without memory for it nobody follows the variable.
pub(crate) fn begin(text: Text) {
    *LAST.lock() = Some(text);
    let Some(stack) = thread::stack_for_spawn(STACK_LEN) else { return };
    // SAFETY: the function takes nothing.
    if unsafe { thread::spawn(stack, STACK_LEN, watch, null_mut()) }.is_err() {
        // SAFETY: no thread was started on it.
        unsafe { thread::unmap_stack(stack, STACK_LEN) };
    }
}

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    thread::set_name(c"slabscope-watch");
    // It is none of the program's threads: it is not entered anywhere, and has no cache.
    tls::with(|thread| thread.set_state(GONE));
    loop {
        futex::wait(&AtomicU32::new(0), 0, EVERY);
        // Where the kernel does not let us look, nobody can follow.
        let Ok(text) = Text::read_guarded() else { return null_mut() };
        let mut last = LAST.lock();
        if last.as_ref().map(Text::as_str) != text.as_ref().map(Text::as_str) {
            follow(last.as_ref(), text.as_ref());
            *last = text;
        }
    }
}

/// Does what the change from one text to the next asks for.
fn follow(last: Option<&Text>, text: Option<&Text>) {
    let was_on = Settings::parse(last.map_or("", Text::as_str), |_, _| {}).trace;
    let settings = Settings::parse_aloud(text.map_or("", Text::as_str));
    // A change of the other keys needs a new trace.
    if was_on {
        session::stop(EndReason::Stopped);
    }
    if let Some(text) = text {
        trace::begin(&settings, text);
    }
}
