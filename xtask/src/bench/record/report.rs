//! What was measured, as a table and as JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::Added;
use super::case::{ONE_THREAD, TWO_THREADS};
use super::peer::{Against, DHAT, HEAPSCOPE, HEAPTRACK};
use crate::bench::measure::{median, spread};

/// The mode that others are compared with.
const PLAIN: &str = "none";

/// The tables.
pub(crate) fn text(added: &[Added], against: &[Against]) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<20}{:>9}{:>11}{:>6}{:>13}{:>13}{:>9}",
        "", "events/M", "added ns", "+-", "bytes/event", "M events/s", "end ms"
    );
    for one in added {
        let by_round = one.by_round();
        let _ = writeln!(
            text,
            "{:<20}{:>9.1}{:>11.1}{:>6.1}{:>13.2}{:>13.1}{:>9.1}",
            key(one),
            one.median_of(|run| run.events as f64) / 1e6,
            median(by_round.clone()),
            spread(by_round),
            bytes_per_event(one),
            events_per_second(one) / 1e6,
            one.median_of(|run| run.end_nanos as f64) / 1e6,
        );
    }
    for one in added.iter().filter(|one| one.mode.may_lose) {
        let _ = writeln!(text, "{:<29}{:>11.2} % of the events lost", key(one), 100.0 * lost(one));
    }
    stacks_text(added, &mut text);
    if let Some(scaling) = scaling(added) {
        let _ = writeln!(text, "\ntwo threads, each against one alone: {scaling:.2}");
    }
    if !against.is_empty() {
        let _ = writeln!(text, "\nAdded by others, against what ours adds without stacks:");
    }
    for one in against {
        let ours = of(added, one.case).map_or(f64::NAN, Added::nanos);
        let _ = writeln!(
            text,
            "{:<20}{:>9.0} ms{:>9.0} ms{:>9.1} times",
            format!("{} {}", one.peer, one.case),
            one.added_nanos / 1e6,
            ours / 1e6,
            one.added_nanos / ours
        );
    }
    text
}

/// What call stacks add, where they were measured beside the same without.
fn stacks_text(added: &[Added], text: &mut String) {
    let by_round = |one: &Added| Some(one.stacks_by_round(one.without_stacks(added)?));
    let mut found = added.iter().filter_map(|one| Some((one, by_round(one)?))).peekable();
    if found.peek().is_some() {
        let _ = writeln!(text, "\nAdded to each alloc event by its call stack, ns:");
    }
    for (one, by_round) in found {
        let (middle, spread) = (median(by_round.clone()), spread(by_round));
        let _ = writeln!(text, "{:<29}{middle:>11.1}{spread:>6.1}", key(one));
    }
}

/// The same for machines.
pub(crate) fn json(added: &[Added], against: &[Against]) -> String {
    let ratio = |one: &Against| of(added, one.case).map(|ours| one.added_nanos / ours.nanos());
    let of_peer = |name| against.iter().filter(move |one| one.peer == name);
    let by_key = |value: &dyn Fn(&Added) -> f64| -> Map<String, Value> {
        added.iter().map(|one| (key(one), json!(value(one)))).collect()
    };
    let heaptrack: Map<String, Value> =
        of_peer(HEAPTRACK).map(|one| (one.case.to_owned(), json!(ratio(one)))).collect();
    let single = |name| of_peer(name).find_map(ratio);
    let plain = || added.iter().filter(|one| one.mode.name == PLAIN);
    let stacks: Map<String, Value> = added
        .iter()
        .filter_map(|one| {
            let added = median(one.stacks_by_round(one.without_stacks(added)?));
            Some((key(one), json!(added)))
        })
        .collect();
    let losing: Map<String, Value> = added
        .iter()
        .filter(|one| one.mode.may_lose)
        .map(|one| (key(one), json!(lost(one))))
        .collect();
    let all = json!({
        "added_ns_per_alloc_by_stacks": stacks,
        "added_ns_per_event": by_key(&|one| median(one.by_round())),
        "added_ns_per_event_spread": by_key(&|one| spread(one.by_round())),
        "scaling_2_threads": scaling(added),
        "bytes_per_event": plain().map(bytes_per_event).fold(0.0, f64::max),
        "bytes_per_event_by_workload": by_key(&bytes_per_event),
        "added_time_heaptrack_over_ours": heaptrack,
        "added_time_dhat_over_ours": single(DHAT),
        "added_time_heapscope_over_ours": single(HEAPSCOPE),
        "lost_share": losing,
        "events_per_s_sustained": plain().map(events_per_second).fold(0.0, f64::max),
        "events_per_s_by_workload": by_key(&events_per_second),
    });
    format!("{all:#}\n")
}

