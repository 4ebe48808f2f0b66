//! Collapsed stacks: a line for each, frames from the outermost in, then a weight.

use std::collections::BTreeMap;
use std::io::Write;

use slabscope_analysis::{Folded, Measure, Profile};

use super::{Export, Made, Source};
use crate::args::Weight;
use crate::failure::Failure;
use crate::text::{escape, label};

/// The form.
pub(super) struct Collapsed;

impl Export for Collapsed {
    fn name(&self) -> &'static str {
        "collapsed"
    }

    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Made, Failure> {
        let (profile, made) = source.profile()?;
        for line in lines(&profile, source.weight) {
            writeln!(out, "{line}")?;
        }
        Ok(made)
    }
}

impl From<Weight> for Measure {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Bytes => Measure::Bytes,
            Weight::Count => Measure::Count,
            Weight::Peak => Measure::Peak,
            Weight::Leaked => Measure::Leaked,
            Weight::Temporary => Measure::Temporary,
        }
    }
}

/// The lines, those of no weight left out.
pub(crate) fn lines(profile: &Profile, weight: Weight) -> Vec<String> {
    let mut stacks = BTreeMap::<String, u64>::new();
    for folded in profile.stacks() {
        let weight = folded.weight(weight.into());
        if weight > 0 {
            let frames: Vec<_> = frames(&folded).iter().map(|frame| plain(frame)).collect();
            *stacks.entry(frames.join(";")).or_default() += weight;
        }
    }
    stacks.into_iter().map(|(frames, weight)| format!("{frames} {weight}")).collect()
}

/// The frames of some objects, outermost first: the stack and what was allocated there; without a
/// stack, what was allocated, in which slots, and by whom.
pub(crate) fn frames(folded: &Folded) -> Vec<String> {
    let site = &folded.site;
    let asked = label::asked(site).unwrap_or_else(|| "not known".to_owned());
    if site.stack.is_empty() {
        let thread = format!("thread {}", label::thread(&folded.thread));
        return vec![asked, label::slot(&folded.class), thread];
    }
    let functions = site.stack.iter().rev().map(|frame| match &*frame.function {
        "" => "[no name]".to_owned(),
        function => function.to_owned(),
    });
    functions.chain([asked]).collect()
}

/// A frame without what ends a frame or a line.
fn plain(frame: &str) -> String {
    escape(frame).replace(';', ",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use slabscope_analysis::{Amount, ClassLabel, Frame, SiteLabel, ThreadLabel};

    #[test]
    fn frames_go_from_the_outermost_in() {
        let frame =
            |function: &str| Arc::new(Frame { function: function.into(), ..Frame::default() });
        let mut folded = Folded {
            site: SiteLabel { size: Some(40), align: Some(8), ..SiteLabel::default() },
            class: ClassLabel { class: Some(5), slot_bytes: Some(48) },
            thread: ThreadLabel { thread: Some(7), name: "main".to_owned() },
            existed: Amount::default(),
            allocated: Amount::default(),
            temporary: Amount::default(),
            at_peak: Amount::default(),
            live: Amount::default(),
        };
        assert_eq!(frames(&folded), ["40 B, align 8", "slot of 48 B", "thread 7 main"]);
        folded.site.stack = vec![frame("push"), frame(""), frame("main")];
        assert_eq!(frames(&folded), ["main", "[no name]", "push", "40 B, align 8"]);
        assert_eq!(plain("a;b\nc"), "a,b\\nc");
    }
}
