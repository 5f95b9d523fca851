//! `workflow_list`: which workflows can be started, and which files cannot be read; filtered and paged.

use std::{fmt::Write as _, path::PathBuf};

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_definition::Finding;
use trackway_domain::{InputRequirement, Scopes};
use trackway_runtime::{CatalogueEntry, CatalogueListing, InvalidDefinitionFile};

use crate::{refusal::ToolRefusal, text, tools::ToolName};

/// Limit (MCP): bytes of JSON of the entries on one page of `workflow_list`.
/// A page has at least one entry, and each is bounded.
const PAGE_BYTES_MAX: usize = 8 * 1024;

/// Limit (MCP): characters of a description in `workflow_list`; `workflow_inspect` shows it whole.
const DESCRIPTION_CHARS_MAX: usize = 300;

/// Limit (MCP): faults of one file in `workflow_list`; `trackway workflows check` shows them all.
const FINDINGS_PER_FILE_MAX: usize = 5;

/// An example file for a user who has no workflow yet.
const EXAMPLE_FILE: &str =
    "id: hello\nname: Hello\nversion: \"1\"\nsteps:\n  - id: greet\n    prompt: Say hello to the user.\n";

/// Which part of the list the caller asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WorkflowListQuery {
    /// Words that must all appear in a workflow's id, name, description or tags.
    pub(crate) query: Option<String>,
    /// The `nextCursor` of the previous page.
    pub(crate) cursor: Option<String>,
}

/// Where a page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WorkflowListCursor {
    Start,
    /// After the workflow of this id.
    Workflow(String),
    /// After this file, which is not a workflow.
    File(String),
}

/// The part of a listing that these scopes may see.
pub(crate) fn workflow_list_result(
    listing: CatalogueListing,
    folders: &[PathBuf],
    scopes: &Scopes,
    list_query: &WorkflowListQuery,
) -> Result<CallToolResult, ToolRefusal> {
    let after = parse_list_cursor(list_query.cursor.as_deref())?;
    let CatalogueListing { mut workflows, mut invalid } = listing;
    workflows.retain(|known| scopes.allows_workflow_run(&known.definition.id));
    invalid.retain(|file| match &file.workflow {
        Some(id) => scopes.allows_workflow_run(id),
        None => scopes.is_all_workflows_and_agents(),
    });
    let all = workflows.len();
    let words = split_query_words(list_query.query.as_deref());
    workflows.retain(|known| contains_all_words(&words, &searchable_workflow_text(known)));
    invalid.retain(|file| {
        contains_all_words(
            &words,
            &format!("{} {}", file.file.display(), file.workflow.as_deref().unwrap_or("")),
        )
    });
    let total = workflows.len();
    let page = WorkflowListPage::fill_list_page(workflows, invalid, &after);
    let mut structured = json!({
        "workflows": page.workflows.iter().map(listed_workflow_json).collect::<Vec<_>>(),
        "invalid": page.invalid.iter().map(invalid_file_json).collect::<Vec<_>>(),
        "total": total,
    });
    if let Some(next) = &page.next {
        structured["nextCursor"] = next.as_str().into();
    }
    let mut told = render_list_page(&page, total, all, list_query);
    if all == 0 && scopes.is_all_workflows_and_agents() {
        structured["folders"] = folders.iter().map(|folder| absolute_path_text(folder)).collect();
        told.push_str(&render_getting_started(folders));
    }
    Ok(super::tool_result(told, structured))
}

fn parse_list_cursor(cursor: Option<&str>) -> Result<WorkflowListCursor, ToolRefusal> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else {
        return Ok(WorkflowListCursor::Start);
    };
    match cursor.split_once(':') {
        Some(("w", id)) => Ok(WorkflowListCursor::Workflow(id.to_owned())),
        Some(("f", file)) => Ok(WorkflowListCursor::File(file.to_owned())),
        _ => Err(ToolRefusal::invalid_arguments_refusal(
            ToolName::List.as_str(),
            vec![InputRequirement {
                pointer: "/cursor".to_owned(),
                message:
                    "cursor is not a `nextCursor` of this tool; leave it out to begin with the first page"
                        .to_owned(),
                ..InputRequirement::default()
            }],
        )),
    }
}

fn split_query_words(query: Option<&str>) -> Vec<String> {
    query.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect()
}

fn contains_all_words(words: &[String], text: &str) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

fn searchable_workflow_text(catalogue_entry: &CatalogueEntry) -> String {
    let definition = &catalogue_entry.definition;
    let tags = definition.tags.join(" ");
    format!("{} {} {} {tags}", definition.id, definition.name, definition.description)
}

/// The entries of one answer.
struct WorkflowListPage {
    workflows: Vec<CatalogueEntry>,
    invalid: Vec<InvalidDefinitionFile>,
    /// Where the next page begins, if there is one.
    next: Option<String>,
}

