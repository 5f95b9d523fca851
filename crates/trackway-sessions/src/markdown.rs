//! A session as a page of Markdown: the session's own notes, then every run with every branch. The same
//! session always gives the same page.

mod embedded_markdown;
mod markdown_values;
mod run_branches;

use trackway_domain::DocumentKind;
use trackway_engine::{RunDocument, RunTree, SessionNote, SessionView};

use embedded_markdown::{collapse_to_one_line, embed_markdown_below_heading};

pub(super) fn render_session_page(view: &SessionView) -> String {
    let mut page = MarkdownPage::default();
    page.push_heading(1, &format!("Session {}", view.id));
    for (run, reason) in view.damaged_runs() {
        page.push_paragraph(&format!(
            "**Damaged:** {} has parts that cannot be read: {}",
            run.id(),
            collapse_to_one_line(reason)
        ));
    }
    let notes = view.session_notes();
    if !notes.is_empty() {
        page.push_heading(2, "Session notes");
        notes.iter().for_each(|note| page.push_titled_markdown(3, &note.at.to_string(), note.markdown));
    }
    for run in &view.runs {
        render_run_section(&mut page, run);
    }
    page.text
}

/// Only the session's own notes.
pub(super) fn render_session_notes(notes: &[SessionNote<'_>]) -> String {
    let mut page = MarkdownPage::default();
    notes.iter().for_each(|note| page.push_titled_markdown(2, &note.at.to_string(), note.markdown));
    page.text
}

fn render_run_section(page: &mut MarkdownPage, run: &RunTree) {
    let workflow = &run.submission.workflow;
    page.push_heading(2, &format!("Run of {}", collapse_to_one_line(&workflow.name)));
    let branches = run.branch_count();
    page.push_paragraph(&format!(
        "- Run: `{}`\n- Status: {} ({})\n- Branches: {branches}\n- Workflow: `{}`\n- Began: {}\n- Last record: {}",
        run.id(),
        run.guided_status().as_str(),
        run.state(),
        collapse_to_one_line(&workflow.version),
        run.created_at,
        run.updated_at,
    ));
    if let Some(reason) = &run.damaged {
        page.push_paragraph(&format!(
            "**Damaged:** not all of it can be shown: {}",
            collapse_to_one_line(reason)
        ));
    }
    page.push_titled_value("Context at the start", &run.submission.input);
    if run.nodes.is_empty() {
        if let Some(output) = run.workflow_output() {
            page.push_titled_value("Output", output);
        }
        return;
    }
    run_branches::render_run_branches(page, run);
}

/// A page under construction.
#[derive(Debug, Default)]
struct MarkdownPage {
    text: String,
}

impl MarkdownPage {
    fn push_heading(&mut self, level: usize, text: &str) {
        self.push_paragraph(&format!("{} {}", "#".repeat(level), collapse_to_one_line(text)));
    }

    /// A block between empty lines.
    fn push_paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Foreign Markdown below a heading, with its headings moved below that one.
    fn push_titled_markdown(&mut self, level: usize, title: &str, markdown: &str) {
        self.push_heading(level, title);
        self.push_paragraph(&embed_markdown_below_heading(markdown, level));
    }

    /// A value that is not empty.
    fn push_titled_value(&mut self, title: &str, value: &serde_json::Value) {
        if !markdown_values::is_empty_value(value) {
            self.push_paragraph(&format!("{title}:"));
            self.push_paragraph(&markdown_values::format_json_block(value));
        }
    }

    fn push_document(&mut self, level: usize, document: &RunDocument) {
        let kind = match document.kind {
            DocumentKind::Header => "header",
            DocumentKind::Log => "log",
            DocumentKind::Table => "table",
            DocumentKind::Notes => "notes",
            DocumentKind::Checkpoint => "checkpoint",
        };
        self.push_heading(level, &format!("{} ({kind})", document.name));
        self.push_paragraph(&markdown_values::format_document_value(&document.value));
    }
}

#[cfg(test)]
mod tests;
