//! A profile for Firefox Profiler: memory over time, and allocations by stack.

use std::io::Write;

use fx::{CategoryHandle, Frame, FrameFlags, FrameInfo, ReferenceTimestamp, SamplingInterval};
use fx::{
    MarkerTiming, ProcessHandle, StaticSchemaMarker, StaticSchemaMarkerField, StringHandle,
    Timestamp,
};
use fxprof_processed_profile as fx;
use slabscope_analysis::{Measure, Point, Profile};

use super::collapsed::frames;
use super::{Export, Made, Source};
use crate::failure::Failure;

/// The form.
pub(super) struct Firefox;

impl Export for Firefox {
    fn name(&self) -> &'static str {
        "firefox"
    }

    fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Made, Failure> {
        let (profile, ended) = source.profile()?;
        let name = source.path.file_name().unwrap_or(source.path.as_os_str()).to_string_lossy();
        let made = make(&profile, &name, source.weight.into());
        serde_json::to_writer(&mut *out, &made).map_err(std::io::Error::from)?;
        writeln!(out)?;
        Ok(ended)
    }
}

fn make(profile: &Profile, name: &str, measure: Measure) -> fx::Profile {
    let unix_ms = profile.tracing.start.unix_ns.unwrap_or(0) as f64 / 1e6;
    let reference = ReferenceTimestamp::from_millis_since_unix_epoch(unix_ms);
    let mut made = fx::Profile::new(name, reference, SamplingInterval::from_millis(1));
    let build = |key| profile.tracing.build.get(key).and_then(|text| text.parse().ok());
    let (begin, end) =
        (time(profile.part.from.since_start_ns), time(profile.part.to.since_start_ns));
    let process = made.add_process(name, build("pid").unwrap_or(0), begin);
    made.set_process_end_time(process, end);
    let thread = made.add_thread(process, 0, begin, true);
    made.set_thread_name(thread, "allocations");
    made.set_thread_end_time(thread, end);
    made.set_symbolicated(true);
    let name = made.intern_string("part of the trace");
    made.add_marker(thread, MarkerTiming::Interval(begin, end), Whole { name });
    memory(&profile.timeline, process, &mut made);
    for (address, folded) in (1..).zip(profile.stacks()) {
        let weight = i64::try_from(folded.weight(measure)).unwrap_or(i64::MAX);
        if weight == 0 {
            continue;
        }
        let mut stack = None;
        for frame in frames(&folded) {
            let frame = FrameInfo {
                frame: Frame::Label(made.intern_string(&frame)),
                category_pair: CategoryHandle::OTHER.into(),
                flags: FrameFlags::empty(),
            };
            let frame = made.intern_frame(thread, frame);
            stack = Some(made.intern_stack(thread, stack, frame));
        }
        made.add_allocation_sample(thread, end, stack, address, weight);
    }
    made
}

/// Lasts from the first moment to the last. The Profiler shows no more time than markers and samples have,
/// and cuts the memory to that.
struct Whole {
    name: StringHandle,
}

impl StaticSchemaMarker for Whole {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "part";
    const FIELDS: &'static [StaticSchemaMarkerField] = &[];

    fn name(&self, _: &mut fx::Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut fx::Profile) -> CategoryHandle {
        CategoryHandle::OTHER
    }

    /// It has no fields.
    fn string_field_value(&self, _: u32) -> StringHandle {
        self.name
    }

    /// It has no fields.
    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

/// What was live over time, as the changes from moment to moment.
fn memory(points: &[Point], process: ProcessHandle, made: &mut fx::Profile) {
    let counter = made.add_counter(process, "malloc", "Memory", "Bytes of slots in use");
    let mut last = 0;
    for point in points {
        let live = point.live.bytes;
        let more = live as f64 - last as f64;
        made.add_counter_sample(counter, time(point.at_ns), more, 0);
        last = live;
    }
}

fn time(since_start_ns: i64) -> Timestamp {
    Timestamp::from_nanos_since_reference(u64::try_from(since_start_ns).unwrap_or(0))
}