impl WorkflowListPage {
    /// Workflows in order of their ids, then files in order of their paths, as far as they fit.
    fn fill_list_page(
        workflows: Vec<CatalogueEntry>,
        invalid: Vec<InvalidDefinitionFile>,
        after: &WorkflowListCursor,
    ) -> Self {
        let mut page = Self { workflows: Vec::new(), invalid: Vec::new(), next: None };
        let mut left = PAGE_BYTES_MAX;
        for known in workflows {
            match after {
                WorkflowListCursor::Workflow(id) if known.definition.id <= *id => continue,
                WorkflowListCursor::File(_) => continue,
                _ => {}
            }
            if !page.reserve_page_space(&mut left, &listed_workflow_json(&known)) {
                return page;
            }
            page.workflows.push(known);
        }
        for file in invalid {
            if matches!(after, WorkflowListCursor::File(last) if file.file.display().to_string() <= *last) {
                continue;
            }
            if !page.reserve_page_space(&mut left, &invalid_file_json(&file)) {
                return page;
            }
            page.invalid.push(file);
        }
        page
    }

    /// Whether there is room for one more entry. If not, the next page begins there.
    fn reserve_page_space(&mut self, bytes_left: &mut usize, entry: &Value) -> bool {
        let bytes = entry.to_string().len();
        let is_empty = self.workflows.is_empty() && self.invalid.is_empty();
        if bytes <= *bytes_left || is_empty {
            *bytes_left = bytes_left.saturating_sub(bytes);
            return true;
        }
        self.next = match (self.invalid.last(), self.workflows.last()) {
            (Some(file), _) => Some(format!("f:{}", file.file.display())),
            (None, Some(known)) => Some(format!("w:{}", known.definition.id)),
            (None, None) => None,
        };
        false
    }
}

fn listed_workflow_json(catalogue_entry: &CatalogueEntry) -> Value {
    let definition = &catalogue_entry.definition;
    let mut told = json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": text::truncate_chars(&definition.description, DESCRIPTION_CHARS_MAX),
        "version": definition.version,
        "workflowHash": catalogue_entry.hash,
    });
    if !definition.tags.is_empty() {
        told["tags"] = json!(definition.tags);
    }
    told
}

fn invalid_file_json(file: &InvalidDefinitionFile) -> Value {
    let mut told = json!({
        "file": file.file.display().to_string(),
        "errors": file.errors.iter().take(FINDINGS_PER_FILE_MAX).map(finding_json).collect::<Vec<_>>(),
    });
    if let Some(id) = &file.workflow {
        told["workflowId"] = id.as_str().into();
    }
    if file.errors.len() > FINDINGS_PER_FILE_MAX {
        told["errorCount"] = file.errors.len().into();
    }
    told
}

fn finding_json(finding: &Finding) -> Value {
    let mut told = json!({ "path": finding.path, "message": text::format_finding(finding) });
    if let Some(line) = finding.line {
        told["line"] = line.into();
    }
    told
}

fn render_list_page(
    page: &WorkflowListPage,
    total: usize,
    all: usize,
    list_query: &WorkflowListQuery,
) -> String {
    let mut told = String::new();
    if all == 0 {
        text::push_paragraph(&mut told, "No workflow can be started here.");
    } else if total == 0 {
        let query = list_query.query.as_deref().unwrap_or_default();
        text::push_paragraph(
            &mut told,
            &format!("No workflow has all words of {query:?}. Without `query`, there are {all}."),
        );
    } else if !page.workflows.is_empty() {
        let _ = writeln!(told, "Workflows that `workflow_start` takes ({total}):");
        for known in &page.workflows {
            let definition = &known.definition;
            let first = definition.description.lines().next().unwrap_or_default();
            let about = text::truncate_chars(first, DESCRIPTION_CHARS_MAX);
            let _ = writeln!(told, "- `{}`: {} ({about})", definition.id, definition.name);
        }
        told.push('\n');
    }
    if !page.invalid.is_empty() {
        let _ = writeln!(told, "Files that are not valid workflows:");
        for file in &page.invalid {
            let _ = writeln!(told, "- `{}`", file.file.display());
            for fault in file.errors.iter().take(FINDINGS_PER_FILE_MAX) {
                let _ = writeln!(told, "  - {}", text::format_finding_with_location(fault));
            }
            if let Some(more) = file.errors.len().checked_sub(FINDINGS_PER_FILE_MAX + 1) {
                let _ = writeln!(told, "  - and {} more", more + 1);
            }
        }
        told.push('\n');
    }
    if let Some(next) = &page.next {
        text::push_paragraph(
            &mut told,
            &format!(
                "There is more: call `workflow_list` again with `cursor` {next:?}, or with words in `query`."
            ),
        );
    }
    told
}

/// Where the server looks for files, and how to create one.
fn render_getting_started(folders: &[PathBuf]) -> String {
    let mut told = String::from("Workflow files (.yaml, .yml, .json) are looked for in:\n");
    for folder in folders {
        let state = if folder.exists() { "" } else { " (there is no such folder yet)" };
        let _ = writeln!(told, "- `{}`{state}", absolute_path_text(folder));
    }
    let first = folders.first().map_or_else(|| "workflows".to_owned(), |folder| absolute_path_text(folder));
    let _ = write!(
        told,
        "\nTo make one, save this as `{first}/hello.yaml`. It is found at the next call:\n```yaml\n{EXAMPLE_FILE}```\n"
    );
    told
}

/// The absolute path of a folder, valid from any other folder.
fn absolute_path_text(folder: &std::path::Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests;
