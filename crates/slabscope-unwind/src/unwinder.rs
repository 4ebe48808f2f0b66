//! The whole: modules, their rules, and walks by them.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use slabscope_os::file::Errno;
use slabscope_os::lock::Lock;

use crate::memo::Memo;
use crate::module::Module;
use crate::reach::Place;
use crate::rules::Rules;
use crate::scan::Scanner;
use crate::stack::{CallStack, Depth};
use crate::walk;

/// What a process knows of its modules. One, in a `static`: what it learns stays.
pub struct Unwinder {
    rules: Rules,
    /// Held during a scan. Nobody waits for it.
    scanner: Lock<Scanner>,
    left_out: AtomicU32,
}

impl core::fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Unwinder")
    }
}

impl Unwinder {
    /// One that knows of no module yet.
    #[expect(clippy::new_without_default, reason = "it is made for a static")]
    pub const fn new() -> Self {
        Unwinder {
            rules: Rules::new(),
            scanner: Lock::new(Scanner::new()),
            left_out: AtomicU32::new(0),
        }
    }

    /// Finds modules that were loaded or unloaded since the last call; whether there were any. A call
    /// while another is at work finds nothing. Takes no lock that anybody else holds, and some
    /// milliseconds for each new module.
    ///
    /// # Errors
    /// When the kernel does not let a process look at itself, or there is no memory.
    pub fn scan(&self, now_ns: u64) -> Result<bool, Errno> {
        match self.scanner.try_lock() {
            Some(mut scanner) => {
                let changed = scanner.scan(&self.rules, now_ns);
                // However it went: else who meets the address again would ask for a look each time.
                self.rules.settle_unknown();
                self.left_out.store(scanner.left_out(), Ordering::Relaxed);
                changed
            }
            None => Ok(false),
        }
    }

    /// Modules for which the last scan had no room: no memory, or too many of them. Stacks end in their code.
    pub fn left_out(&self) -> u32 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Whether an address came up that was in no module: time for a [`scan`](Unwinder::scan).
    #[inline]
    pub fn wants_scan(&self) -> bool {
        self.rules.has_unknown()
    }

    /// How often a module has taken the place of another. Equal stacks of different eras need not be
    /// the same.
    #[inline]
    pub fn era(&self) -> u32 {
        self.rules.era()
    }

    /// Hands out all modules that were ever found, but not during a scan.
    pub fn each_module(&self, visit: impl FnMut(&Module)) {
        if let Some(scanner) = self.scanner.try_lock() {
            scanner.modules().iter().for_each(visit);
        }
    }

    /// Hands out where the tables of all modules lie, and how many bytes they have. They begin at a
    /// kernel page, have whole ones to themselves, and stay as long as the process.
    pub fn each_table(&self, mut visit: impl FnMut(NonNull<u8>, usize)) {
        self.rules.each_table(|table| {
            if !table.0.is_empty() {
                visit(NonNull::from(table.0).cast(), size_of_val(table.0));
            }
        });
    }

    /// Walks from the caller of the function that stands at `place`, into an empty `stack`: `depth`
    /// frames at most. Takes no lock, allocates nothing, waits for nobody.
    #[inline]
    pub fn walk(&self, place: &Place, depth: Depth, stack: &mut CallStack) {
        walk::walk(&self.rules, place, depth, stack);
    }

    /// The hash that [`walk`](Unwinder::walk) would find, and its stack ends where the thread begins or is
    /// as deep as was asked for; `None` when that takes a walk. The memo is the calling thread's, which is
    /// not interrupted here by somebody who comes with the same. As `walk`, it waits for nobody.
    #[inline]
    pub fn hash(&self, place: &Place, depth: Depth, memo: &Memo) -> Option<u64> {
        memo.hash(&self.rules, place, depth)
    }

    /// For the only thread of a forked child: nobody is scanning.
    ///
    /// # Safety
    /// The calling thread is the only one, and not inside a call to this.
    pub unsafe fn reset_after_fork(&self) {
        // SAFETY: passed on to the caller.
        unsafe { self.scanner.reset() };
    }
}
