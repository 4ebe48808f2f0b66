//! Text for people: numbers, times, tables, and names that cannot harm a terminal.

mod escape;
pub(crate) mod explain;
pub(crate) mod label;
mod number;
pub(crate) mod report;
mod shorten;
mod table;
pub(crate) mod verify;
mod wrap;

pub(crate) use escape::{Escaping, escape, is_unsafe};
pub(crate) use number::{
    bytes, count, duration, moment, percent, plural, short_time, signed_bytes, signed_count, wall,
};
pub(crate) use table::{Column, Table, WIDTH};
pub(crate) use wrap::wrap;
