//! `slabscope man` and `slabscope completions`, made from the same definition as the help.

use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::exit_code::Outcome;
use crate::failure::Failure;

pub(crate) fn man(args: &ManArgs) -> Result<Outcome, Failure> {
    // As in the pages of a directory.
    let command = Args::command().disable_help_subcommand(true);
    match &args.dir {
        None => stdout().lock().write_all(&page(command)?)?,
        Some(directory) => {
            fs::create_dir_all(directory).map_err(|error| cannot(directory, &error))?;
            clap_mangen::generate_to(command, directory)
                .map_err(|error| cannot(directory, &error))?;
        }
    }
    Ok(Outcome::Fine)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(path, format!("{error}. Name a directory that you may write to."))
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "slabscope", &mut script);
    stdout().lock().write_all(&script)?;
    Ok(Outcome::Fine)
}
