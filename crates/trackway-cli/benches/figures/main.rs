//! The figures of Trackway, each beside the machine's own limit: `cargo xtask bench`.
//!
//! Compare ratios within one run of one machine; such machines are shared, and differences under a
//! fifth mean nothing. Arguments choose rows by a part of their name.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is this program's output"
)]

mod a2a;
mod agent;
mod dialect;
mod engine;
mod limits;
mod load;
mod mcp;
mod report;
mod sdk;
mod served;
mod turn;
mod wire;

use anyhow::Result;
use report::Report;

fn main() -> Result<()> {
    // Cargo passes `--bench`; everything else names rows.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let mut report = Report::new(wanted);
    limits::rows(&mut report)?;
    engine::rows(&mut report)?;
    a2a::rows(&mut report)?;
    mcp::rows(&mut report)?;
    turn::rows(&mut report)?;
    served::rows(&mut report)?;
    println!("{}", report.table());
    let file = report.write()?;
    eprintln!("written to {}", file.display());
    Ok(())
}
