//! pprof: the form of Go's heap profiles, with the same sample types and a few more.

mod proto;

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use slabscope_analysis::{Folded, Frame, Profile};

use super::{Export, Made, Source};
use crate::failure::Failure;
use crate::text::label;

/// The form.
pub(super) struct Pprof;

impl Export for Pprof {
    fn name(&self) -> &'static str {
        "pprof"
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Made, Failure> {
        let (profile, made) = source.profile()?;
        let mut compressed = GzEncoder::new(out, Compression::default());
        compressed.write_all(&make(&profile).encode_to_vec())?;
        compressed.finish()?;
        Ok(made)
    }
}

const OBJECTS: &str = "count";
const BYTES: &str = "bytes";

/// What each sample tells, in the order of its values.
const TYPES: [(&str, &str); 7] = [
    ("alloc_objects", OBJECTS),
    ("alloc_space", BYTES),
    ("inuse_objects", OBJECTS),
    ("inuse_space", BYTES),
    ("peak_objects", OBJECTS),
    ("peak_space", BYTES),
    ("temporary_objects", OBJECTS),
];

fn make(profile: &Profile) -> proto::Profile {
    let mut tables = Tables::default();
    tables.string("");
    let sample_type = TYPES.map(|(kind, unit)| tables.value_type(kind, unit)).to_vec();
    let sample = profile.stacks().map(|folded| tables.sample(&folded)).collect();
    let period_type = Some(tables.value_type("space", BYTES));
    let default_sample_type = tables.string("alloc_space");
    let part = &profile.part;
    proto::Profile {
        sample_type,
        sample,
        time_nanos: part.from.unix_ns.unwrap_or(0),
        duration_nanos: part.to.since_start_ns - part.from.since_start_ns,
        period_type,
        // Every allocation is there.
        period: 1,
        default_sample_type,
        location: tables.locations,
        function: tables.functions,
        string_table: tables.strings,
    }
}

/// What samples name by number.
#[derive(Default)]
struct Tables {
    strings: Vec<String>,
    by_string: HashMap<String, i64>,
    functions: Vec<proto::Function>,
    by_function: HashMap<(i64, i64), u64>,
    locations: Vec<proto::Location>,
    by_location: HashMap<(u64, i64), u64>,
}

impl Tables {
    fn string(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.by_string.get(text) {
            return number;
        }
        let number = self.strings.len() as i64;
        self.strings.push(text.to_owned());
        self.by_string.insert(text.to_owned(), number);
        number
    }

    fn value_type(&mut self, kind: &str, unit: &str) -> proto::ValueType {
        proto::ValueType { kind: self.string(kind), unit: self.string(unit) }
    }

    fn location(&mut self, frame: &Frame) -> u64 {
        let (name, file) = (self.string(&frame.function), self.string(&frame.file));
        let next = self.functions.len() as u64 + 1;
        let function = *self.by_function.entry((name, file)).or_insert(next);
        if function == next {
            let system_name = name;
            self.functions.push(proto::Function { id: next, name, system_name, filename: file });
        }
        let line = i64::try_from(frame.line).unwrap_or(0);
        let next = self.locations.len() as u64 + 1;
        let location = *self.by_location.entry((function, line)).or_insert(next);
        if location == next {
            let line = vec![proto::Line { function_id: function, line }];
            self.locations.push(proto::Location { id: next, line });
        }
        location
    }

    fn sample(&mut self, folded: &Folded) -> proto::Sample {
        let stack = &folded.site.stack;
        let location_id = if stack.is_empty() {
            // The thread is a label, and need not be a frame.
            let asked = label::asked(&folded.site).unwrap_or_else(|| "not known".to_owned());
            let names = [asked, label::slot(&folded.class)];
            let named = |function: String| Frame { function: function.into(), ..Frame::default() };
            names.map(|name| self.location(&named(name))).to_vec()
        } else {
            stack.iter().map(|frame| self.location(frame)).collect()
        };
        let Folded { allocated, live, at_peak, temporary, .. } = folded;
        let value = [
            allocated.objects,
            allocated.bytes,
            live.objects,
            live.bytes,
            at_peak.objects,
            at_peak.bytes,
            temporary.objects,
        ];
        let value = value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)).to_vec();
        proto::Sample { location_id, value, label: self.labels(folded) }
    }

    fn labels(&mut self, folded: &Folded) -> Vec<proto::Label> {
        let mut labels = vec![proto::Label {
            key: self.string("thread"),
            str: self.string(&label::thread(&folded.thread)),
            ..proto::Label::default()
        }];
        let sizes = [("bytes", folded.class.slot_bytes), ("requested", folded.site.size)];
        for (key, size) in sizes {
            if let Some(num) = size.and_then(|size| i64::try_from(size).ok()) {
                let (key, num_unit) = (self.string(key), self.string(BYTES));
                labels.push(proto::Label { key, num, num_unit, ..proto::Label::default() });
            }
        }
        if let Some(name) = &folded.site.type_name {
            let (key, str) = (self.string("type"), self.string(name));
            labels.push(proto::Label { key, str, ..proto::Label::default() });
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use slabscope_analysis::{Amount, ClassLabel, SiteLabel, ThreadLabel};

    fn folded(stack: &[&str], bytes: u64) -> Folded {
        let frame = |&function: &&str| Frame { function: function.into(), ..Frame::default() };
        let stack = stack.iter().map(|function| Arc::new(frame(function))).collect();
        let amount = Amount { objects: 1, bytes };
        Folded {
            site: SiteLabel { size: Some(40), align: Some(8), stack, ..SiteLabel::default() },
            class: ClassLabel { class: Some(5), slot_bytes: Some(48) },
            thread: ThreadLabel::default(),
            existed: amount,
            allocated: amount,
            temporary: amount,
            at_peak: amount,
            live: amount,
        }
    }

    #[test]
    fn stacks_share_their_places() {
        let mut tables = Tables::default();
        tables.string("");
        let one = tables.sample(&folded(&["push", "main"], 48));
        let other = tables.sample(&folded(&["pop", "main"], 48));
        assert_eq!((one.location_id, other.location_id), (vec![1, 2], vec![3, 2]));
        assert_eq!(one.value, [1, 48, 1, 48, 1, 48, 1]);
        assert_eq!(one.value.len(), TYPES.len());
        let names: Vec<_> =
            tables.functions.iter().map(|f| &tables.strings[f.name as usize]).collect();
        assert_eq!(names, ["push", "main", "pop"]);
        let bare = tables.sample(&folded(&[], u64::MAX));
        assert_eq!((bare.location_id.len(), bare.value[1]), (2, i64::MAX));
    }
}
