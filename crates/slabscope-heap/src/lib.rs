//! The slabscope heap: size classes, spans, page heap, thread caches, stacks.
