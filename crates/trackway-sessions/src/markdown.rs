//! A session as a page of Markdown: the session's own notes, then every run with every branch. The same
//! session always gives the same page.

mod branch;
mod source;
mod values;

use trackway_domain::DocumentKind;
use trackway_engine::{Document, RunTrack, SessionNote, SessionView};

use source::{inside, one_line};

pub(super) fn page(view: &SessionView) -> String {
    let mut page = Page::default();
    page.heading(1, &format!("Session {}", view.id));
    for (run, reason) in view.damages() {
        page.paragraph(&format!(
            "**Damaged:** {} has parts that cannot be read: {}",
            run.id(),
            one_line(reason)
        ));
    }
    let notes = view.notes();
    if !notes.is_empty() {
        page.heading(2, "Session notes");
        notes.iter().for_each(|note| page.note(3, &note.at.to_string(), note.markdown));
    }
    for run in &view.runs {
        show(&mut page, run);
    }
    page.text
}

/// The session's own notes alone.
pub(super) fn notes_page(notes: &[SessionNote<'_>]) -> String {
    let mut page = Page::default();
    notes.iter().for_each(|note| page.note(2, &note.at.to_string(), note.markdown));
    page.text
}

fn show(page: &mut Page, run: &RunTrack) {
    let workflow = &run.submission.workflow;
    page.heading(2, &format!("Run of {}", one_line(&workflow.name)));
    let branches = run.branches();
    page.paragraph(&format!(
        "- Run: `{}`\n- Status: {} ({})\n- Branches: {branches}\n- Workflow: `{}`\n- Began: {}\n- Last record: {}",
        run.id(),
        run.status().as_str(),
        run.state(),
        one_line(&workflow.version),
        run.created_at,
        run.updated_at,
    ));
    if let Some(reason) = &run.damaged {
        page.paragraph(&format!("**Damaged:** not all of it can be shown: {}", one_line(reason)));
    }
    page.value("Context at the start", &run.submission.input);
    if run.nodes.is_empty() {
        if let Some(output) = run.output() {
            page.value("Output", output);
        }
        return;
    }
    branch::show(page, run);
}

/// A page while it is written.
#[derive(Debug, Default)]
struct Page {
    text: String,
}

impl Page {
    fn heading(&mut self, level: usize, text: &str) {
        self.paragraph(&format!("{} {}", "#".repeat(level), one_line(text)));
    }

    /// Something between empty lines.
    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Somebody's Markdown below a heading, with its own headings below that.
    fn note(&mut self, level: usize, title: &str, markdown: &str) {
        self.heading(level, title);
        self.paragraph(&inside(markdown, level));
    }

    /// A value that has something in it.
    fn value(&mut self, title: &str, value: &serde_json::Value) {
        if !values::is_empty(value) {
            self.paragraph(&format!("{title}:"));
            self.paragraph(&values::block(value));
        }
    }

    fn document(&mut self, level: usize, document: &Document) {
        let kind = match document.kind {
            DocumentKind::Header => "header",
            DocumentKind::Log => "log",
            DocumentKind::Table => "table",
            DocumentKind::Notes => "notes",
            DocumentKind::Checkpoint => "checkpoint",
        };
        self.heading(level, &format!("{} ({kind})", document.name));
        self.paragraph(&values::document(&document.value));
    }
}

#[cfg(test)]
mod tests;
