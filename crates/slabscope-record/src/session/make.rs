//! A session as it is made: its file, its memory, and that of its drainer.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use slabscope_os::file::{Errno, File};
use slabscope_os::lock::Lock;
use slabscope_os::{clock, thread};
use slabscope_wire::live::{header, state};

use super::{Config, SERIAL, STACK_LEN, Session, StartError};
use crate::clock::Anchor;
use crate::counts::Counts;
use crate::drain::Buffers;
use crate::live::{Live, Progress};
use crate::policy::Clock;
use crate::reading::PageClocks;
use crate::ring::{Protocol, Rings};
use crate::short_text::ShortText;
use crate::signal::Signal;
use crate::site::SiteTable;
use crate::thread_table::ThreadTable;
use crate::type_names::TypeNames;
use crate::{claim, modules, stacks};

impl Session {
    /// Makes one at `place`, which is nobody's. It is large, and the stack it is made on may be small.
    ///
    /// # Safety
    /// The place has room for it, is aligned, and nobody else's.
    pub(crate) unsafe fn make_at(
        place: NonNull<Session>,
        config: Config<'_>,
        signal: &'static Signal,
    ) -> Result<(), StartError> {
        let file = claim::claim(config.path).map_err(StartError::File)?;
        let looked = modules::look_first(config.unwinder, &config.policy);
        // SAFETY: passed on to the caller.
        let made = unsafe { Session::make_in_memory(place, config, signal, file, looked) };
        if made.is_none() {
            file.close();
        }
        made.ok_or(StartError::Memory)
    }

    /// `looked` is what came of the first look at the program's modules. That takes as much stack as this
    /// does, so it is not made from here.
    ///
    /// # Safety
    /// As for `make_at`.
    #[inline(never)]
    unsafe fn make_in_memory(
        place: NonNull<Session>,
        config: Config<'_>,
        signal: &'static Signal,
        file: File,
        looked: Result<(), Errno>,
    ) -> Option<()> {
        let ticks_are_nanos = config.policy.clock == Clock::Kernel || !clock::ticks_are_time();
        let begun = Anchor::now(ticks_are_nanos);
        let stack = thread::stack_for_spawn(STACK_LEN)?;
        signal.begin(config.policy.stall);
        let live = Live::new(file, Rings::count_needed(), config.policy.stacks > 0);
        let parts = live.as_ref().and_then(|live| {
            let rings =
                Rings::new(live.heads()?, live.words()?, config.policy.force_cas, !ticks_are_nanos);
            let threads = ThreadTable::new(live.threads()?, live.thread_count()?);
            let sites = SiteTable::new(live.sites()?);
            let (words, used) = live.type_names()?;
            let type_names = TypeNames::new(words, used)?;
            let stacks = stacks::begin(config.unwinder, &config.policy, looked, live)?;
            let (count, has_stacks) = (rings.count(), stacks.is_some());
            let buffers = Buffers::new(file, live, count, has_stacks, &config.policy)?;
            let tables = (threads, sites, stacks, type_names, PageClocks::new()?);
            Some((rings, tables, buffers, live.dropped()?))
        });
        let (live, (rings, tables, buffers, dropped)) = match (live, parts) {
            (Some(live), Some(parts)) => (live, parts),
            (live, _) => {
                if let Some(live) = live {
                    live.remove();
                }
                // SAFETY: no thread was started on it.
                unsafe { thread::unmap_stack(stack, STACK_LEN) };
                return None;
            }
        };
        let (threads, sites, stacks, type_names, pages) = tables;
        // The two lie so far apart that a tick's length can be told from them.
        let begun = [begun, Anchor::now(ticks_are_nanos)];
        live.set(header::HEAP_BASE, config.heap_base);
        live.set(header::PROTOCOL, u64::from(matches!(rings.protocol(), Protocol::Cas)));
        live.set(header::TICKS_ARE_NANOS, u64::from(ticks_are_nanos));
        let none = core::iter::empty();
        live.checkpoint(&Progress { clock: begun, ..Progress::default() }, none);
        live.set(header::STATE, state::LIVE);
        let session = Session {
            begun,
            live,
            rings,
            threads,
            sites,
            stacks,
            type_names,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            pages,
            buffers: Lock::new(Some(buffers)),
            signal,
            taken: Counts::new(),
            dropped,
            live_of_others: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            ending: AtomicU32::new(0),
            live_at_start: AtomicU64::new(0),
            file,
            heap_base: config.heap_base,
            policy: config.policy,
            options: ShortText::new(config.options),
            writer: ShortText::new(config.writer),
            stack,
            done: AtomicU32::new(0),
            written: AtomicU64::new(0),
            failure: AtomicU32::new(0),
            lost: [const { AtomicU64::new(0) }; 9],
        };
        // SAFETY: by the caller.
        unsafe { place.write(session) };
        Some(())
    }
}
