//! `slabscope verify`: whether a trace holds together.

use std::io::{BufWriter, Write, stdout};

use serde::Serialize;
use slabscope_analysis::Verification;

use crate::args::VerifyArgs;
use crate::exit_code::Outcome;
use crate::failure::Failure;
use crate::{json, report, text};

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome, Failure> {
    let report = report::replay(&args.file, args.window)?;
    let verification = report.verify();
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        let verify = Answer { is_sound: verification.is_sound(), verification: &verification };
        json::write(&args.file, &report.account(), &Named { verify }, &mut out)?;
    } else {
        text::verify::write(&args.file, &verification, &mut out)?;
    }
    out.flush()?;
    Ok(Outcome::finding_if(!verification.is_sound()))
}

#[derive(Serialize)]
struct Named<'a> {
    verify: Answer<'a>,
}

/// The verification, with the verdict that follows from it.
#[derive(Serialize)]
struct Answer<'a> {
    is_sound: bool,
    #[serde(flatten)]
    verification: &'a Verification,
}
