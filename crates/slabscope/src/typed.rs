//! Scopes that say which type owns what is allocated in them.

use crate::session::Outer;
use crate::tls;

/// Runs `f`, and has traces say that all memory it allocates is owned by `T`.
///
/// Reports find out most types by themselves, from call stacks and debug information
/// (`SLABSCOPE=traceallocfree=1,stacks=32`). A scope is for where that is not enough: it is exact, it needs
/// neither stacks nor debug information, and a stripped program has it too.
///
/// ```
/// struct Session {
///     name: String,
/// }
///
/// // The name's memory is put down to `Session`, not to `String`.
/// let session = slabscope::typed::<Session, _>(|| Session { name: "ada".repeat(20) });
/// assert_eq!(session.name.len(), 60);
/// ```
///
/// The type is that of the calling thread, from the call of `f` until it returns or unwinds. An inner scope
/// counts before an outer one. A thread that `f` starts is in no scope, nor is a future that it makes and
/// somebody else polls: put the scope around what a poll does, and not across an `await`. A signal handler
/// that runs meanwhile is in the scope too; it may have scopes of its own. A coroutine that is left in the
/// middle of a scope leaves its thread in it.
///
/// A scope allocates nothing, and is some ten instructions where no trace is made. In a trace it costs a look into
/// a table of names, once for each scope that allocates, some ten nanoseconds. A trace keeps 1,024 bytes of a
/// name, and 4 MiB of all names, each taking a multiple of 64 bytes; what has no room is recorded without its type, and counted.
#[inline]
pub fn typed<T: ?Sized, R>(f: impl FnOnce() -> R) -> R {
    type_name(core::any::type_name::<T>(), f)
}

/// As [`typed`], for what has no type of its own, or another name than its type.
///
/// ```
/// let rows = slabscope::type_name("rows of the price table", || vec![0_u64; 1000]);
/// assert_eq!(rows.len(), 1000);
/// ```
///
/// An empty name takes what was declared outside back: in such a scope types are found out as ever. The name
/// may be any text; what control characters it has, reports show as escapes.
#[inline]
pub fn type_name<R>(name: &'static str, f: impl FnOnce() -> R) -> R {
    let _scope = Scope(tls::with(|thread| thread.declared.enter(name)));
    f()
}

/// A scope that ends as this is dropped. It looks its thread up anew then: a coroutine may have gone on in
/// another.
struct Scope(Outer);

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        tls::with(|thread| thread.declared.restore(self.0));
    }
}
