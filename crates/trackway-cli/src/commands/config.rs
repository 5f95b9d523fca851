//! `trackway config show`: every setting as it is in effect, and where it came from.

use serde_json::json;

use crate::{
    args::ShowConfigArgs,
    cli_error::CliError,
    config,
    exit_status::ExitStatus,
    finding, output, text_format,
    workspace::{Workspace, settings},
};

pub(super) fn show_config(args: &ShowConfigArgs) -> Result<ExitStatus, CliError> {
    let folder = config::workspace_folder(args.workspace.as_deref())?;
    let (workspace, findings) = Workspace::load(folder, &config::read_env_var);
    if let Some(refusal) = finding::error_from_findings(&findings) {
        return Err(refusal.into());
    }
    let settings = settings::effective_settings(&workspace);
    if args.json {
        output::write_json_line(&json!({ "settings": settings }))?;
        return Ok(ExitStatus::Done);
    }
    let lines = settings
        .iter()
        .map(|setting| vec![format!("{} = {}", setting.key, setting.value), format!("# {}", setting.from)]);
    let lines = text_format::render_table(&lines.collect::<Vec<_>>());
    lines.iter().try_for_each(|line| output::write_line(&text_format::replace_control_chars(line)))?;
    Ok(ExitStatus::Done)
}
