//! `trackway workflows list`.

use serde_json::json;
use trackway_runtime::CatalogueEntry;

use super::{invalid_file_findings, open_catalogue, unsupported_construct_findings};
use crate::{
    args::ListWorkflowsArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
};

pub(super) fn list_workflows(args: &ListWorkflowsArgs) -> Result<ExitStatus, CliError> {
    let catalogue = open_catalogue(&args.library)?;
    let listing = catalogue.list_definitions();
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let found: Vec<&CatalogueEntry> =
        listing.workflows.iter().filter(|known| workflow_matches_all_words(known, &words)).collect();
    let findings: Vec<_> = listing
        .invalid
        .iter()
        .flat_map(invalid_file_findings)
        .chain(listing.workflows.iter().flat_map(unsupported_construct_findings))
        .collect();
    if args.library.json {
        let workflows: Vec<_> = found.iter().map(|known| workflow_to_json(known)).collect();
        let findings: Vec<_> = findings.iter().map(super::WorkflowFinding::finding_to_json).collect();
        output_streams::write_stdout_json_line(&json!({ "workflows": workflows, "findings": findings }))?;
        return Ok(ExitStatus::Done);
    }
    if found.is_empty() {
        let folders: Vec<String> =
            catalogue.workflow_folders().iter().map(|folder| folder.display().to_string()).collect();
        output_streams::print_stderr_note(&match listing.workflows.len() {
            0 => format!("No workflows in {} (.yaml, .yml, .json).", folders.join(", ")),
            all => format!(
                "None of {} has all of these words.",
                text_format::format_counted_noun(all, "workflow")
            ),
        });
    } else {
        let head = ["WORKFLOW", "VERSION", "NAME", "FILE"].map(str::to_owned).to_vec();
        let rows = found.iter().map(|known| {
            let definition = &known.definition;
            let file = known.file.display().to_string();
            vec![definition.id.clone(), definition.version.clone(), definition.name.clone(), file]
        });
        let rows: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
        text_format::align_table_columns(&rows).iter().try_for_each(|line| {
            output_streams::write_stdout_line(&text_format::replace_control_chars(line))
        })?;
    }
    for line in findings.iter().flat_map(super::WorkflowFinding::render_finding_lines) {
        output_streams::print_stderr_note(&text_format::replace_control_chars(&line));
    }
    Ok(ExitStatus::Done)
}

fn workflow_matches_all_words(entry: &CatalogueEntry, words: &[String]) -> bool {
    let definition = &entry.definition;
    let tags = definition.tags.join(" ");
    let searched = format!("{} {} {} {tags}", definition.id, definition.name, definition.description);
    let searched = searched.to_lowercase();
    words.iter().all(|word| searched.contains(word))
}

fn workflow_to_json(entry: &CatalogueEntry) -> serde_json::Value {
    let definition = &entry.definition;
    json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": definition.description,
        "version": definition.version,
        "tags": definition.tags,
        "workflowHash": entry.hash,
        "file": entry.file.display().to_string(),
        "startable": !definition.unsupported.iter().any(|construct| construct.matters),
    })
}
