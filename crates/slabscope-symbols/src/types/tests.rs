//! Stacks as compilers leave them, and what they allocate.

use std::sync::Arc;

use super::*;
use crate::name::Parts;

fn frame(file: &str, source: &str, is_inlined: bool) -> Frame {
    let file = match file.split_once(':') {
        Some(("alloc", path)) => format!("/rustc/5980/library/alloc/src/{path}"),
        Some(("core", path)) => format!("/rustc/5980/library/core/src/{path}"),
        Some(("std", path)) => format!("/rustc/5980/library/std/src/{path}"),
        Some(("hashbrown", path)) => format!("/rust/deps/hashbrown-0.16.1/src/{path}"),
        _ => file.to_owned(),
    };
    let name = Name::new(Parts { source: Some(source), file: &file, ..Parts::default() });
    Frame {
        name: Arc::new(name.unwrap()),
        file: file.into(),
        line: 1,
        is_inlined,
        shares_code: false,
    }
}

/// The type for frames given as file and function, all inlined but the last.
fn of(frames: &[(&str, &str)]) -> (String, Certainty) {
    let last = frames.len() - 1;
    let frames: Vec<_> = frames
        .iter()
        .enumerate()
        .map(|(depth, (file, source))| frame(file, source, depth < last))
        .collect();
    let found = of_stack(&frames, None).expect("it has a type");
    (found.name, found.certainty)
}

const ALLOC: (&str, &str) = ("alloc:alloc.rs", "alloc");
const MAIN: (&str, &str) = ("/app/src/main.rs", "main");

#[test]
fn vectors_are_known_by_their_elements() {
    let inner = ("alloc:raw_vec/mod.rs", "with_capacity_in<alloc::alloc::Global>");
    let raw = ("alloc:raw_vec/mod.rs", "with_capacity_in<my::Order, alloc::alloc::Global>");
    let vec = ("alloc:vec/mod.rs", "with_capacity<my::Order>");
    assert_eq!(of(&[ALLOC, inner, raw, vec, MAIN]), ("Vec<my::Order>".into(), Certainty::Exact));
}

#[test]
fn the_caller_knows_better_than_code_that_is_shared() {
    let frames = [
        frame("alloc:raw_vec/mod.rs", "grow_amortized<alloc::alloc::Global>", true),
        frame("alloc:raw_vec/mod.rs", "grow_one<other::SameSize, alloc::alloc::Global>", false),
        frame("alloc:vec/mod.rs", "push_mut<my::Order, alloc::alloc::Global>", true),
        frame("alloc:vec/mod.rs", "push<my::Order, alloc::alloc::Global>", true),
        frame("/app/src/main.rs", "main", false),
    ];
    let found = of_stack(&frames, Some(8)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("Vec<my::Order>", Certainty::Exact));
    let alone = of_stack(&frames[..2], Some(8)).unwrap();
    assert_eq!((&*alone.name, alone.certainty), ("Vec<other::SameSize>", Certainty::Likely));
}

/// Frames of one function's code, the last being the function itself.
fn code(frames: &[(&str, &str)]) -> Vec<Frame> {
    let last = frames.len() - 1;
    let with_depth = frames.iter().enumerate();
    with_depth.map(|(depth, (file, source))| frame(file, source, depth < last)).collect()
}

const WITH_CAPACITY: (&str, &str) =
    ("alloc:raw_vec/mod.rs", "with_capacity_in<my::Order, alloc::alloc::Global>");

#[test]
fn code_that_may_be_another_types_makes_nothing_exact() {
    let instance = code(&[ALLOC, WITH_CAPACITY, ("/app/src/main.rs", "keep<my::Order>")]);
    let caller = code(&[MAIN]);
    let found = of_stack(instance.iter().chain(&caller), Some(8)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("Vec<my::Order>", Certainty::Likely));

    let mut plain = code(&[ALLOC, WITH_CAPACITY, MAIN]);
    assert_eq!(of_stack(&plain, Some(8)).unwrap().certainty, Certainty::Exact);
    plain.last_mut().unwrap().shares_code = true;
    assert_eq!(of_stack(&plain, Some(8)).unwrap().certainty, Certainty::Likely);

    // Where one is merged with another's, its caller may be as well.
    let grow = code(&[("alloc:raw_vec/mod.rs", "grow_one<my::Order, alloc::alloc::Global>")]);
    let push = code(&[("alloc:vec/mod.rs", "push<my::Order, alloc::alloc::Global>")]);
    let found = of_stack(grow.iter().chain(&push).chain(&caller), Some(8)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("Vec<my::Order>", Certainty::Likely));
}

