//! The whole gate, stage by stage, the same here and in CI. It stops at the first failure.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::process::{cargo, run as run_command};
use crate::{audit, bench, generate, test, tidy};

struct Stage {
    name: &'static str,
    /// The command that repeats only this stage.
    repeat: &'static str,
    run: fn() -> Result<()>,
}

// Cheap stages first; tidy and the generated files come last because they matter at the commit, not
// while the code does not build.
const STAGES: &[Stage] = &[
    Stage {
        name: "fmt",
        repeat: "cargo fmt --all --check",
        run: || run_command(cargo().args(["fmt", "--all", "--check"])),
    },
    Stage {
        name: "clippy",
        repeat: "cargo clippy --workspace --all-targets -- -D warnings",
        run: run_clippy,
    },
    Stage { name: "test", repeat: "cargo xtask test", run: || test::run(&[]) },
    Stage {
        name: "bench, every row once",
        repeat: "cargo xtask bench --quick",
        run: || bench::run_each_once(&[]),
    },
    Stage {
        name: "docs",
        repeat: "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps",
        run: build_docs,
    },
    Stage { name: "licences", repeat: "cargo xtask audit", run: audit::check_licences },
    Stage { name: "tidy", repeat: "cargo xtask tidy", run: tidy::run },
    Stage { name: "generated files", repeat: "cargo xtask generate --check", run: generate::check_pages },
];

pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    for (index, stage) in STAGES.iter().enumerate() {
        eprintln!("\n== {}/{} {} ==", index + 1, STAGES.len(), stage.name);
        let stage_start = Instant::now();
        if let Err(error) = (stage.run)() {
            let elapsed = format_elapsed(stage_start.elapsed());
            let (name, repeat) = (stage.name, stage.repeat);
            // The command to repeat comes last, where it is easy to see and to copy.
            bail!("{error:#}\n\nStage `{name}` failed after {elapsed}. Repeat it with:\n  {repeat}");
        }
        eprintln!("-- {}: ok in {}", stage.name, format_elapsed(stage_start.elapsed()));
    }
    eprintln!("\nAll {} stages passed in {}.", STAGES.len(), format_elapsed(start.elapsed()));
    Ok(())
}

fn run_clippy() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_command(cargo().args(arguments))
}

fn build_docs() -> Result<()> {
    let mut command = cargo();
    command.args(["doc", "--workspace", "--no-deps"]);
    run_command(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn format_elapsed(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0)
    }
}
