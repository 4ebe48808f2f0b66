//! What exists at the moment a trace begins, as events.

use slabscope_heap::Existing;
use slabscope_record::Session;
use slabscope_wire::alloc_free::stack_order;

use crate::safepoint::World;
use crate::tls::{self, Thread};
use crate::traced::{kindclass, object_id};
use crate::{HEAP, session, stack};

/// Emits everything that exists, as the calling thread's events: spans with their objects, stacks
/// from the heap, stacks of threads. `false` when there is no memory to find out what exists.
///
/// The world is stopped, so each object is either here or has its alloc event, and never both.
pub(crate) fn write(world: &World, session: &Session, epoch: u32) -> bool {
    tls::with(|thread| write_as(thread, world, session, epoch))
}

fn write_as(thread: &Thread, world: &World, session: &Session, epoch: u32) -> bool {
    let mut emitter = session::enter(session, thread, epoch).patiently();
    let mut live = 0;
    // SAFETY: the world is stopped, so nobody touches these caches (invariant 2).
    let caches = world.threads().map(|thread| unsafe { &*thread.cache() });
    let shown = HEAP.snapshot(caches, |existing| match existing {
        Existing::Span(span) => {
            emitter.span_exists(span.page as u64, span.pages as u64, kindclass(span.kind));
        }
        Existing::Object { address, slot } => {
            live += slot as u64;
            emitter.object_exists(object_id(address));
        }
        Existing::Stack(memory) => {
            emitter.stack_exists(stack::id(&memory), stack_order(memory.size as u64));
        }
    });
    session.set_live_at_start(live);
    for thread in world.threads() {
        if let Some((id, order)) = session::stack_of(thread) {
            thread.stack_epoch.set(epoch);
            emitter.stack_exists(id, order);
        }
    }
    shown
}
