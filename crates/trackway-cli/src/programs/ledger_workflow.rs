//! `ledger`: writes a line to a file in each step, so that a repeated side effect can be seen.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use trackway::{Ctx, Stop, Workflow};

/// Entries that one run may write.
/// Limit (CLI): entries of the example `ledger`.
const ENTRIES_MAX: u32 = 100_000;

#[derive(Debug, Clone)]
pub struct LedgerWorkflow {
    file: PathBuf,
}

impl LedgerWorkflow {
    /// Writes to `ledger.txt` in the data folder.
    pub fn ledger_in_data_folder(data: &Path) -> Self {
        Self { file: data.join("ledger.txt") }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// How many entries to write.
    #[schemars(range(max = 100_000))]
    pub entries: u32,
    /// Pause before each entry, in milliseconds.
    pub delay_ms: Option<u64>,
}

impl Workflow for LedgerWorkflow {
    const NAME: &'static str = "ledger";
    const DESCRIPTION: &'static str = "Writes numbered entries to ledger.txt, one recorded step each.";
    const TAGS: &'static [&'static str] = &["demo", "steps"];
    const EXAMPLES: &'static [&'static str] = &["Write five entries"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        let entries = input.entries.min(ENTRIES_MAX);
        for number in 1..=entries {
            if let Some(delay) = input.delay_ms.filter(|delay| *delay > 0) {
                ctx.sleep(Duration::from_millis(delay)).await;
            }
            let (file, run) = (&self.file, ctx.run_id());
            ctx.step("entry", |attempt| async move {
                let line = format!("{run} {number} {}\n", attempt.idempotency_key);
                append_line_to_file(file, &line)
            })
            .await?;
            ctx.status(format!("Entry {number} of {entries}")).await;
        }
        Ok(())
    }
}

/// One write of one line: lines of several runs do not mix.
pub(super) fn append_line_to_file(file: &Path, line: &str) -> std::io::Result<()> {
    File::options().append(true).create(true).open(file)?.write_all(line.as_bytes())
}
