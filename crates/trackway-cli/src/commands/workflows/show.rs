//! `trackway workflows show`: what an agent sees of a workflow before it starts it.

use trackway_runtime::WorkflowLookupError;

use super::{invalid_file_findings, open_catalogue};
use crate::{args::ShowWorkflowArgs, cli_error::CliError, exit_status::ExitStatus, output, text_format};

pub(super) fn show_workflow(args: &ShowWorkflowArgs) -> Result<ExitStatus, CliError> {
    let catalogue = open_catalogue(&args.library)?;
    let known = catalogue.get(&args.id).map_err(|why| unusable_workflow_error(&args.id, why))?;
    let (mut json, page) =
        trackway_mcp::describe_workflow(&known, &catalogue.render_rules(&known.definition));
    if args.library.json {
        json["file"] = known.file.display().to_string().into();
        output::write_json_line(&json)?;
    } else {
        let page = format!("{}\nfile: {}", page.trim_end(), known.file.display());
        page.lines().try_for_each(|line| output::write_line(&text_format::replace_control_chars(line)))?;
    }
    Ok(ExitStatus::Done)
}

fn unusable_workflow_error(id: &str, why: WorkflowLookupError) -> CliError {
    match why {
        WorkflowLookupError::UnknownId { similar: near } => {
            let failure = CliError::new(format!("there is no workflow {id:?}")).with_exit(ExitStatus::Usage);
            match near.first() {
                Some(meant) => failure.with_hint(format!("did you mean {meant:?}?")),
                None => failure.with_hint("`trackway workflows list` shows them"),
            }
        }
        WorkflowLookupError::Invalid(invalid) => {
            let file = invalid.file.display();
            let failure =
                CliError::new(format!("{file} is not a valid workflow")).with_exit(ExitStatus::Usage);
            let lines = invalid_file_findings(&invalid).flat_map(|finding| finding.render_lines());
            lines.fold(failure, |failure, line| failure.with_hint(line.trim_start_matches("  hint: ")))
        }
    }
}
