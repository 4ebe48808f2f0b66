//! Names for addresses in a file: `lookup FILE ADDRESS..`, addresses as in the file, in hexadecimal.

use slabscope_symbols::{Module, Options, Symbolizer};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default().into();
    let module = Module { end: u64::MAX, path, ..Module::default() };
    let mut symbolizer = Symbolizer::new(vec![module], Options::default());
    for argument in arguments {
        let address = u64::from_str_radix(argument.trim_start_matches("0x"), 16).unwrap_or(0);
        println!("{address:#x}");
        let frames = symbolizer.frames(Some(0), address);
        if let Some(owner) = slabscope_symbols::types::of_stack(frames.iter(), None) {
            println!("  allocates {} ({:?}: {})", owner.name, owner.certainty, owner.because);
        }
        for frame in frames.iter() {
            let inlined = if frame.is_inlined { " (inlined)" } else { "" };
            println!("  {}{inlined}\n    {}:{}", frame.name.full, frame.file, frame.line);
        }
    }
    println!("{:?}", symbolizer.findings());
}
