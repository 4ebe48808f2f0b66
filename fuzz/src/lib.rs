//! What the fuzz targets do with their bytes: a file for each crate that is tested, whose tests take
//! it in too.

pub mod index;
pub mod recovery;
pub mod trace;
