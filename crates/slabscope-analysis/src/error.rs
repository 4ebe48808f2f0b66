//! Why a trace could not be analysed at all.

use std::fmt;

use slabscope_trace::Error;

use crate::moment::Moment;

/// Why a trace could not be analysed at all.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnalyzeError {
    /// It does not begin as a trace that can be read.
    Trace(Error),
    /// A moment was given by the wall clock, and the trace does not tell that.
    NoWallClock,
    /// The part asked for begins after the trace's end.
    BehindEnd {
        /// The last event of the trace.
        end: Moment,
    },
}

impl From<Error> for AnalyzeError {
    fn from(error: Error) -> Self {
        AnalyzeError::Trace(error)
    }
}

impl fmt::Display for AnalyzeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnalyzeError::Trace(error) => error.fmt(f),
            AnalyzeError::NoWallClock => f.write_str("the trace does not tell the time of day"),
            AnalyzeError::BehindEnd { end } => {
                let seconds = end.since_start_ns as f64 / 1e9;
                write!(f, "the trace ends {seconds:.3} s after its start")
            }
        }
    }
}

impl std::error::Error for AnalyzeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AnalyzeError::Trace(error) => Some(error),
            AnalyzeError::NoWallClock | AnalyzeError::BehindEnd { .. } => None,
        }
    }
}
