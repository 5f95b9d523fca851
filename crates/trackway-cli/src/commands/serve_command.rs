//! `trackway serve`: the bundled workflows behind one address.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::json;
use trackway::{BoundServer, McpOptions, Server};

use super::mcp_command;
use crate::{
    args::{ServeArgs, ServerProfile},
    cli_error::CliError,
    config,
    exit_status::ExitStatus,
    fault_injection::AbortAtFaultPoint,
    output_streams, programs,
    stop_signals::StopSignals,
    text_format,
    workspace::{Workspace, apply_config_to_server, workspace_loader::WorkspaceLoader},
};

/// How long open connections may delay the end of a server.
/// Limit (CLI): time that open connections may delay the end of a server.
const FAREWELL_MAX: Duration = Duration::from_secs(10);

pub(super) async fn run_serve_command(args: ServeArgs) -> Result<ExitStatus, CliError> {
    // Before the address is printed: a reader of it may send a signal immediately.
    let mut signals = StopSignals::install_signal_handlers()?;
    let folder = config::resolve_workspace_folder(args.workspace.as_deref())?;
    let (workspace, _) = Workspace::load_workspace(folder, &config::read_env_var);
    let server = build_program_server(args.profile, &args.data.folder, args.conformance.streaming_timeout);
    let server = server.listen(args.listen).grpc_listen(args.grpc_listen);
    let folders = mcp_command::resolve_workflow_folders(
        &args.guided.folders,
        &workspace.config,
        args.workspace.as_deref(),
    );
    let switches = mcp_command::resolve_checkpoint_switches(&args.guided, &workspace.config);
    let server = match mcp_command::has_user_named_folders(&args.guided.folders, &workspace.config) {
        true => server.workflows(&folders),
        false => server.optional_workflows(&folders),
    };
    let server = server.mcp(
        McpOptions::new()
            .offer_checkpoints(switches.checkpoints)
            .offer_session_checkpoints(switches.session_checkpoints),
    );
    let make = {
        let (data, folders) = (args.data.folder.clone(), folders.clone());
        let patience = args.conformance.streaming_timeout;
        move || build_program_server(args.profile, &data, patience).workflows(&folders)
    };
    let following = WorkspaceLoader::new(folder, &folders, make).load_and_follow_agents()?;
    let mut server = apply_config_to_server(workspace.config, server)?.agents_from(following.agents.clone());
    if let Some(url) = args.nats {
        server = server.nats(url);
    }
    if let Some(point) = args.testing.fault {
        server = server.faults(Arc::new(AbortAtFaultPoint::new(point)));
    }
    let bound = server.bind().await?;
    if args.json {
        output_streams::write_stdout_json_line(&server_announcement_json(&bound, &args.data.folder))?;
    } else {
        render_server_announcement(&bound, &args.data.folder)
            .iter()
            .try_for_each(|line| output_streams::write_stdout_line(line))?;
    }
    let (end, ending) = tokio::sync::oneshot::channel();
    let mut serving = std::pin::pin!(bound.serve_until(async {
        // A dropped sender also means the end.
        let _ = ending.await;
    }));
    tokio::select! {
        // It ends without a signal only when something failed.
        served = &mut serving => return Ok(served.map(|()| ExitStatus::Done)?),
        () = signals.wait_for_stop_signal() => {}
    }
    let _ = end.send(());
    tokio::select! {
        served = &mut serving => served?,
        // All acknowledged data is durable, so an early exit loses nothing.
        () = signals.wait_for_stop_signal() => output_streams::print_stderr_note("Not waiting for open connections."),
        () = tokio::time::sleep(FAREWELL_MAX) => output_streams::print_stderr_note("Some connections stayed open; leaving them."),
    }
    Ok(ExitStatus::Done)
}

/// What is served in addition to the workspace.
fn build_program_server(profile: Option<ServerProfile>, data: &Path, patience: Duration) -> Server {
    match profile {
        None => programs::bundled_server(data),
        Some(ServerProfile::Tck) => programs::conformance_server(data, patience),
    }
}

/// The output for programs: one line; only `url` is a stable field.
fn server_announcement_json(bound: &BoundServer, data: &Path) -> serde_json::Value {
    let url = bound.local_url();
    let agents: Vec<_> = program_names_and_descriptions(bound)
        .into_iter()
        .map(|(name, _)| json!({ "name": name, "url": format!("{url}/a2a/agents/{name}") }))
        .collect();
    let mut told = json!({ "url": url, "data": data, "pid": std::process::id(), "agents": agents });
    if let Some(grpc) = bound.grpc_address() {
        told["grpc"] = grpc.to_string().into();
    }
    told
}

/// The output for people.
fn render_server_announcement(bound: &BoundServer, data: &Path) -> Vec<String> {
    let url = bound.local_url();
    let mut lines =
        vec![format!("Trackway is serving at {url}"), String::new(), "Agents (A2A 1.0 and 0.3):".to_owned()];
    let rows: Vec<Vec<String>> = program_names_and_descriptions(bound)
        .into_iter()
        .map(|(name, description)| vec![format!("  {name}"), format!("{url}/a2a/agents/{name}"), description])
        .collect();
    lines.extend(text_format::align_table_columns(&rows));
    let message = r#"{"role":"ROLE_USER","messageId":"try-'$(date +%s)'","parts":[{"text":"hello"}]}"#;
    let call =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{message}}}}}"#);
    let key = if bound.requires_auth() { " -H \"authorization: Bearer $TRACKWAY_KEY\"" } else { "" };
    lines.push(String::new());
    if let Some(grpc) = bound.grpc_address() {
        lines.push(format!("gRPC:  {grpc} (the tenant names the agent)"));
    }
    if bound.requires_auth() {
        lines.push(format!(
            "Auth:  calls need a key: trackway keys create --tenant NAME --user NAME --scope '*' --data {}",
            data.display()
        ));
    }
    lines.extend([
        format!("MCP:   {url}/mcp (or start `trackway mcp` from your agent)"),
        format!("Data:  {}", data.display()),
        "Stop:  Ctrl-C (unfinished runs continue at the next start)".to_owned(),
        "Try:".to_owned(),
        format!("  curl -s {url}/a2a/agents/echo{key} -H 'content-type: application/json' -d '{call}'"),
    ]);
    lines
}

fn program_names_and_descriptions(bound: &BoundServer) -> Vec<(String, String)> {
    let programs = bound.runtime().registry().list_current_programs();
    programs.iter().map(|program| (program.info().name.clone(), program.info().description.clone())).collect()
}
