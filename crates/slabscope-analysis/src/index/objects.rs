//! What happened to objects in a part of a trace, read from near that part on.

use std::io::{Read, Seek};

use super::IndexError;
use super::file::Index;
use super::resume::{Opens, before};
use crate::error::AnalyzeError;
use crate::objects::{Each, Teller, each_object, tell};
use crate::report::Account;
use crate::window::{Limits, Window};

impl<F: Read + Seek> Index<F> {
    /// Tells `each` what [`crate::each_object`] would, of which the results are. `open` opens the trace
    /// from a place on, or from its start.
    ///
    /// # Errors
    /// When the index is of no use for that; nothing was told then, and the trace is to be read without
    /// it.
    pub fn each_object(
        &mut self,
        window: Window,
        symbols: slabscope_symbols::Options,
        open: &mut Opens<'_>,
        each: &mut Each<'_>,
    ) -> Result<Result<Account, AnalyzeError>, IndexError> {
        let (tables, end) = (self.tables()?, self.end()?);
        let Some(limits) = Limits::new(window, &end.clock()) else {
            return Ok(Err(AnalyzeError::NoWallClock));
        };
        let number = limits.from.map_or(0, |from| before(&self.root.segments, from));
        let trace = self.trace(number, open)?;
        if number == 0 {
            return Ok(each_object(trace, window, symbols, each));
        }
        let stood = self.stood(self.segment(number)?.stand.ok_or(IndexError::Damaged)?)?;
        let cells = tables.keys.cells.get(..stood.standing.cells()).ok_or(IndexError::Damaged)?;
        let known = cells.iter().map(|(key, _)| key.site).collect();
        let teller = Teller::new(window, symbols, known, each);
        let replay = stood.replay(&tables, window, limits, teller).ok_or(IndexError::Damaged)?;
        Ok(tell(replay, trace))
    }
}
