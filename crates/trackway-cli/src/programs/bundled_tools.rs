//! A tool for experiments, in addition to those that every server has.

use std::{future::Future, io, path::Path, pin::Pin, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackway::StepAttempt;

use super::ledger_workflow::append_line_to_file;

pub(super) const LEDGER_ENTER_DESCRIPTION: &str = "Writes an entry to ledger.txt in the data folder.";

/// Longest pause: an hour, which no test or demo waits for.
/// Limit (CLI): pause of the example tools.
const DELAY_MS_MAX: u64 = 3_600_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Entry {
    /// One line.
    #[schemars(regex(pattern = "^[^\\n\\r]*$"))]
    entry: String,
    /// Pause before the entry is written, in milliseconds.
    #[schemars(range(max = 3_600_000))]
    delay_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LedgerEntryReceipt {
    idempotency_key: String,
}

type LedgerEntryFuture = Pin<Box<dyn Future<Output = io::Result<LedgerEntryReceipt>> + Send>>;

/// Each call writes `<entry> <idempotency key>`, so that a repeated one can be seen.
pub(super) fn build_ledger_entry_tool(
    data: &Path,
) -> impl Fn(Entry, StepAttempt) -> LedgerEntryFuture + use<> {
    let file = data.join("ledger.txt");
    move |entry, attempt| {
        let file = file.clone();
        Box::pin(async move {
            let pause = entry.delay_ms.unwrap_or(0).min(DELAY_MS_MAX);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let key = attempt.idempotency_key;
            append_line_to_file(&file, &format!("{} {key}\n", entry.entry))?;
            Ok(LedgerEntryReceipt { idempotency_key: key })
        })
    }
}
