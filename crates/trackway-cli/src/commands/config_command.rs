//! `trackway config show`: every setting as it is in effect, and where it came from.

use serde_json::json;

use crate::{
    args::ShowConfigArgs,
    cli_error::CliError,
    config,
    exit_status::ExitStatus,
    finding, output_streams, text_format,
    workspace::{Workspace, workspace_settings},
};

pub(super) fn show_config(args: &ShowConfigArgs) -> Result<ExitStatus, CliError> {
    let folder = config::resolve_workspace_folder(args.workspace.as_deref())?;
    let (workspace, findings) = Workspace::load_workspace(folder, &config::read_env_var);
    if let Some(refusal) = finding::error_from_findings(&findings) {
        return Err(refusal.into());
    }
    let settings = workspace_settings::effective_settings(&workspace);
    if args.json {
        output_streams::write_stdout_json_line(&json!({ "settings": settings }))?;
        return Ok(ExitStatus::Done);
    }
    let lines = settings
        .iter()
        .map(|setting| vec![format!("{} = {}", setting.key, setting.value), format!("# {}", setting.from)]);
    let lines = text_format::align_table_columns(&lines.collect::<Vec<_>>());
    lines
        .iter()
        .try_for_each(|line| output_streams::write_stdout_line(&text_format::replace_control_chars(line)))?;
    Ok(ExitStatus::Done)
}
