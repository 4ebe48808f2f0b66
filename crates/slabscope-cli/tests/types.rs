//! Types that reports find out, held against those that the program itself declares in scopes.
//!
//! The program is this one: it runs one of its own tests with the trace on, in a process of its own. It does so
//! twice, with scopes and without.

#[path = "support/own_program.rs"]
mod own_program;
mod support;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::future::Future;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use slabscope_analysis::{Profile, ProfileOptions, TypeCertainty, TypeRow, TypesView, profile};
use slabscope_trace::Open;
use support::slabscope;
use tempfile::TempDir;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    parts: [u64; 5],
}

/// Of one size with [`Coin`], so functions for either may have the same code.
#[expect(dead_code, reason = "it is there for its size")]
struct Price {
    parts: [u64; 3],
}

#[expect(dead_code, reason = "it is there for its size")]
struct Coin {
    parts: [u64; 3],
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
    /// Calls it in a scope of the type that owns its memory.
    with_truth: fn(fn()),
}

fn of<T: ?Sized>(make: fn()) {
    slabscope::typed::<T, _>(make);
}

/// Its type has a name in debug information only.
fn of_future(make: fn()) {
    slabscope::type_name("alloc::boxed::Box<types::future::{async_block_env#0}>", make);
}

/// Makes the functions, which stand in stacks by their names, and the table of them: how often each is
/// called, how many allocations a call makes, the scope of what owns their memory, and the value.
macro_rules! cases {
    ($($function:ident: $times:literal x $each:literal, $owner:expr, $value:expr;)*) => {
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
                with_truth: $owner,
            },)*
        ];
    };
}

cases! {
    orders: 211 x 1, of::<Vec<Order>>, Vec::<Order>::with_capacity(black_box(7));
    // Room for 4, for 8 and for 16.
    pushed_orders: 37 x 3, of::<Vec<Order>>, fill(9, Vec::new(), Vec::push);
    collected_numbers: 223 x 1, of::<Vec<u32>>, (0..black_box(9_u32)).collect::<Vec<u32>>();
    cloned_orders: 41 x 1, of::<Vec<Order>>, black_box(&[Order::default(); 3]).to_vec();
    slices: 227 x 1, of::<Box<[Order]>>, Box::<[Order]>::from([Order::default(); 3].as_slice());
    texts: 229 x 1, of::<String>, black_box("a text of some length").to_owned();
    formatted_texts: 43 x 1, of::<String>, format!("{}", black_box("a text of some length"));
    boxed_texts: 233 x 1, of::<Box<str>>, Box::<str>::from(black_box("a text"));
    shared_texts: 239 x 1, of::<Arc<str>>, Arc::<str>::from(black_box("a text"));
    os_texts: 313 x 1, of::<OsString>, OsStr::new(black_box("a text")).to_os_string();
    paths: 241 x 1, of::<PathBuf>, Path::new(black_box("/a/path")).to_path_buf();
    boxes: 251 x 1, of::<Box<Order>>, Box::new(black_box(Order::default()));
    jobs: 257 x 1, of::<Box<Print>>, job();
    sessions: 263 x 1, of::<Arc<Session>>, Arc::new(black_box(Session { parts: [0; 9] }));
    counted: 269 x 1, of::<Rc<RefCell<Session>>>, Rc::new(RefCell::new(Session { parts: [0; 9] }));
    maps: 271 x 1, of::<HashMap<u64, Order>>, HashMap::<u64, Order>::with_capacity(black_box(9));
    // Tables of 4, 8 and 16 places, of which so many are for 3, 7 and 14.
    filled_maps: 47 x 3, of::<HashMap<u32, Session>>, (0..black_box(9_u32)).fold(HashMap::new(), |mut map, key| {
            map.insert(key, Session { parts: [0; 9] });
            map
        });
    sets: 277 x 1, of::<HashSet<Key>>, HashSet::<Key>::from([Key(black_box(1))]);
    ordered_maps: 281 x 1, of::<BTreeMap<u16, Order>>, BTreeMap::from([(black_box(1_u16), Order::default())]);
    // A node has room for 11: two nodes, and the one above them.
    high_ordered_maps: 53 x 3, of::<BTreeMap<u32, Order>>, (0..black_box(12_u32)).fold(BTreeMap::new(), |mut map, key| {
            map.insert(key, Order::default());
            map
        });
    ordered_sets: 283 x 1, of::<BTreeSet<Order>>, fill(1, BTreeSet::new(), |set, order| {
        set.insert(order);
    });
    queues: 293 x 1, of::<VecDeque<Order>>, VecDeque::<Order>::with_capacity(black_box(5));
    filled_queues: 59 x 2, of::<VecDeque<Order>>, fill(5, VecDeque::new(), VecDeque::push_back);
    heaps: 307 x 1, of::<BinaryHeap<Order>>, fill(3, BinaryHeap::new(), BinaryHeap::push);
    lists: 61 x 3, of::<LinkedList<Order>>, fill(3, LinkedList::new(), LinkedList::push_back);
    futures: 311 x 1, of_future, future();
    kept_coins: 67 x 1, of::<Vec<Coin>>, keep::<Coin>(black_box(6));
    kept_prices: 71 x 1, of::<Vec<Price>>, keep::<Price>(black_box(7));
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

/// The compiler makes it once for types of one size.
#[inline(never)]
fn keep<T>(count: usize) -> Vec<T> {
    Vec::with_capacity(count)
}

/// Functions whose memory may get the type of another's, with the same code. It must not be said to be exact.
const MERGED: [&str; 5] =
    ["kept_coins", "kept_prices", "ordered_maps", "high_ordered_maps", "ordered_sets"];

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
    let truth = std::env::var_os("TRUTH").is_some();
    for case in CASES {
        for _ in 0..case.times {
            if truth { (case.with_truth)(case.make) } else { (case.make)() }
        }
    }
}

