//! What stands below the help of the commands that answer one question each.

pub(super) const PEAK: &str = "\
The peak is the first moment at which the most bytes of slots were live. With
--from and --to, it is the peak of that part.

Examples:
  slabscope peak app.1234.trace
  slabscope peak app.1234.trace --from 2s --to 3s
  slabscope peak app.1234.trace --json | jq '.peak.sites[0]'";

pub(super) const LEAKS: &str = "\
Not all that is live at the end is leaked. 'young' was allocated in the last
fifth of the time and may yet be freed; 'old' was allocated in the first half,
or before. 'by tenth' has a digit for what was there before, and after the bar
one for each tenth of the time: how much of what is left was allocated in it,
'.' for nothing and 9 for the most. A row with digits all along keeps growing.

To see what a phase of a program leaves, give that phase with --from and --to.

Examples:
  slabscope leaks app.1234.trace
  slabscope leaks app.1234.trace --from 1m --to 5m
  slabscope leaks app.1234.trace --json | jq '.leaks.growth[].live.bytes'";

pub(super) const TEMPORARY: &str = "\
An object counts when the thread that allocated it frees it soon. Often it could
be spared: by reusing a buffer, by reserving before a vector grows, by
borrowing. A realloc is a free and an alloc, so growing vectors show here too.

Examples:
  slabscope temporary app.1234.trace
  slabscope temporary app.1234.trace --within 1
  slabscope temporary app.1234.trace --within 10us";

pub(super) const SIZES: &str = "\
Slack is the part of a slot that nobody asked for. Traces of Go tell slots only.

Examples:
  slabscope sizes app.1234.trace
  slabscope sizes app.1234.trace --all
  slabscope sizes app.1234.trace --json | jq '.sizes.sizes[0].slack_bytes'";

pub(super) const SITES: &str = "\
A site is a call stack, or a size and an alignment where the trace has no
stacks; in traces of Go it is a type. 'half' is the time that half of its freed
objects lived no longer than, to a power of two. Below the table, '>' marks
functions of the program's own sources.

With --by, a row is all stacks whose innermost function of the program's own
sources is the same, or in the same line, file or module. Where a stack has
none, it is the innermost outside of the standard library, as with --by crate.

Examples:
  slabscope sites app.1234.trace
  slabscope sites app.1234.trace --by function
  slabscope sites app.1234.trace --json | jq '.sites.sites[] | .max_bytes'";

pub(super) const TYPES: &str = "\
The type is the one that owns the memory: Vec<T>, String, Box<T>, HashMap<K, V>.
It is told from the functions that asked for the memory, so the trace needs call
stacks. Types marked '~' are likely, those marked '?' a guess: see 'sure' in the
documentation. 'slack' is what slots have that nobody asked for.

Examples:
  slabscope types app.1234.trace
  slabscope types app.1234.trace --json | jq '.types.coverage'";

pub(super) const THREADS: &str = "\
A row of the second table is who allocated, a column who freed. Objects that one
thread allocates and another frees cost more in every allocator.

Examples:
  slabscope threads app.1234.trace
  slabscope threads app.1234.trace --json | jq '.threads.pairs[0]'";

pub(super) const SPANS: &str = "\
A span is a run of pages with slots of one size; a single object in it keeps
all its pages. The columns 1 to 10 count spans that are in use up to so many
tenths. 'would free' is what moving the objects of a class together would give
back.

The spans are those at the end. To see them at another moment, give it as --to:
'slabscope peak' names one.

Examples:
  slabscope spans app.1234.trace
  slabscope spans app.1234.trace --to 1.5s --below 10";

pub(super) const DIFF: &str = "\
Sites are the same when they say the same, whatever their number. --from and
--to hold for both traces.

Examples:
  slabscope diff before.trace after.trace
  slabscope diff before.trace after.trace --json | jq '.diff.sites[0]'";

pub(super) const FLAMEGRAPH: &str = "\
Frames are the call stack and then the site, where the trace has stacks. Where
it has none they are site, size class and thread.

Examples:
  slabscope flamegraph app.1234.trace -o bytes.svg
  slabscope flamegraph app.1234.trace --weight peak -o peak.svg";

pub(super) const EXPORT: &str = "\
Forms:
  collapsed  a line for each stack, for flame graph tools and speedscope
  firefox    for profiler.firefox.com: memory over time, allocations by stack
  jsonl      a line of JSON for each allocation and free
  pprof      for 'go tool pprof', compressed

Examples:
  slabscope export app.1234.trace --format pprof -o app.pb.gz
  go tool pprof -http=: app.pb.gz
  slabscope export app.1234.trace --format collapsed --weight peak
  slabscope export app.1234.trace --format jsonl | head";

pub(super) const MAN: &str = "\
Examples:
  slabscope man --dir ~/.local/share/man/man1
  slabscope man | man -l -";

pub(super) const COMPLETIONS: &str = "\
Examples:
  slabscope completions bash > /etc/bash_completion.d/slabscope
  slabscope completions zsh > ~/.zfunc/_slabscope
  slabscope completions fish > ~/.config/fish/completions/slabscope.fish";
