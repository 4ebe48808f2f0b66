//! What sites, size classes and threads are called.

use slabscope_analysis::{ClassLabel, Frame, SiteLabel, ThreadLabel};

use super::{bytes, count};

/// A site in one line: the function and the type, or what was asked for.
pub(crate) fn site(site: &SiteLabel) -> String {
    match (Frame::telling(&site.stack), &site.type_name) {
        (Some(frame), Some(name)) => format!("{name} in {}", function(frame)),
        _ => whole_site(site),
    }
}

/// All that is known of a site but its stack.
pub(crate) fn whole_site(site: &SiteLabel) -> String {
    let asked = asked(site);
    match Frame::telling(&site.stack) {
        Some(frame) => match asked {
            Some(asked) => format!("{asked} in {}", function(frame)),
            None => function(frame),
        },
        None => asked.unwrap_or_else(|| "not known".to_owned()),
    }
}

/// The function of a frame.
pub(crate) fn function(frame: &Frame) -> String {
    if frame.function.is_empty() { "[no name]".to_owned() } else { frame.function.to_string() }
}

/// The file and line of a frame, as short as they still tell.
pub(crate) fn place(frame: &Frame) -> String {
    if frame.file.is_empty() {
        return String::new();
    }
    let mut parts = frame.file.rsplit('/');
    let (file, directory) = (parts.next().unwrap_or_default(), parts.next());
    match directory {
        Some(directory) => format!("{directory}/{file}:{}", frame.line),
        None => format!("{file}:{}", frame.line),
    }
}

/// A source file from its crate's directory on.
pub(crate) fn file(path: &str) -> &str {
    let sources = ["/src/", "/tests/", "/examples/", "/benches/"];
    let inside = sources.iter().filter_map(|part| path.rfind(part)).max();
    let start = inside.and_then(|at| path[..at].rfind('/')).map_or(0, |at| at + 1);
    &path[start..]
}

/// The type, or what was asked for.
pub(crate) fn asked(site: &SiteLabel) -> Option<String> {
    let size = site.size.map(|size| match site.align {
        Some(align) => format!("{} B, align {align}", count(size)),
        None => format!("{} B", count(size)),
    });
    match (&site.type_name, size) {
        (Some(name), Some(size)) => Some(format!("{name}, {size}")),
        (Some(name), None) => Some(name.to_string()),
        (None, size) => size,
    }
}

/// The slot size of a class.
pub(crate) fn class(class: &ClassLabel) -> String {
    match (class.class, class.slot_bytes) {
        (_, Some(size)) => count(size),
        (Some(_), None) => "large".to_owned(),
        (None, None) => "no slot".to_owned(),
    }
}

/// A thread's number and name.
pub(crate) fn thread(thread: &ThreadLabel) -> String {
    match (thread.thread, thread.name.as_str()) {
        (None, _) => "before the trace".to_owned(),
        (Some(id), "") => id.to_string(),
        (Some(id), name) => format!("{id} {name}"),
    }
}

/// The slot size of a class, with its unit.
pub(crate) fn slot(class: &ClassLabel) -> String {
    match (class.class, class.slot_bytes) {
        (_, Some(size)) => format!("slot of {}", bytes(size)),
        (Some(_), None) => "large object".to_owned(),
        (None, None) => "no slot".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_site_is_called_by_the_best_that_is_known() {
        let mut label = SiteLabel::default();
        assert_eq!(site(&label), "not known");
        label.size = Some(4096);
        label.align = Some(8);
        assert_eq!(site(&label), "4,096 B, align 8");
        label.type_name = Some("Order".into());
        assert_eq!(site(&label), "Order, 4,096 B, align 8");
        let frame =
            |function: &str| Arc::new(Frame { function: function.into(), ..Frame::default() });
        label.stack = vec![frame(""), frame("app::parse"), frame("main")];
        assert_eq!(site(&label), "Order in app::parse");
        assert_eq!(whole_site(&label), "Order, 4,096 B, align 8 in app::parse");
        let label = SiteLabel { stack: label.stack, ..SiteLabel::default() };
        assert_eq!(site(&label), "app::parse");
    }

    #[test]
    fn files_are_told_by_their_crate_on() {
        assert_eq!(file("/x/registry/src/index-1/syn-3.0/src/a/b.rs"), "syn-3.0/src/a/b.rs");
        assert_eq!((file("/src/main.rs"), file("a.c")), ("/src/main.rs", "a.c"));
    }

    #[test]
    fn threads_and_classes_have_a_name_for_nothing() {
        assert_eq!(thread(&ThreadLabel::default()), "before the trace");
        let label = ThreadLabel { thread: Some(7), name: "main".to_owned() };
        assert_eq!(thread(&label), "7 main");
        assert_eq!(class(&ClassLabel { class: Some(0), slot_bytes: None }), "large");
        assert_eq!(slot(&ClassLabel { class: Some(9), slot_bytes: Some(2048) }), "slot of 2.0 KiB");
    }
}