fn of<'a>(added: &'a [Added], case: &str) -> Option<&'a Added> {
    added.iter().find(|one| one.case.key == case && one.mode.name == PLAIN)
}

/// What an event costs each of two threads against what it costs one alone.
fn scaling(added: &[Added]) -> Option<f64> {
    let cost = |case| Some(median(of(added, case)?.by_round()));
    Some(cost(TWO_THREADS)? / cost(ONE_THREAD)?)
}

/// What the results call it.
fn key(one: &Added) -> String {
    format!("{}/{}", one.case.key, one.mode.name)
}

/// The share of the events that is not in the trace.
fn lost(added: &Added) -> f64 {
    added.median_of(|run| run.lost as f64 / run.events.max(1) as f64)
}

fn bytes_per_event(added: &Added) -> f64 {
    added.median_of(|run| run.bytes as f64 / run.events.max(1) as f64)
}

/// Over the whole run, until the trace is in the file.
fn events_per_second(added: &Added) -> f64 {
    added.median_of(|run| run.events as f64 / (run.nanos + run.end_nanos).max(1) as f64 * 1e9)
}

#[cfg(test)]
mod tests {
    use super::super::case::{CASES, MODES, Run};
    use super::*;

    fn added(key: &str, untraced: u64, traced: u64) -> Added {
        added_in(0, key, untraced, traced)
    }

    fn added_in(mode: usize, key: &str, untraced: u64, traced: u64) -> Added {
        let case = CASES.iter().find(|case| case.key == key).unwrap();
        let run = |nanos| Run {
            checksum: 1,
            nanos,
            each: 0,
            events: 100 * u64::from(case.threads),
            lost: 0,
            bytes: 650,
            end_nanos: 0,
        };
        Added { case, mode: &MODES[mode], untraced: vec![run(untraced)], traced: vec![run(traced)] }
    }

    #[test]
    fn what_is_added_to_each_event_and_what_others_add() {
        let all =
            [added("json", 1000, 1800), added(ONE_THREAD, 0, 400), added(TWO_THREADS, 0, 500)];
        let against = [Against { peer: HEAPTRACK, case: "json", added_nanos: 16_000.0 }];
        let value: Value = serde_json::from_str(&json(&all, &against)).unwrap();
        assert_eq!(value["added_ns_per_event"]["json/none"], 8.0);
        // Each of the two threads has half of the events.
        assert_eq!(value["added_ns_per_event"]["two_threads/none"], 5.0);
        assert_eq!(value["scaling_2_threads"], 1.25);
        assert_eq!(value["bytes_per_event"], 6.5);
        assert_eq!(value["added_time_heaptrack_over_ours"]["json"], 20.0);
        assert_eq!(value["added_time_dhat_over_ours"], Value::Null);
        assert_eq!(value["added_ns_per_alloc_by_stacks"], json!({}));
        let text = text(&all, &against);
        assert!(!text.contains("call stack"), "{text}");
        assert!(text.contains("20.0 times"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 81), "{text}");
    }

    #[test]
    fn stacks_are_held_against_the_same_build_without() {
        let all = [
            added_in(0, "json", 1000, 1800),
            added_in(1, "json", 1000, 6800),
            added_in(2, "json", 1100, 2100),
            added_in(3, "json", 1100, 4100),
            added_in(3, "syn", 1100, 4100),
        ];
        let value: Value = serde_json::from_str(&json(&all, &[])).unwrap();
        let expected = json!({ "json/tables_16": 100.0, "json/fp_16": 40.0 });
        assert_eq!(value["added_ns_per_alloc_by_stacks"], expected);
        let text = text(&all, &[]);
        assert!(text.lines().any(|line| line.ends_with("40.0   0.0")), "{text}");
    }
}
