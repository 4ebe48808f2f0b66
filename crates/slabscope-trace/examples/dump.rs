//! Prints the events of a trace: `dump FILE`, or its records as they stand: `dump --wire FILE`.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use slabscope_trace::{Reader, dump};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = args.last() else {
        eprintln!("dump: which file?");
        return ExitCode::from(2);
    };
    match print(path, args.len() > 1) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("dump: {path}: {error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("dump: {path}: {error}");
            ExitCode::from(2)
        }
    }
}

fn print(path: &str, wire: bool) -> io::Result<Result<(), slabscope_trace::Error>> {
    let bytes = std::fs::read(path)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if wire {
        return dump::wire(&bytes[..], &mut out);
    }
    let reader = match Reader::new(&bytes) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error)),
    };
    for event in reader {
        match event {
            Ok(event) => dump::parsed(&event, &mut out)?,
            Err(error) => {
                out.flush()?;
                return Ok(Err(error));
            }
        }
    }
    out.flush()?;
    Ok(Ok(()))
}
