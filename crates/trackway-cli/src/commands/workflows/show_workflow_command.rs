//! `trackway workflows show`: what an agent sees of a workflow before it starts it.

use trackway_runtime::WorkflowLookupError;

use super::{invalid_file_findings, open_catalogue};
use crate::{
    args::ShowWorkflowArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
};

pub(super) fn show_workflow(args: &ShowWorkflowArgs) -> Result<ExitStatus, CliError> {
    let catalogue = open_catalogue(&args.library)?;
    let known = catalogue.get_entry(&args.id).map_err(|why| unusable_workflow_error(&args.id, why))?;
    let (mut json, page) = trackway_mcp::render_workflow_json_and_text(
        &known,
        &catalogue.render_workflow_rules(&known.definition),
    );
    if args.library.json {
        json["file"] = known.file.display().to_string().into();
        output_streams::write_stdout_json_line(&json)?;
    } else {
        let page = format!("{}\nfile: {}", page.trim_end(), known.file.display());
        page.lines().try_for_each(|line| {
            output_streams::write_stdout_line(&text_format::replace_control_chars(line))
        })?;
    }
    Ok(ExitStatus::Done)
}

fn unusable_workflow_error(id: &str, error: WorkflowLookupError) -> CliError {
    match error {
        WorkflowLookupError::UnknownId { similar: near } => {
            let failure =
                CliError::new(format!("there is no workflow {id:?}")).with_exit_status(ExitStatus::Usage);
            match near.first() {
                Some(meant) => failure.with_hint(format!("did you mean {meant:?}?")),
                None => failure.with_hint("`trackway workflows list` shows them"),
            }
        }
        WorkflowLookupError::Invalid(invalid) => {
            let file = invalid.file.display();
            let failure =
                CliError::new(format!("{file} is not a valid workflow")).with_exit_status(ExitStatus::Usage);
            let lines = invalid_file_findings(&invalid).flat_map(|finding| finding.render_finding_lines());
            lines.fold(failure, |failure, line| failure.with_hint(line.trim_start_matches("  hint: ")))
        }
    }
}
