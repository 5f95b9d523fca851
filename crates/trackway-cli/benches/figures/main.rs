//! The figures of Trackway, each next to the machine's own limit: `cargo xtask bench`.
//!
//! Compare ratios within one run on one machine. Such machines are shared, so differences under a fifth
//! mean nothing. Arguments choose rows by a part of their name. `--quick` runs every row with tiny counts
//! and without targets, so that the gate notices a broken row.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is this program's output")]

mod a2a;
mod agent_turns;
mod engine;
mod http_connection;
mod load_generator;
mod machine_limits;
mod mcp;
mod mcp_client;
mod official_sdks;
mod protocol_binding;
mod report;
mod server_process;

use anyhow::Result;
use report::Report;

fn main() -> Result<()> {
    // Cargo passes `--bench`; arguments that are not options name rows.
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let quick = options.iter().any(|option| option == "--quick");
    let mut report = Report::new(wanted, quick);
    machine_limits::measure_rows(&mut report)?;
    engine::measure_rows(&mut report)?;
    a2a::measure_rows(&mut report)?;
    mcp::measure_rows(&mut report)?;
    agent_turns::measure_rows(&mut report)?;
    server_process::measure_rows(&mut report)?;
    println!("{}", report.render_table());
    if quick {
        eprintln!("Every row works; the figures of a quick run mean nothing.");
        return Ok(());
    }
    let file = report.write_json_file()?;
    eprintln!("written to {}", file.display());
    Ok(())
}
