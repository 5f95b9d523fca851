//! `trackway workflows list`.

use serde_json::json;
use trackway_runtime::Known;

use super::{catalogue, faults, unsupported};
use crate::{args::ListWorkflows, exit::Exit, failure::Failure, output, text};

pub(super) fn list(args: &ListWorkflows) -> Result<Exit, Failure> {
    let catalogue = catalogue(&args.library)?;
    let listing = catalogue.list();
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let found: Vec<&Known> =
        listing.workflows.iter().filter(|known| matches(known, &words)).collect();
    let findings: Vec<_> = listing
        .invalid
        .iter()
        .flat_map(faults)
        .chain(listing.workflows.iter().flat_map(unsupported))
        .collect();
    if args.library.json {
        let workflows: Vec<_> = found.iter().map(|known| row(known)).collect();
        let findings: Vec<_> = findings.iter().map(super::Finding::json).collect();
        output::json(&json!({ "workflows": workflows, "findings": findings }))?;
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        let folders: Vec<String> =
            catalogue.folders().iter().map(|folder| folder.display().to_string()).collect();
        output::note(&match listing.workflows.len() {
            0 => format!("No workflows in {} (.yaml, .yml, .json).", folders.join(", ")),
            all => format!("None of {} has all of these words.", text::counted(all, "workflow")),
        });
    } else {
        let head = ["WORKFLOW", "VERSION", "NAME", "FILE"].map(str::to_owned).to_vec();
        let rows = found.iter().map(|known| {
            let definition = &known.definition;
            let file = known.file.display().to_string();
            vec![definition.id.clone(), definition.version.clone(), definition.name.clone(), file]
        });
        let rows: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
        text::table(&rows).iter().try_for_each(|line| output::line(&text::printable(line)))?;
    }
    for line in findings.iter().flat_map(super::Finding::lines) {
        output::note(&text::printable(&line));
    }
    Ok(Exit::Done)
}

fn matches(known: &Known, words: &[String]) -> bool {
    let definition = &known.definition;
    let tags = definition.tags.join(" ");
    let searched =
        format!("{} {} {} {tags}", definition.id, definition.name, definition.description);
    let searched = searched.to_lowercase();
    words.iter().all(|word| searched.contains(word))
}

fn row(known: &Known) -> serde_json::Value {
    let definition = &known.definition;
    json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": definition.description,
        "version": definition.version,
        "tags": definition.tags,
        "workflowHash": known.hash,
        "file": known.file.display().to_string(),
        "startable": !definition.unheeded.iter().any(|construct| construct.matters),
    })
}
