//! `trackway doctor`: everything that is wrong or unused in a workspace, with what to do about it.

use serde_json::json;

use super::mcp_command;
use crate::{
    args::DoctorArgs,
    cli_error::CliError,
    config,
    exit_status::ExitStatus,
    finding::{Finding, FindingLevel},
    output_streams, programs, text_format,
    workspace::{
        Workspace,
        open_models::OpenModels,
        peer_inspection,
        reference_check::{self, AvailableCapabilities},
        workspace_inspection,
    },
};

pub(super) async fn run_doctor(args: &DoctorArgs) -> Result<ExitStatus, CliError> {
    let folder = config::resolve_workspace_folder(args.workspace.as_deref())?;
    let (workspace, mut findings) = Workspace::load_workspace(folder, &config::read_env_var);
    let folders =
        mcp_command::resolve_workflow_folders(&args.folders, &workspace.config, args.workspace.as_deref());
    let server = programs::bundled_server(&args.data.folder).workflows(&folders);
    let there = AvailableCapabilities::capabilities_of_server(server, &workspace, &folders)?;
    findings.extend(reference_check::check_workspace(&workspace, &there));
    findings.extend(OpenModels::default().reopen_changed_models(&workspace).1);
    findings.extend(workspace_inspection::inspect_workflows(&folders, &there));
    findings.extend(workspace_inspection::inspect_data_folder(&args.data.folder));
    findings.extend(workspace_inspection::inspect_mcp_servers(&workspace).await);
    findings.extend(peer_inspection::inspect_peers(&workspace, &args.data.folder).await);
    findings.sort_by(|a, b| (a.level, &a.file, a.line).cmp(&(b.level, &b.file, b.line)));
    let errors = findings.iter().filter(|finding| finding.is_error_level()).count();
    if args.json {
        output_streams::write_stdout_json_line(&doctor_findings_to_json(&workspace, &findings, errors))?;
    } else {
        render_doctor_findings(&findings, errors).iter().try_for_each(|line| {
            output_streams::write_stdout_line(&text_format::replace_control_chars(line))
        })?;
    }
    Ok(if errors == 0 { ExitStatus::Done } else { ExitStatus::Usage })
}

/// The output for programs.
fn doctor_findings_to_json(workspace: &Workspace, findings: &[Finding], errors: usize) -> serde_json::Value {
    let models = &workspace.models;
    let agents: Vec<&str> = workspace.agents.iter().map(|agent| agent.spec.name.as_str()).collect();
    json!({
        "usable": errors == 0,
        "findings": findings,
        "agents": agents,
        "defaultAgent": workspace.default_agent,
        "defaultModel": models.all.get(&models.default).map(|model| model.model_label()),
    })
}

/// The output for people.
fn render_doctor_findings(findings: &[Finding], errors: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for finding in findings {
        lines.push(format!("{}: {finding}", finding.level));
        if let Some(suggestion) = &finding.suggestion {
            lines.push(format!("  hint: {suggestion}"));
        }
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    lines.push(match errors {
        0 => format!(
            "The workspace can be used ({}, {} unused).",
            text_format::format_counted_noun(count(FindingLevel::Warning), "warning"),
            count(FindingLevel::Unused)
        ),
        _ => {
            format!(
                "The workspace cannot be used like this: {}.",
                text_format::format_counted_noun(errors, "error")
            )
        }
    });
    lines
}
