//! What the tests of the allocator share: programs in processes of their own, and a replay of their
//! traces that is as simple as can be, so that it can be believed.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod asked;
pub(crate) mod built;
pub(crate) mod counting;
pub(crate) mod handing;
pub(crate) mod killed;
pub(crate) mod own_stack;
pub(crate) mod pester;
pub(crate) mod published;
pub(crate) mod workers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use slabscope_trace::alloc_free::{AllocFree, Closing, GenerationData, ModuleEntry, StackFrame};
use slabscope_trace::{Kind, Reader};
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::size_class::SizeClass;

/// Where traces go: a directory that the caller may name to keep them.
pub(crate) struct Traces {
    kept: Option<PathBuf>,
    temporary: Option<tempfile::TempDir>,
}

impl Traces {
    pub(crate) fn new() -> Self {
        let kept = std::env::var_os("SLABSCOPE_TEST_TRACES").map(PathBuf::from);
        if let Some(kept) = &kept {
            std::fs::create_dir_all(kept).expect("a directory for traces");
        }
        let temporary = kept.is_none().then(|| tempfile::tempdir().expect("a directory"));
        Traces { kept, temporary }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let directory = self.kept.as_deref().or(self.temporary.as_ref().map(|t| t.path()));
        directory.expect("one of the two").join(name)
    }
}

/// A command that runs the test `name` of this very program alone, in a process of its own, with the
/// variable as given.
pub(crate) fn child(name: &str, variable: Option<&str>) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    match variable {
        Some(variable) => command.env("SLABSCOPE", variable),
        None => command.env_remove("SLABSCOPE"),
    };
    command
}

