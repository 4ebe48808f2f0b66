//! Times of a trace as plain numbers, for what is kept beside a trace.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use slabscope_trace::Time;

pub(crate) fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    time.0.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
    i64::deserialize(deserializer).map(Time)
}
