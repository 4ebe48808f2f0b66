//! Being told of spans as they come and go.

use slabscope_wire::size_class::SizeClass;

/// What a span is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Objects of one size class, or one large object.
    Objects(SizeClass),
    /// A stack and its guard page.
    Stack,
}

/// A span: a run of pages with one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanInfo {
    /// Its first page, counted from the heap's base.
    pub page: usize,
    /// How many pages it has.
    pub pages: usize,
    /// What it is used for.
    pub kind: SpanKind,
}

/// Told of each span, by the thread whose operation makes or ends it, and never while that
/// operation holds a lock.
pub trait Observer {
    /// The span was allocated; nobody else knows of it yet.
    fn span_alloc(&mut self, span: SpanInfo);
    /// The span is about to be freed; all its objects were, and nobody else can get its pages yet.
    fn span_free(&mut self, span: SpanInfo);
}

/// Nobody wants to know.
impl Observer for () {
    #[inline]
    fn span_alloc(&mut self, _: SpanInfo) {}
    #[inline]
    fn span_free(&mut self, _: SpanInfo) {}
}
