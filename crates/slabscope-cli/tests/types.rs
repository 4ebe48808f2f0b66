//! Types that reports name, held against those that a program is known to have allocated.
//!
//! The program is this one: it runs one of its own tests with the trace on, in a process of its own.

mod support;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::future::Future;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use slabscope_analysis::{Profile, ProfileOptions, TypeCertainty, TypesView, profile};
use slabscope_trace::Open;
use support::slabscope;
use tempfile::TempDir;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    parts: [u64; 5],
}

#[expect(dead_code, reason = "it is there for its size")]
struct Session {
    parts: [u64; 9],
}

trait Job {
    fn run(&self) -> u64;
}

struct Print {
    parts: [u64; 3],
}

impl Job for Print {
    fn run(&self) -> u64 {
        self.parts[0]
    }
}

/// A function that allocates, and what is true of it.
struct Case {
    function: &'static str,
    make: fn(),
    times: u64,
    /// Allocations in a call.
    each: u64,
    owner: &'static str,
}

/// Makes the functions, which stand in stacks by their names, and the table of them: how often each is
/// called, how many allocations a call makes, what owns their memory, and the value.
macro_rules! cases {
    ($($function:ident: $times:literal x $each:literal $owner:literal = $value:expr;)*) => {
        $(
            #[inline(never)]
            fn $function() {
                drop(black_box($value));
            }
        )*
        const CASES: &[Case] = &[
            $(Case {
                function: stringify!($function),
                make: $function,
                times: $times,
                each: $each,
                owner: $owner,
            },)*
        ];
    };
}

cases! {
    orders: 211 x 1 "Vec<types::Order>" = Vec::<Order>::with_capacity(black_box(7));
    // Room for 4, for 8 and for 16.
    pushed_orders: 37 x 3 "Vec<types::Order>" = fill(9, Vec::new(), Vec::push);
    collected_numbers: 223 x 1 "Vec<u32>" = (0..black_box(9_u32)).collect::<Vec<u32>>();
    cloned_orders: 41 x 1 "Vec<types::Order>" = black_box(&[Order::default(); 3]).to_vec();
    slices: 227 x 1 "Box<[types::Order]>" = Box::<[Order]>::from([Order::default(); 3].as_slice());
    texts: 229 x 1 "String" = black_box("a text of some length").to_owned();
    formatted_texts: 43 x 1 "String" = format!("{}", black_box("a text of some length"));
    boxed_texts: 233 x 1 "Box<str>" = Box::<str>::from(black_box("a text"));
    shared_texts: 239 x 1 "Arc<str>" = Arc::<str>::from(black_box("a text"));
    os_texts: 313 x 1 "OsString" = OsStr::new(black_box("a text")).to_os_string();
    paths: 241 x 1 "PathBuf" = Path::new(black_box("/a/path")).to_path_buf();
    boxes: 251 x 1 "Box<types::Order>" = Box::new(black_box(Order::default()));
    jobs: 257 x 1 "Box<types::Print>" = job();
    sessions: 263 x 1 "Arc<types::Session>" = Arc::new(black_box(Session { parts: [0; 9] }));
    counted: 269 x 1 "Rc<RefCell<types::Session>>" = Rc::new(RefCell::new(Session { parts: [0; 9] }));
    maps: 271 x 1 "HashMap<u64, types::Order>" = HashMap::<u64, Order>::with_capacity(black_box(9));
    // Tables of 4, 8 and 16 places, of which so many are for 3, 7 and 14.
    filled_maps: 47 x 3 "HashMap<u32, types::Session>" =
        (0..black_box(9_u32)).fold(HashMap::new(), |mut map, key| {
            map.insert(key, Session { parts: [0; 9] });
            map
        });
    sets: 277 x 1 "HashSet<types::Key>" = HashSet::<Key>::from([Key(black_box(1))]);
    ordered_maps: 281 x 1 "BTreeMap<u16, types::Order>" =
        BTreeMap::from([(black_box(1_u16), Order::default())]);
    // A node has room for 11: two nodes, and the one above them.
    high_ordered_maps: 53 x 3 "BTreeMap<u32, types::Order>" =
        (0..black_box(12_u32)).fold(BTreeMap::new(), |mut map, key| {
            map.insert(key, Order::default());
            map
        });
    ordered_sets: 283 x 1 "BTreeSet<types::Order>" = fill(1, BTreeSet::new(), |set, order| {
        set.insert(order);
    });
    queues: 293 x 1 "VecDeque<types::Order>" = VecDeque::<Order>::with_capacity(black_box(5));
    filled_queues: 59 x 2 "VecDeque<types::Order>" = fill(5, VecDeque::new(), VecDeque::push_back);
    heaps: 307 x 1 "BinaryHeap<types::Order>" = fill(3, BinaryHeap::new(), BinaryHeap::push);
    lists: 61 x 3 "LinkedList<types::Order>" = fill(3, LinkedList::new(), LinkedList::push_back);
    futures: 311 x 1 "Box<{async block in types::future}>" = future();
}

