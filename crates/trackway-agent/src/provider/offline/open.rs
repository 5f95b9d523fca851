//! Questions that wait for the user, as the prompt tells of them. A message that answers one never comes
//! here; one that comes here and fits nothing may have been meant as an answer.

use serde_json::Value;

use super::tell;

/// What a line about a question begins with, and what stands before its schema.
const BEGIN: &str = "- task ";
const SCHEMA: &str = " Its schema: ";

/// What is asked, and which fields an answer has; nothing where no question is open.
pub(super) fn questions(system: &str) -> Option<String> {
    let open: Vec<String> = system.lines().filter_map(question).collect();
    (!open.is_empty()).then(|| {
        format!(
            "I cannot take this as an answer, and nothing else fits it. /help shows what I can run.\n{}",
            open.join("\n")
        )
    })
}

fn question(line: &str) -> Option<String> {
    let (asked, schema) = line.strip_prefix(BEGIN)?.split_once(SCHEMA)?;
    let schema: Value = serde_json::from_str(schema).ok()?;
    let wanted = tell::wanted(&schema).map(|wanted| format!("\n{wanted}")).unwrap_or_default();
    Some(format!("Task {asked}{wanted}"))
}
