//! Threads that run on stacks of the heap: small ones are cheap to start, and a trace shows when each
//! stack was taken and given back.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use slabscope_os::thread::{self, Handle};

use crate::stack::Stack;

/// What a thread's stack has unless it is asked for otherwise, in bytes; std's default too.
const STACK_SIZE: usize = 2 << 20;

/// Threads whose handles were dropped: their stacks come back when somebody finds them ended.
static LEFT_ALONE: Mutex<Vec<Running>> = Mutex::new(Vec::new());

/// What a thread returned, or panicked with.
type Outcome<T> = std::thread::Result<T>;

/// Starts threads; as `std::thread::Builder`.
///
/// ```
/// # #[global_allocator]
/// # static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();
/// let thread = slabscope::thread::Builder::new().name("adder").stack_size(64 << 10).spawn(|| 1 + 1)?;
/// assert_eq!(thread.join().unwrap(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

/// A thread on a stack of the heap.
#[derive(Debug)]
struct Running {
    thread: Handle,
    /// Given back after the thread was joined.
    _stack: Stack,
}

/// The right to wait for a thread. Dropped, it leaves the thread alone.
#[derive(Debug)]
pub struct JoinHandle<T> {
    running: Option<Running>,
    outcome: Arc<Mutex<Option<Outcome<T>>>>,
}

impl Builder {
    /// A thread without a name, on a stack of 2 MiB.
    pub fn new() -> Self {
        Builder::default()
    }

    /// What the kernel calls the thread: the first fifteen bytes of `name`.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Builder { name: Some(name.into()), ..self }
    }

    /// The size of its stack in bytes, rounded up to a power of two.
    #[must_use]
    pub fn stack_size(self, bytes: usize) -> Self {
        Builder { stack_size: Some(bytes), ..self }
    }

    /// Starts it.
    ///
    /// # Errors
    /// When there is no memory for its stack, when the system starts no more threads, or when the name
    /// has a NUL in it.
    pub fn spawn<F, T>(self, main: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        collect_ended();
        let name = self.name.map(name_of).transpose()?;
        let stack = Stack::new(self.stack_size.unwrap_or(STACK_SIZE));
        let stack = stack.ok_or(io::ErrorKind::OutOfMemory)?;
        let outcome = Arc::new(Mutex::new(None));
        let result = Arc::clone(&outcome);
        let run: Box<dyn FnOnce() + Send> = Box::new(move || {
            if let Some(name) = name {
                thread::set_name(&name);
            }
            let returned = catch_unwind(AssertUnwindSafe(main));
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(returned);
        });
        let argument = Box::into_raw(Box::new(run));
        // SAFETY: `start` takes what `argument` is; the stack outlives the thread, since it is kept
        // with its handle until the thread was joined.
        let started = unsafe {
            thread::spawn_with_signals(stack.bottom(), stack.size(), start, argument.cast())
        };
        match started {
            Ok(thread) => {
                Ok(JoinHandle { running: Some(Running { thread, _stack: stack }), outcome })
            }
            Err(error) => {
                // SAFETY: no thread was started that could have taken it.
                drop(unsafe { Box::from_raw(argument) });
                Err(io::Error::from_raw_os_error(error.0))
            }
        }
    }
}

/// The name as the kernel takes it.
fn name_of(mut name: String) -> io::Result<CString> {
    let mut end = name.len().min(thread::NAME_LEN - 1);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    CString::new(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// The first function on the new stack.
extern "C" fn start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `spawn` made it from such a box and gave it to this thread alone.
    let run = unsafe { Box::from_raw(argument.cast::<Box<dyn FnOnce() + Send>>()) };
    run();
    NonNull::<c_void>::dangling().as_ptr()
}

impl<T> JoinHandle<T> {
    /// Waits for the thread's end.
    ///
    /// # Errors
    /// What the thread panicked with.
    pub fn join(mut self) -> Outcome<T> {
        if let Some(running) = self.running.take() {
            // SAFETY: it came from `spawn`, and the handle is taken only once.
            unsafe { running.thread.join() };
        }
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        outcome.unwrap_or_else(|| Err(Box::new("the thread left no result") as Box<dyn Any + Send>))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            LEFT_ALONE.lock().unwrap_or_else(PoisonError::into_inner).push(running);
        }
    }
}

/// Gives the stacks of threads back that were left alone and have ended.
fn collect_ended() {
    let mut left = LEFT_ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: it came from `spawn`; joined, it leaves the list.
    left.retain(|running| unsafe { !running.thread.try_join() });
}