/// Runs it, and shows what it said if it failed.
pub(crate) fn succeed(command: &mut Command) -> std::process::Output {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{:?}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Names of what lies in a directory, in order.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Waits for a child of this process, and not for ever; its status.
pub(crate) fn wait(pid: i32) -> i32 {
    let begun = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: the status is ours to write.
        if unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == pid {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the child hangs");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What a trace comes to.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// Objects live at the end: address, and site.
    pub(crate) objects: BTreeMap<u64, u64>,
    /// Spans at the end: first page, with pages and kind.
    pub(crate) spans: BTreeMap<u64, (u64, u64)>,
    /// Stacks at the end: address, and order.
    pub(crate) stacks: BTreeMap<u64, u64>,
    /// Events by kind, from Span on.
    pub(crate) counts: [u64; 9],
    pub(crate) generations: u64,
    pub(crate) build: BTreeMap<String, String>,
    /// Requested size and alignment by site, of all generations.
    pub(crate) sites: BTreeMap<u64, (u64, u64)>,
    /// Allocations by site.
    pub(crate) allocs: BTreeMap<u64, u64>,
    /// Declared types by site.
    pub(crate) declared: BTreeMap<u64, String>,
    /// Call stacks by site, the innermost frame first.
    pub(crate) stacks_of: BTreeMap<u64, Vec<StackFrame>>,
    pub(crate) modules: BTreeMap<u64, ModuleEntry>,
    pub(crate) threads: BTreeMap<u64, String>,
    pub(crate) closing: Option<Closing>,
    pub(crate) metrics: u64,
    base: u64,
}

impl Replayed {
    /// Events of the experiment, all kinds.
    pub(crate) fn events(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Why the trace ended.
    pub(crate) fn reason(&self) -> Option<EndReason> {
        self.closing.as_ref().and_then(|closing| closing.reason)
    }

    /// Events that the closing counts say happened, and are not in the file.
    pub(crate) fn lost(&self) -> u64 {
        self.closing.as_ref().expect("closing counts").kinds.iter().map(|kind| kind.2).sum()
    }
}

/// Reads a trace to its end. Fails the test at the first event that cannot be: a free of what is not
/// there, an alloc where something is, a span over another; and when counts disagree.
pub(crate) fn replay(path: &Path) -> Replayed {
    let read = || {
        let bytes =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        replay_bytes(path, &bytes)
    };
    std::panic::catch_unwind(read).unwrap_or_else(|cause| {
        keep(path, std::panic::catch_unwind(read).is_ok());
        std::panic::resume_unwind(cause)
    })
}

/// Keeps a trace that cannot be for whoever wants to know why, and says whether it is the trace, or what
/// this process, whose allocator it is too, made of it.
fn keep(path: &Path, is_right_now: bool) {
    let name = path.file_name().expect("a file's name");
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let copied = std::fs::copy(path, &kept);
    eprintln!("read again it is right: {is_right_now}; kept as {}: {copied:?}", kept.display());
}

/// As [`replay`], for a trace that was made of the file at `path`.
pub(crate) fn replay_bytes(path: &Path, bytes: &[u8]) -> Replayed {
    let mut replayed = Replayed::default();
    let reader = Reader::new(bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for event in reader {
        let event = event.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        match &event.kind {
            Kind::Sync(sync) => replayed.take_side_data(sync),
            Kind::Experimental(experimental) => {
                let event = AllocFree::from_event(experimental).expect("an event of ours");
                replayed.counts[usize::from(experimental.id) - 128] += 1;
                if let Err(what) = replayed.take(event) {
                    panic!("{}: {event:?}: {what}", path.display());
                }
            }
            Kind::Metric { .. } => replayed.metrics += 1,
            _ => {}
        }
    }
    replayed.compare_counts();
    replayed
}

impl Replayed {
    fn take_side_data(&mut self, sync: &slabscope_trace::Sync) {
        // The one at the end begins no generation.
        if sync.clock.is_none() {
            return;
        }
        let data = GenerationData::parse(&sync.experimental);
        assert_eq!(data.problems, []);
        self.generations += 1;
        // Only a generation that a failure to write cut at its beginning lacks these.
        if data.closing.as_ref().is_none_or(|c| c.reason != Some(EndReason::WriteFailed)) {
            assert!(data.info.is_some());
            assert_eq!(data.size_classes.len(), 67);
        }
        if let Some(info) = data.info {
            self.base = info.min_heap_address;
        }
        self.take_stacks(&data);
        self.take_declared(&data);
        self.build.extend(data.build);
        self.modules.extend(data.modules.into_iter().map(|module| (module.id, module)));
        self.sites.extend(data.sites.iter().map(|site| (site.id, (site.size, site.align))));
        self.threads.extend(data.threads.into_iter().map(|thread| (thread.id, thread.name)));
        if data.closing.is_some() {
            assert!(self.closing.is_none(), "closing counts stand once");
            self.closing = data.closing;
        }
    }

    /// Each frame's parent stands before it, and each site's innermost frame is there.
    fn take_stacks(&mut self, data: &GenerationData) {
        let mut frames: BTreeMap<u64, StackFrame> = BTreeMap::new();
        for frame in &data.frames {
            assert!(frame.parent == 0 || frames.contains_key(&frame.parent), "{frame:?}");
            frames.insert(frame.id, *frame);
        }
        for site in data.sites.iter().filter(|site| site.stack != 0) {
            let (mut stack, mut number) = (Vec::new(), site.stack);
            while number != 0 {
                let frame = frames.get(&number).expect("a frame of this generation");
                stack.push(*frame);
                number = frame.parent;
            }
            self.stacks_of.insert(site.id, stack);
        }
    }

    /// Each site with a declared type is there, and the type's name. A name stands once in a generation,
    /// but for the end of a killed program: it has the rows of its own events, there before or not.
    fn take_declared(&mut self, data: &GenerationData) {
        let is_finished_later =
            data.closing.as_ref().is_some_and(|closing| closing.reason == Some(EndReason::Killed));
        let mut names = BTreeMap::new();
        for (number, name) in &data.type_names {
            if let Some(before) = names.insert(number, name) {
                assert!(is_finished_later && before == name, "{number}: {before}, then {name}");
            }
        }
        for (site, name) in &data.typed_sites {
            assert!(data.sites.iter().any(|known| known.id == *site), "site {site}");
            let name = names.get(name).expect("a name of this generation");
            self.declared.insert(*site, (*name).clone());
        }
    }

    fn take(&mut self, event: AllocFree) -> Result<(), &'static str> {
        match event {
            AllocFree::Span { id, pages, kindclass }
            | AllocFree::SpanAlloc { id, pages, kindclass } => {
                let below = self.spans.range(..id + pages).next_back();
                if below.is_some_and(|(&first, span)| first + span.0 > id) {
                    return Err("a span lies over another");
                }
                self.spans.insert(id, (pages, kindclass));
            }
            AllocFree::SpanFree { id } => {
                let (pages, _) = self.spans.remove(&id).ok_or("no such span")?;
                let bytes = self.base + id * 8192..self.base + (id + pages) * 8192;
                if self.objects.range(bytes).next().is_some() {
                    return Err("objects are left in the span");
                }
            }
            AllocFree::HeapObject { id, ty } | AllocFree::HeapObjectAlloc { id, ty } => {
                let address = self.base + id * 8;
                *self.allocs.entry(ty).or_default() += 1;
                self.check_place(id * 8)?;
                if self.objects.insert(address, ty).is_some() {
                    return Err("the object is there already");
                }
            }
            AllocFree::HeapObjectFree { id } => {
                self.objects.remove(&(self.base + id * 8)).ok_or("no such object")?;
            }
            AllocFree::Stack { id, order } | AllocFree::StackAlloc { id, order } => {
                let address = self.base.wrapping_add(id.wrapping_mul(2048));
                if self.stacks.insert(address, order).is_some() {
                    return Err("the stack is there already");
                }
            }
            AllocFree::StackFree { id } => {
                let address = self.base.wrapping_add(id.wrapping_mul(2048));
                self.stacks.remove(&address).ok_or("no such stack")?;
            }
        }
        Ok(())
    }

    /// An object lies in a span for objects, at one of its slots.
    fn check_place(&self, offset: u64) -> Result<(), &'static str> {
        let span = self.spans.range(..=offset / 8192).next_back();
        let (first, (pages, kindclass)) = span.ok_or("no span is there")?;
        let in_span = offset - first * 8192;
        if in_span >= pages * 8192 {
            return Err("no span is there");
        }
        if kindclass & 1 == 1 {
            return Err("the span is not for objects");
        }
        let class = SizeClass::new((kindclass >> 2) as u8).ok_or("no such class")?;
        match class.slot_size() as u64 {
            0 if in_span == 0 => Ok(()),
            slot if slot > 0 && in_span.is_multiple_of(slot) => Ok(()),
            _ => Err("no slot begins there"),
        }
    }

    fn compare_counts(&self) {
        assert!(self.base != 0 || self.events() == 0, "nobody says where the heap lies");
        let closing = self.closing.as_ref().expect("closing counts");
        for (index, &(id, happened, lost)) in closing.kinds.iter().enumerate() {
            assert_eq!(id, index as u64 + 128);
            assert_eq!(happened - lost, self.counts[index], "events {id}");
        }
        for (address, site) in &self.objects {
            assert!(*site == 0 || self.sites.contains_key(site), "the site of {address:#x}");
        }
    }
}
