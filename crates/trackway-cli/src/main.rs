//! The `trackway` binary: the code is in the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    trackway_cli::main()
}
