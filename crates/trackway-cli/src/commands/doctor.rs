//! `trackway doctor`: everything that is wrong or unused in a workspace, with what to do about it.

use serde_json::json;

use super::mcp;
use crate::{
    args::Doctor,
    config,
    exit::Exit,
    failure::Failure,
    finding::{Finding, Level},
    output, programs, text,
    workspace::{
        Workspace,
        check::{self, Surroundings},
        look,
        stock::Shelf,
    },
};

pub(super) async fn doctor(args: &Doctor) -> Result<Exit, Failure> {
    let folder = config::folder(args.workspace.as_deref())?;
    let (workspace, mut findings) = Workspace::read(folder, &config::variable);
    let folders = mcp::folders(&args.folders, &workspace.config, args.workspace.as_deref());
    let server = programs::bundled(&args.data.folder).workflows(&folders);
    let there = Surroundings::of(server, &workspace, &folders)?;
    findings.extend(check::check(&workspace, &there));
    findings.extend(Shelf::default().renewed(&workspace).1);
    findings.extend(look::workflows(&folders, &there));
    findings.extend(look::data(&args.data.folder));
    findings.extend(look::servers(&workspace).await);
    findings.sort_by(|a, b| (a.level, &a.file, a.line).cmp(&(b.level, &b.file, b.line)));
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    if args.json {
        output::json(&report(&workspace, &findings, errors))?;
    } else {
        page(&findings, errors).iter().try_for_each(|line| output::line(&text::printable(line)))?;
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Usage })
}

/// The output for programs.
fn report(workspace: &Workspace, findings: &[Finding], errors: usize) -> serde_json::Value {
    let models = &workspace.models;
    let agents: Vec<&str> = workspace.agents.iter().map(|agent| agent.spec.name.as_str()).collect();
    json!({
        "usable": errors == 0,
        "findings": findings,
        "agents": agents,
        "defaultAgent": workspace.default_agent,
        "defaultModel": models.all.get(&models.default).map(|model| model.label()),
    })
}

/// The output for people.
fn page(findings: &[Finding], errors: usize) -> Vec<String> {
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
            text::counted(count(Level::Warning), "warning"),
            count(Level::Unused)
        ),
        _ => format!("The workspace cannot be used like this: {}.", text::counted(errors, "error")),
    });
    lines
}
