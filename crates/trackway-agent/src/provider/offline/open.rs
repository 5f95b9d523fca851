//! Questions that wait for the user. A message that answers one by its form never comes here; one that
//! comes here and fits nothing may have been meant as an answer.

use super::tell;
use crate::conversation::OpenNote;

/// What is asked, and which fields an answer has; nothing where no question is open.
pub(super) fn questions(open: &[OpenNote]) -> Option<String> {
    let told: Vec<String> = open.iter().map(question).collect();
    (!told.is_empty()).then(|| {
        format!(
            "I cannot take this as an answer, and nothing else fits it. An answer can be written as \
             name=value; /help shows what I can run.\n{}",
            told.join("\n")
        )
    })
}

fn question(open: &OpenNote) -> String {
    let OpenNote { task_id, workflow, asks, schema, .. } = open;
    let wanted = schema.as_ref().and_then(tell::wanted);
    let wanted = wanted.map(|wanted| format!("\n{wanted}")).unwrap_or_default();
    format!("Task {task_id} of {workflow}: {asks}{wanted}")
}