#[test]
fn the_caller_knows_better_of_maps_and_queues_too() {
    const BTREE: &str = "alloc:collections/btree/map.rs";
    let insert = |key: &str| format!("insert<{key}, my::Order, alloc::alloc::Global>");
    let (inner, outer) = (insert("u32"), insert("u16"));
    let (inner, outer) = (code(&[ALLOC, (BTREE, &inner)]), [(BTREE, &*outer), MAIN]);
    let found = of_stack(inner.iter().chain(&code(&outer)), Some(8)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("BTreeMap<u16, my::Order>", Certainty::Exact));
    let nested =
        "clone<u8, alloc::collections::btree::map::BTreeMap<u16, my::Order>, alloc::alloc::Global>";
    let found = of_stack(inner.iter().chain(&code(&[(BTREE, nested), MAIN])), Some(8)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("BTreeMap<u32, my::Order>", Certainty::Likely));

    const DEQUE: &str = "alloc:collections/vec_deque/mod.rs";
    let grow = code(&[
        ("alloc:raw_vec/mod.rs", "grow_one<other::SameSize, alloc::alloc::Global>"),
        (DEQUE, "grow<other::SameSize, alloc::alloc::Global>"),
    ]);
    let push = code(&[(DEQUE, "push_back<my::Order, alloc::alloc::Global>"), MAIN]);
    let found = of_stack(grow.iter().chain(&push), Some(8)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("VecDeque<my::Order>", Certainty::Exact));
}

#[test]
fn a_vector_in_a_queue_is_not_the_queue() {
    let frames = [
        ("alloc:slice.rs", "to_vec<u32, alloc::alloc::Global>"),
        ("alloc:vec/mod.rs", "clone<u32, alloc::alloc::Global>"),
        (
            "alloc:collections/vec_deque/mod.rs",
            "clone<alloc::vec::Vec<u32, alloc::alloc::Global>, alloc::alloc::Global>",
        ),
        MAIN,
    ];
    assert_eq!(of(&frames).0, "Vec<u32>");
}

#[test]
fn a_vector_in_a_vector_is_not_its_holder() {
    let frames = [
        ("alloc:raw_vec/mod.rs", "with_capacity_in<u32, alloc::alloc::Global>"),
        ("alloc:slice.rs", "to_vec<u32, alloc::alloc::Global>"),
        ("alloc:vec/mod.rs", "clone<u32, alloc::alloc::Global>"),
        (
            "alloc:slice.rs",
            "to_vec<alloc::vec::Vec<u32, alloc::alloc::Global>, alloc::alloc::Global>",
        ),
        (
            "alloc:vec/mod.rs",
            "clone<alloc::vec::Vec<u32, alloc::alloc::Global>, alloc::alloc::Global>",
        ),
        MAIN,
    ];
    assert_eq!(of(&frames).0, "Vec<u32>");
}

#[test]
fn bytes_are_what_their_holder_is() {
    let bytes = ("alloc:raw_vec/mod.rs", "with_capacity_in<u8, alloc::alloc::Global>");
    let os_texts = [
        ("std:sys/os_str/bytes.rs", "to_owned"),
        ("std:ffi/os_str.rs", "to_os_string"),
        ("std:path.rs", "to_path_buf"),
    ];
    let cases: [(&[(&str, &str)], &str); 9] = [
        (&[("alloc:string.rs", "with_capacity")], "String"),
        (&[("alloc:slice.rs", "to_vec<u8>"), ("alloc:str.rs", "to_owned")], "String"),
        (&[("alloc:string.rs", "push_str"), ("alloc:string.rs", "write_str")], "String"),
        (&[os_texts[0], os_texts[2]], "PathBuf"),
        (&os_texts, "PathBuf"),
        (&os_texts[..2], "OsString"),
        (&[("alloc:ffi/c_str.rs", "spec_new_impl_bytes")], "CString"),
        (&[("alloc:vec/mod.rs", "with_capacity<u8>")], "Vec<u8>"),
        (&[("alloc:boxed/convert.rs", "from<u8>")], "Box<[u8]>"),
    ];
    for (frames, expected) in cases {
        let all = [&[ALLOC, bytes], frames, &[MAIN]].concat();
        assert_eq!(of(&all).0, expected, "{frames:?}");
    }
}

#[test]
fn texts_that_are_collected_are_no_vector_of_texts() {
    let frames = [
        ("alloc:raw_vec/mod.rs", "with_capacity_in<u8, alloc::alloc::Global>"),
        ("alloc:string.rs", "to_string"),
        ("core:iter/adapters/map.rs", "next<alloc::string::String, my::Names>"),
        ("alloc:vec/spec_from_iter.rs", "from_iter<alloc::string::String, my::Names>"),
        MAIN,
    ];
    assert_eq!(of(&frames).0, "String");
}

#[test]
fn boxes_and_what_is_made_of_them() {
    let cases = [
        ("my::Job", "Box<my::Job>"),
        ("alloc::sync::ArcInner<my::Session>", "Arc<my::Session>"),
        ("alloc::rc::RcInner<core::cell::RefCell<u8>>", "Rc<RefCell<u8>>"),
        (
            "alloc::collections::btree::node::LeafNode<u32, alloc::string::String>",
            "BTreeMap<u32, String>",
        ),
        (
            "alloc::collections::btree::node::InternalNode<u8, alloc::collections::btree::set_val::SetValZST>",
            "BTreeSet<u8>",
        ),
        ("alloc::collections::linked_list::Node<u8>", "LinkedList<u8>"),
        (
            "tokio::runtime::task::core::Cell<app::serve::{async_fn_env#0}, tokio::Sched>",
            "tokio task of {async fn in app::serve}",
        ),
        ("app::run::{async_block_env#1}", "Box<{async block 1 in app::run}>"),
    ];
    for (value, expected) in cases {
        let new = format!("new<{value}>");
        let frames = [ALLOC, ("alloc:boxed.rs", "box_new_uninit"), ("alloc:boxed.rs", &new), MAIN];
        assert_eq!(of(&frames).0, expected);
    }
}

