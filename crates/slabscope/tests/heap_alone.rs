//! The heap with the recorder and without it: this runs in both builds, and asks which one it is.

use std::cell::RefCell;
use std::process::Command;

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Whether the recorder is compiled in.
const RECORDER: bool = cfg!(feature = "recorder");

struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        assert_eq!(vec![3_u8; 1000].iter().map(|&n| u32::from(n)).sum::<u32>(), 3000);
    }
}

thread_local! {
    static KEPT: RefCell<Option<Late>> = const { RefCell::new(None) };
}

#[test]
fn threads_allocate_and_what_they_leave_is_freed_by_others() {
    let work = |seed: usize| {
        KEPT.set(Some(Late));
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for step in 0..20_000_usize {
            let size = (step * 37 + seed) % 3000 + 1;
            kept.push(vec![(size % 251) as u8; size]);
            if kept.len() > 300 {
                let old = kept.swap_remove(step % 300);
                assert!(old.iter().all(|&byte| usize::from(byte) == old.len() % 251));
            }
        }
        kept
    };
    let threads: Vec<_> = (0..4).map(|seed| std::thread::spawn(move || work(seed))).collect();
    for thread in threads {
        let kept = thread.join().expect("no panic");
        assert!(kept.iter().all(|old| old.iter().all(|&b| usize::from(b) == old.len() % 251)));
    }
}

#[test]
fn aligned_objects_zeroed_ones_and_growing_ones() {
    #[repr(align(16))]
    #[derive(Clone, Copy)]
    struct Wide([u8; 48]);
    for count in 1..200 {
        let wide = vec![Wide([7; 48]); count];
        assert!(wide.as_ptr().addr().is_multiple_of(16) && wide.iter().all(|w| w.0 == [7; 48]));
        let zeros = vec![0_u64; count * 97];
        assert!(zeros.iter().all(|&n| n == 0));
        let mut grown = Vec::new();
        (0..count * 500).for_each(|n| grown.push(n));
        assert!(grown.iter().enumerate().all(|(at, &n)| at == n));
    }
}

#[test]
fn statistics_and_stacks_are_there() {
    let before = slabscope::stats().live();
    // Other tests free meanwhile, and not half as much.
    let object = std::hint::black_box(Vec::<u8>::with_capacity(256 << 20));
    assert!(slabscope::stats().live() >= before + object.capacity() / 2);
    let stack = slabscope::stack::Stack::new(100_000).expect("memory");
    assert_eq!(stack.size(), 131_072);
    assert_eq!(slabscope::typed::<String, _>(|| 7), 7);
}

#[test]
fn the_variable_is_followed_where_there_is_a_recorder_and_nowhere_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("a.trace");
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "one_of_few_threads", "--ignored", "--test-threads=1"])
        .env("SLABSCOPE", format!("traceallocfree=1,out={}", trace.display()))
        .status()
        .expect("the program starts");
    assert!(status.success());
    assert_eq!(trace.exists(), RECORDER);
    let files = std::fs::read_dir(directory.path()).expect("the directory").count();
    assert_eq!(files, usize::from(RECORDER));
}

#[test]
#[ignore = "the test above runs it, in a process of its own"]
fn one_of_few_threads() {
    let names = || -> Vec<String> {
        std::fs::read_dir("/proc/self/task")
            .expect("the threads")
            .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("comm")).ok())
            .filter(|name| name.starts_with("slabscope"))
            .collect()
    };
    // A thread gives itself its name, when it gets to it.
    let begun = std::time::Instant::now();
    while RECORDER && names().is_empty() && begun.elapsed().as_secs() < 60 {
        std::thread::yield_now();
    }
    assert_eq!(!names().is_empty(), RECORDER, "{:?}", names());
}

#[test]
fn a_forked_child_allocates() {
    use std::os::unix::process::CommandExt;
    for _ in 0..20 {
        let mut command = Command::new("/bin/true");
        // SAFETY: what the child does is allocate and free, which is what is tested: the world is
        // stopped over the fork.
        unsafe {
            command.pre_exec(|| {
                let numbers: Vec<String> = (0..500).map(|n| n.to_string()).collect();
                assert_eq!(numbers.len(), 500);
                Ok(())
            });
        }
        assert!(command.status().expect("a child").success());
    }
}