/// What is to be told of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// They are declared in scopes.
    Truth,
    /// They are to be found out.
    Nothing,
}

/// Traces [`allocates`] of the program at `program`, and returns the trace.
fn trace(program: &Path, directory: &Path, told: Told, stacks: u32) -> PathBuf {
    let path = directory.join(format!("types-{told:?}.trace"));
    let variable = format!("traceallocfree=1,stacks={stacks},out={}", path.display());
    let mut command = Command::new(program);
    command.args(["--exact", "allocates", "--ignored", "--test-threads=1"]);
    command.env("SLABSCOPE", variable).env_remove("TRUTH");
    if told == Told::Truth {
        command.env("TRUTH", "1");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    path
}

/// The trace of this program, with stacks.
fn trace_of_this(directory: &Path, told: Told) -> PathBuf {
    trace(&std::env::current_exe().unwrap(), directory, told, 32)
}

fn read(trace: &Path) -> Profile {
    let bytes = fs::read(trace).unwrap();
    profile(Open::bytes(&bytes).unwrap(), &ProfileOptions::default(), &mut |_| {}).unwrap()
}

/// How many objects of each type a function allocated, with how sure that is.
type Owners = HashMap<String, (u64, Option<TypeCertainty>)>;

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
    let [truth, found] = [Told::Truth, Told::Nothing]
        .map(|told| found(&read(&trace_of_this(directory.path(), told))));
    let mut wrong = Vec::new();
    for case in CASES {
        let told: Vec<_> = truth.get(case.function).into_iter().flatten().collect();
        let [(owner, &(objects, Some(TypeCertainty::Declared)))] = told[..] else {
            panic!("{}: {told:?} is declared", case.function);
        };
        assert_eq!(objects, case.times * case.each, "{}", case.function);
        let owners: Vec<_> = found.get(case.function).into_iter().flatten().collect();
        let certainty = match owners[..] {
            [(name, &(count, certainty))] if (name, count) == (owner, objects) => certainty,
            [(_, &(count, certainty))] if count == objects && MERGED.contains(&case.function) => {
                println!("{:18} {:50} instead", case.function, owners[0].0);
                certainty.filter(|&certainty| certainty == TypeCertainty::Likely)
            }
            _ => None,
        };
        println!("{:18} {owner:50} {objects:4} {certainty:?}", case.function);
        if certainty < Some(TypeCertainty::Likely) {
            wrong.push(format!("{}: {objects} of {owner}, found {owners:?}", case.function));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_view_of_types_sums_them_up() {
    let directory = TempDir::new().unwrap();
    let [truth, found] = [Told::Truth, Told::Nothing]
        .map(|told| read(&trace_of_this(directory.path(), told)).types());
    let declared = truth.types.iter().filter(|row| row.certainty == Some(TypeCertainty::Declared));
    let is_merged = |row: &&TypeRow| {
        let name = row.name.as_deref();
        name.is_some_and(|name| ["Vec<types::Coin>", "Vec<types::Price>"].contains(&name))
    };
    let both = found.types.iter().filter(is_merged).map(|row| row.figures.allocated.objects);
    assert_eq!(both.sum::<u64>(), 67 + 71, "whichever of the two they are");
    let mut checked = 0;
    for truth in declared.filter(|row| !is_merged(row)) {
        let row = found.types.iter().find(|row| row.name == truth.name);
        let (allocated, objects) =
            (row.map_or(0, |row| row.figures.allocated.objects), truth.figures.allocated.objects);
        // What runs the test allocates too, but nothing of our types.
        let is_ours = truth.name.as_ref().is_some_and(|name| name.contains("types::"));
        let is_right = if is_ours { allocated == objects } else { allocated >= objects };
        assert!(is_right, "{:?}: {objects} were allocated, {allocated} are told", truth.name);
        checked += 1;
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn declared_types_need_no_stacks_and_are_kept_with_names() {
    let directory = TempDir::new().unwrap();
    let program = std::env::current_exe().unwrap();
    let truth = trace(&program, directory.path(), Told::Truth, 0);
    let of = |profile: &Profile| {
        let types = profile.types();
        let is_declared = |row: &&TypeRow| row.certainty == Some(TypeCertainty::Declared);
        let rows = types.types.into_iter();
        let rows = rows.filter(|row| is_declared(&row));
        rows.map(|row| (row.name, row.figures.allocated.objects)).collect::<BTreeMap<_, _>>()
    };
    let declared = of(&read(&truth));
    assert_eq!(declared.get(&Some("Vec<types::Order>".into())), Some(&(211 + 37 * 3 + 41)));
    assert_eq!(declared.get(&Some("Arc<types::Session>".into())), Some(&263));
    let named = directory.path().join("named.trace");
    slabscope(&["symbolize", "-o"]).args([&named, &truth]).assert().code(0).stdout("").stderr("");
    assert_eq!(of(&read(&named)), declared);
    slabscope(&["verify"]).arg(&named).assert().code(0);
    // No mark of doubt stands before it.
    let row = predicates::str::is_match(r"(?m)^ *Arc<types::Session> +263 ").unwrap();
    slabscope(&["types"]).arg(&truth).assert().code(0).stdout(row);
}

/// What stays the same when names move into the trace: they are then told, and no longer found.
fn amounts(types: &TypesView) -> Vec<(Option<&str>, u64, u64, u64)> {
    let rows = types.types.iter();
    rows.map(|row| {
        let (allocated, live) = (row.figures.allocated, row.figures.live);
        (row.name.as_deref(), allocated.objects, allocated.bytes, live.objects)
    })
    .collect()
}

#[test]
fn a_symbolized_trace_needs_its_program_no_more() {
    let directory = TempDir::new().unwrap();
    let program = own_program::copy(directory.path());
    let plain = trace(&program, directory.path(), Told::Nothing, 32);
    let named = directory.path().join("named.trace");
    let before = read(&plain).types();
    slabscope(&["symbolize", "-o"]).args([&named, &plain]).assert().code(0).stdout("").stderr("");
    let by_itself = directory.path().join("by_itself.trace");
    fs::copy(&plain, &by_itself).unwrap();
    let json =
        slabscope(&["symbolize", "--json", "-o"]).args([&by_itself, &by_itself]).assert().code(0);
    assert!(fs::read(&by_itself).unwrap() == fs::read(&named).unwrap());
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let module = &json["symbolize"]["modules"][0];
    assert_eq!(module["names"], "debug_information", "{json}");
    assert!(json["symbolize"]["stacks"].as_u64() > Some(CASES.len() as u64), "{json}");
    // What has names already, or is cut off, leaves the file as it was.
    slabscope(&["symbolize", "-o"]).args([&by_itself, &named]).assert().code(2);
    let cut = directory.path().join("cut.trace");
    let whole = fs::read(&plain).unwrap();
    fs::write(&cut, &whole[..whole.len() - 10]).unwrap();
    slabscope(&["symbolize", "-o"]).args([&by_itself, &cut]).assert().code(2);
    assert!(fs::read(&by_itself).unwrap() == fs::read(&named).unwrap());
    fs::rename(&program, directory.path().join("moved")).unwrap();
    let without = read(&plain);
    assert!(found(&without).is_empty(), "the program was found elsewhere, so this shows nothing");
    let after = read(&named);
    assert_eq!(amounts(&after.types()), amounts(&before));
    assert_eq!(found(&after).len(), CASES.len());
    assert!(after.finish_names().is_empty(), "a file was looked for");
    slabscope(&["verify"]).arg(&named).assert().code(0);
}