#[derive(PartialEq, Eq, Hash)]
struct Key(u64);

/// The collection with so many orders put into it.
#[inline(always)]
fn fill<C>(count: u64, mut collection: C, put: impl Fn(&mut C, Order)) -> C {
    for number in 0..black_box(count) {
        put(&mut collection, Order { parts: [number; 5] });
    }
    collection
}

/// Known to its holder only by what it can do.
#[inline(always)]
fn job() -> Box<dyn Job> {
    let job: Box<dyn Job> = Box::new(Print { parts: black_box([1; 3]) });
    assert_eq!(job.run(), 1);
    job
}

#[inline(always)]
fn future() -> Pin<Box<dyn Future<Output = u64>>> {
    let order = black_box(Order::default());
    Box::pin(async move { order.parts.iter().sum() })
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn allocates() {
    for case in CASES {
        (0..case.times).for_each(|_| (case.make)());
    }
}

/// Traces [`allocates`] of the program at `program`, and returns the trace.
fn trace(program: &Path, directory: &Path) -> PathBuf {
    let path = directory.join("types.trace");
    let variable = format!("traceallocfree=1,stacks=32,out={}", path.display());
    let output = Command::new(program)
        .args(["--exact", "allocates", "--ignored", "--test-threads=1"])
        .env("SLABSCOPE", variable)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    path
}

fn read(trace: &Path) -> Profile {
    let bytes = fs::read(trace).unwrap();
    profile(Open::bytes(&bytes).unwrap(), &ProfileOptions::default(), &mut |_| {}).unwrap()
}

/// How many objects of each type a function allocated, with how sure that is.
type Owners = BTreeMap<String, (u64, Option<TypeCertainty>)>;

/// By function of [`CASES`].
fn found(profile: &Profile) -> BTreeMap<&'static str, Owners> {
    let mut found = BTreeMap::<_, Owners>::new();
    for site in profile.sites().sites {
        let is_in = |case: &&Case| {
            let name = format!("types::{}", case.function);
            site.label.stack.iter().any(|frame| *frame.function == *name)
        };
        let Some(case) = CASES.iter().find(is_in) else { continue };
        let owner = site.label.type_name.as_deref().unwrap_or("unknown").to_owned();
        let (objects, certainty) =
            found.entry(case.function).or_default().entry(owner).or_default();
        *objects += site.figures.allocated.objects;
        *certainty = site.label.type_certainty;
    }
    found
}

#[test]
fn every_allocation_has_its_true_type() {
    let directory = TempDir::new().unwrap();
    let trace = trace(&std::env::current_exe().unwrap(), directory.path());
    let profile = read(&trace);
    let found = found(&profile);
    let mut wrong = Vec::new();
    for case in CASES {
        let expected = (case.owner, case.times * case.each);
        let owners: Vec<_> = found.get(case.function).into_iter().flatten().collect();
        let is_right = matches!(owners[..], [(owner, &(objects, certainty))]
            if (&**owner, objects) == expected && certainty >= Some(TypeCertainty::Likely));
        if !is_right {
            wrong.push(format!("{}: expected {expected:?}, found {owners:?}", case.function));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_view_of_types_sums_them_up() {
    let directory = TempDir::new().unwrap();
    let trace = trace(&std::env::current_exe().unwrap(), directory.path());
    let types = read(&trace).types();
    let mut expected = BTreeMap::<&str, u64>::new();
    for case in CASES {
        *expected.entry(case.owner).or_default() += case.times * case.each;
    }
    for (owner, objects) in expected {
        let row = types.types.iter().find(|row| row.name.as_deref() == Some(owner));
        let allocated = row.map_or(0, |row| row.allocated.objects);
        // What runs the test allocates too, but nothing of our types.
        let is_right =
            if owner.contains("types::") { allocated == objects } else { allocated >= objects };
        assert!(is_right, "{owner}: {objects} were allocated, {allocated} are told");
    }
}

/// What stays the same when names move into the trace: they are then told, and no longer found.
fn amounts(types: &TypesView) -> Vec<(Option<&str>, u64, u64, u64)> {
    let rows = types.types.iter();
    rows.map(|row| {
        let (allocated, live) = (row.allocated, row.live);
        (row.name.as_deref(), allocated.objects, allocated.bytes, live.objects)
    })
    .collect()
}

#[test]
fn a_symbolized_trace_needs_its_program_no_more() {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let plain = trace(&program, directory.path());
    let named = directory.path().join("named.trace");
    let before = read(&plain).types();
    slabscope(&["symbolize", "-o"]).args([&named, &plain]).assert().code(0).stdout("").stderr("");
    fs::rename(&program, directory.path().join("moved")).unwrap();
    let without = read(&plain);
    assert!(found(&without).is_empty(), "the program was found elsewhere, so this shows nothing");
    let after = read(&named);
    assert!(after.symbols.is_empty(), "a file was looked for");
    assert_eq!(amounts(&after.types()), amounts(&before));
    assert_eq!(found(&after).len(), CASES.len());
    slabscope(&["verify"]).arg(&named).assert().code(0);
}
