//! `slabscope flamegraph`: a picture of where memory comes from, or the tree it shows.

mod tree;

use std::io::Write;
use std::path::Path;

use inferno::flamegraph::{self, Options};

use crate::args::{FlamegraphArgs, Weight};
use crate::exit_code::Outcome;
use crate::explain;
use crate::export::collapsed;
use crate::failure::Failure;
use crate::text::escape;
use crate::{json, output};

use tree::Tree;

#[derive(serde::Serialize)]
struct Answer {
    flamegraph: Tree,
}

pub(crate) fn run(args: &FlamegraphArgs) -> Result<Outcome, Failure> {
    let options = explain::options(args.window, &args.symbols)?;
    let profile = explain::make(&args.file, &options, args.window)?;
    if args.json {
        let answer = Answer { flamegraph: Tree::new(&profile, args.weight) };
        let account = profile.account();
        let write = |out: &mut dyn Write| Ok(json::write(&args.file, &account, &answer, out)?);
        output::write(args.out.as_deref(), write)?;
        return Ok(explain::say_trouble(&args.file, &profile));
    }
    let lines = collapsed::lines(&profile, args.weight);
    if lines.is_empty() {
        let advice = "there is nothing of that weight in it. Choose another --weight.";
        return Err(Failure::input(&args.file, advice));
    }
    let mut picture_options = picture(&args.file, args.weight);
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut picture_options, lines.iter().map(String::as_str), &mut svg)?;
    output::write(args.out.as_deref(), |out| Ok(out.write_all(&svg)?))?;
    Ok(explain::say_trouble(&args.file, &profile))
}

fn picture(path: &Path, weight: Weight) -> Options<'static> {
    let mut options = Options::default();
    let (what, unit) = match weight {
        Weight::Bytes => ("bytes allocated", "bytes"),
        Weight::Count => ("objects allocated", "objects"),
        Weight::Peak => ("bytes live at the peak", "bytes"),
        Weight::Leaked => ("bytes live at the end", "bytes"),
        Weight::Temporary => ("objects freed at once", "objects"),
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    options.title = format!("{}: {what}", escape(&name));
    options.count_name = unit.to_owned();
    options.factor = 1.0;
    options
}