#[test]
fn a_copied_text_is_no_slice_of_bytes() {
    let frames = [
        ("alloc:raw_vec/mod.rs", "with_capacity_in<u8, alloc::alloc::Global>"),
        ("alloc:boxed/convert.rs", "from<u8>"),
        ("core:convert/mod.rs", "into<&[u8], alloc::boxed::Box<[u8], alloc::alloc::Global>>"),
        ("alloc:boxed.rs", "clone"),
        MAIN,
    ];
    assert_eq!(of(&frames).0, "Box<str>");
}

#[test]
fn the_way_to_the_heap_says_nothing() {
    let frames = [
        ("std:thread/local.rs", "try_with<slabscope::tls::Thread, slabscope::Closure, *mut u8>"),
        ("/src/slabscope/src/tls.rs", "with<*mut u8, slabscope::Closure>"),
        ("/src/app/src/main.rs", "__rust_realloc"),
        ("alloc:raw_vec/mod.rs", "grow_one<my::Order, alloc::alloc::Global>"),
        ("alloc:vec/mod.rs", "push<my::Order, alloc::alloc::Global>"),
        MAIN,
    ];
    assert_eq!(of(&frames), ("Vec<my::Order>".into(), Certainty::Exact));
}

#[test]
fn shared_slices_and_texts() {
    let slice = ("alloc:sync.rs", "copy_from_slice<u8>");
    let layout = ("alloc:sync.rs", "allocate_for_layout<[u8]>");
    let from = ("alloc:sync.rs", "from<u8>");
    assert_eq!(of(&[ALLOC, slice, from, MAIN]).0, "Arc<[u8]>");
    assert_eq!(of(&[ALLOC, layout, slice, from, ("alloc:sync.rs", "from"), MAIN]).0, "Arc<str>");
}

#[test]
fn tables_are_maps_or_sets() {
    let inner = ("hashbrown:raw/mod.rs", "resize_inner<alloc::alloc::Global>");
    let cases = [
        ("(u32, alloc::string::String)", "HashMap<u32, String>"),
        ("(&str, ())", "HashSet<&str>"),
        ("my::Entry", "hashbrown::table::HashTable<my::Entry>"),
    ];
    for (entry, expected) in cases {
        let table = format!("reserve_rehash<{entry}, alloc::alloc::Global, my::Closure>");
        let frames = [ALLOC, inner, ("hashbrown:raw/mod.rs", &table), MAIN];
        assert_eq!(of(&frames).0, expected);
    }
}

#[test]
fn bytes_whose_call_was_joined_with_others_are_guessed_by_their_alignment() {
    let frames = [
        frame("alloc:raw_vec/mod.rs", "try_allocate_in<alloc::alloc::Global>", false),
        frame("/app/src/main.rs", "read<my::Source>", false),
        frame("/app/src/main.rs", "main", false),
    ];
    let found = of_stack(&frames, Some(1)).unwrap();
    assert_eq!((&*found.name, found.certainty), ("Vec<u8>", Certainty::Guess));
    assert_eq!(of_stack(&frames, Some(8)), None);
    assert_eq!(of_stack(&frames, None), None);
    assert_eq!(of_stack(&frames[1..], Some(1)), None);
}

#[test]
fn messages_wait_in_their_channel() {
    let new = (
        "/root/.cargo/registry/src/index.crates.io-1949/tokio-1.54.1/src/sync/mpsc/block.rs",
        "new<my::Request>",
    );
    let (name, certainty) = of(&[ALLOC, new, MAIN]);
    assert_eq!((&*name, certainty), ("tokio::sync::mpsc channel of my::Request", Certainty::Exact));
}

#[test]
fn queues_are_more_than_vectors() {
    let raw = ("alloc:raw_vec/mod.rs", "grow_one<my::Order, alloc::alloc::Global>");
    let deque = ("alloc:collections/vec_deque/mod.rs", "grow<my::Order, alloc::alloc::Global>");
    assert_eq!(of(&[raw, deque, MAIN]).0, "VecDeque<my::Order>");
}

#[test]
fn what_fits_not_is_a_guess_and_nothing_is_nothing() {
    let frames = [
        frame("alloc:raw_vec/mod.rs", "reserve<u8, alloc::alloc::Global>", true),
        frame("/app/src/main.rs", "main", false),
    ];
    assert_eq!(of_stack(&frames, Some(1)).unwrap().certainty, Certainty::Exact);
    assert_eq!(of_stack(&frames, Some(16)).unwrap().certainty, Certainty::Guess);
    assert_eq!(of_stack(&[frame("/app/src/main.rs", "main", false)], None), None);
    assert_eq!(of_stack(&[], None), None);
}
