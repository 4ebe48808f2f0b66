//! The heap against a naive model: random operations, and after each the heap must agree with a
//! plain list of what was allocated.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slabscope_heap::{
    Existing, Heap, Observer, PAGE_SIZE, SpanInfo, StackMemory, ThreadCache, slot_size,
};

#[derive(Clone, Debug)]
enum Op {
    Alloc { size: usize, align: usize, zeroed: bool },
    AllocReentrant { size: usize, align: usize },
    Free { which: usize },
    FreeReentrant { which: usize },
    Resize { which: usize, new_size: usize },
    Flush,
    Trim,
    AllocStack { size: usize },
    FreeStack { which: usize },
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        8 => 0_usize..300,
        4 => 300_usize..40_000,
        2 => 32_700_usize..33_000,
        1 => 40_000_usize..2_000_000,
    ]
}

fn align() -> impl Strategy<Value = usize> {
    prop_oneof![10 => 0_u32..5, 2 => 5_u32..14, 1 => 14_u32..21].prop_map(|log| 1 << log)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (size(), align(), any::<bool>())
            .prop_map(|(size, align, zeroed)| Op::Alloc { size, align, zeroed }),
        1 => (size(), align()).prop_map(|(size, align)| Op::AllocReentrant { size, align }),
        10 => any::<usize>().prop_map(|which| Op::Free { which }),
        1 => any::<usize>().prop_map(|which| Op::FreeReentrant { which }),
        3 => (any::<usize>(), size()).prop_map(|(which, new_size)| Op::Resize { which, new_size }),
        1 => Just(Op::Flush),
        1 => Just(Op::Trim),
        1 => (1_usize..200_000).prop_map(|size| Op::AllocStack { size }),
        1 => any::<usize>().prop_map(|which| Op::FreeStack { which }),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Object {
    address: *mut u8,
    size: usize,
    align: usize,
    fill: u8,
}

/// Spans by first page, as an observer hears of them.
#[derive(Default)]
struct Spans(BTreeMap<usize, SpanInfo>);

impl Observer for Spans {
    fn span_alloc(&mut self, span: SpanInfo) {
        let below = self.0.range(..span.page + span.pages).next_back();
        let free = below.is_none_or(|(_, s)| s.page + s.pages <= span.page);
        assert!(free, "{span:?} overlaps {below:?}");
        self.0.insert(span.page, span);
    }

    fn span_free(&mut self, span: SpanInfo) {
        assert_eq!(self.0.remove(&span.page), Some(span));
    }
}

struct Model {
    heap: Heap,
    cache: ThreadCache,
    spans: Spans,
    objects: Vec<Object>,
    stacks: Vec<StackMemory>,
    made: u8,
}

impl Model {
    fn new() -> Self {
        Model {
            heap: Heap::with_arena_max(256 << 20),
            cache: ThreadCache::new(),
            spans: Spans::default(),
            objects: Vec::new(),
            stacks: Vec::new(),
            made: 0,
        }
    }

    fn run(&mut self, op: &Op) {
        match *op {
            Op::Alloc { size, align, zeroed } => {
                let address = if zeroed {
                    self.heap.alloc_zeroed(&mut self.cache, size, align, &mut self.spans)
                } else {
                    self.heap.alloc(&mut self.cache, size, align, &mut self.spans)
                };
                self.made(address, size, align, zeroed);
            }
            Op::AllocReentrant { size, align } => {
                let address = self.heap.alloc_reentrant(size, align, &mut self.spans);
                self.made(address, size, align, true);
            }
            Op::Free { which } => {
                let Some(object) = self.pick(which) else { return };
                let Object { address, size, align, .. } = object;
                // SAFETY: it came from this heap with this layout, and leaves the model.
                unsafe {
                    self.heap.dealloc(&mut self.cache, address, size, align, &mut self.spans);
                }
            }
            Op::FreeReentrant { which } => {
                let Some(object) = self.pick(which) else { return };
                // SAFETY: as above.
                unsafe { self.heap.dealloc_reentrant(object.address, object.size, object.align) };
            }
            Op::Resize { which, new_size } => self.resize(which, new_size),
            Op::Flush => self.heap.flush(&mut self.cache, &mut self.spans),
            Op::Trim => self.heap.trim(&mut self.spans),
            Op::AllocStack { size } => {
                let stack = self.heap.alloc_stack(size, &mut self.spans).unwrap();
                assert!(stack.size.is_power_of_two() && stack.size >= size);
                // SAFETY: the stack is ours from its base to its end.
                unsafe { stack.base.write_bytes(0xee, stack.size) };
                self.stacks.push(stack);
            }
            Op::FreeStack { which } => {
                if self.stacks.is_empty() {
                    return;
                }
                let stack = self.stacks.swap_remove(which % self.stacks.len());
                // SAFETY: it came from this heap and leaves the model.
                unsafe { self.heap.free_stack(stack, &mut self.spans) };
            }
        }
    }

    fn made(&mut self, address: *mut u8, size: usize, align: usize, zeroed: bool) {
        assert!(!address.is_null());
        assert_eq!(address.addr() % align, 0, "{size} at {align}");
        self.made = self.made.wrapping_add(1).max(1);
        let fill = self.made;
        // SAFETY: the object is ours and has `size` bytes.
        unsafe {
            if zeroed {
                assert!((0..size).all(|index| *address.add(index) == 0), "not zeroed");
            }
            address.write_bytes(fill, size);
        }
        self.objects.push(Object { address, size, align, fill });
    }

    /// Takes an object out of the model, and sees that nobody wrote to it.
    fn pick(&mut self, which: usize) -> Option<Object> {
        if self.objects.is_empty() {
            return None;
        }
        let object = self.objects.swap_remove(which % self.objects.len());
        assert_filled(&object, object.size);
        Some(object)
    }

    fn resize(&mut self, which: usize, new_size: usize) {
        let Some(object) = self.pick(which) else { return };
        let Object { address, size, align, fill } = object;
        // SAFETY: it came from this heap with this layout.
        let done =
            unsafe { self.heap.resize_in_place(address, size, align, new_size, &mut self.spans) };
        if !done {
            self.objects.push(object);
            return;
        }
        assert_filled(&object, size.min(new_size));
        // SAFETY: the object is ours and has `new_size` bytes now.
        unsafe { address.write_bytes(fill, new_size) };
        self.objects.push(Object { size: new_size, ..object });
    }

    /// The heap is sound, and shows what the model has and nothing else.
    fn compare(&self) {
        let census = self.heap.check().unwrap();
        assert_eq!(census.spans, self.spans.0.len());
        let (mut spans, mut objects) = (BTreeMap::new(), BTreeMap::new());
        let mut stacks = Vec::new();
        let shown = self.heap.snapshot([&self.cache].into_iter(), |existing| match existing {
            Existing::Span(span) => assert!(spans.insert(span.page, span).is_none()),
            Existing::Object { address, slot } => {
                assert!(objects.insert(address, slot).is_none());
            }
            Existing::Stack(stack) => stacks.push(stack),
        });
        assert!(shown);
        assert_eq!(spans, self.spans.0);
        let expected: BTreeMap<usize, usize> =
            self.objects.iter().map(|o| (o.address.addr(), slot_size(o.size, o.align))).collect();
        assert_eq!(objects, expected);
        let mut expected = self.stacks.clone();
        expected.sort_by_key(|stack| stack.base);
        stacks.sort_by_key(|stack| stack.base);
        assert_eq!(stacks, expected);
        self.compare_usage();
    }

    /// What the heap counts as live is what the model has.
    fn compare_usage(&self) {
        let usage = self.heap.usage([&self.cache].into_iter());
        let slots: usize = self.objects.iter().map(|o| slot_size(o.size, o.align)).sum();
        let live: usize = usage.classes.iter().map(|class| class.live).sum();
        assert_eq!(usage.large_live + live, slots);
        assert_eq!(usage.stacks, self.stacks.iter().map(|stack| stack.size).sum::<usize>());
        let spans: usize = usage.classes.iter().map(|class| class.span_bytes).sum();
        let guards = self.stacks.len() * PAGE_SIZE;
        let idle = usage.stacks_cached > 0;
        let used = spans + usage.large_live + usage.large_cached + usage.stacks + guards;
        assert!(idle || used + usage.free <= usage.mapped, "{usage:?}");
        assert!(usage.free_resident <= usage.free);
    }
}

fn assert_filled(object: &Object, len: usize) {
    // SAFETY: the object is the model's and has `len` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(object.address, len) };
    assert!(bytes.iter().all(|&byte| byte == object.fill), "{object:?} was written to");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_heap_does_what_a_list_would(ops in prop::collection::vec(op(), 1..300)) {
        let mut model = Model::new();
        for (index, op) in ops.iter().enumerate() {
            model.run(op);
            if index % 16 == 0 {
                model.compare();
            }
        }
        model.compare();
        while let Some(Object { address, size, align, .. }) = model.pick(0) {
            // SAFETY: it came from this heap with this layout, and leaves the model.
            unsafe { model.heap.dealloc(&mut model.cache, address, size, align, &mut model.spans) };
        }
        model.heap.flush(&mut model.cache, &mut model.spans);
        model.compare();
        model.heap.trim(&mut model.spans);
        model.compare();
        let left = model.heap.check().unwrap();
        prop_assert_eq!(left.used, 0);
    }
}
