//! The `trackway` binary: everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    trackway_cli::main()
}
