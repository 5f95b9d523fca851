//! `trackway workflows list`.

use serde_json::json;
use trackway_runtime::CatalogueEntry;

use super::{invalid_file_findings, open_catalogue, unsupported_construct_findings};
use crate::{args::ListWorkflowsArgs, cli_error::CliError, exit_status::ExitStatus, output, text_format};

pub(super) fn list_workflows(args: &ListWorkflowsArgs) -> Result<ExitStatus, CliError> {
    let catalogue = open_catalogue(&args.library)?;
    let listing = catalogue.list();
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let found: Vec<&CatalogueEntry> =
        listing.workflows.iter().filter(|known| matches_all_words(known, &words)).collect();
    let findings: Vec<_> = listing
        .invalid
        .iter()
        .flat_map(invalid_file_findings)
        .chain(listing.workflows.iter().flat_map(unsupported_construct_findings))
        .collect();
    if args.library.json {
        let workflows: Vec<_> = found.iter().map(|known| workflow_to_json(known)).collect();
        let findings: Vec<_> = findings.iter().map(super::WorkflowFinding::to_json).collect();
        output::write_json_line(&json!({ "workflows": workflows, "findings": findings }))?;
        return Ok(ExitStatus::Done);
    }
    if found.is_empty() {
        let folders: Vec<String> =
            catalogue.folders().iter().map(|folder| folder.display().to_string()).collect();
        output::print_note(&match listing.workflows.len() {
            0 => format!("No workflows in {} (.yaml, .yml, .json).", folders.join(", ")),
            all => format!("None of {} has all of these words.", text_format::format_count(all, "workflow")),
        });
    } else {
        let head = ["WORKFLOW", "VERSION", "NAME", "FILE"].map(str::to_owned).to_vec();
        let rows = found.iter().map(|known| {
            let definition = &known.definition;
            let file = known.file.display().to_string();
            vec![definition.id.clone(), definition.version.clone(), definition.name.clone(), file]
        });
        let rows: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
        text_format::render_table(&rows)
            .iter()
            .try_for_each(|line| output::write_line(&text_format::replace_control_chars(line)))?;
    }
    for line in findings.iter().flat_map(super::WorkflowFinding::render_lines) {
        output::print_note(&text_format::replace_control_chars(&line));
    }
    Ok(ExitStatus::Done)
}

fn matches_all_words(known: &CatalogueEntry, words: &[String]) -> bool {
    let definition = &known.definition;
    let tags = definition.tags.join(" ");
    let searched = format!("{} {} {} {tags}", definition.id, definition.name, definition.description);
    let searched = searched.to_lowercase();
    words.iter().all(|word| searched.contains(word))
}

fn workflow_to_json(known: &CatalogueEntry) -> serde_json::Value {
    let definition = &known.definition;
    json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": definition.description,
        "version": definition.version,
        "tags": definition.tags,
        "workflowHash": known.hash,
        "file": known.file.display().to_string(),
        "startable": !definition.unsupported.iter().any(|construct| construct.matters),
    })
}
