//! The settings of a workspace that are in effect, each with its source. Secrets are hidden.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Workspace,
    agent_files::AgentFile,
    resolved_models::{ModelConfig, SettingSource},
};
use crate::workspace::config::{self, HIDDEN};

/// One setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectiveSetting {
    pub key: String,
    pub value: Value,
    /// `default`, `trackway.toml, line 3`, or the name of a variable.
    pub from: String,
}

/// Everything that is in effect: from the files, the environment, and the defaults.
pub fn effective_settings(workspace: &Workspace) -> Vec<EffectiveSetting> {
    let file = workspace.folder.join(config::FILE);
    let mut settings: Vec<EffectiveSetting> = Vec::new();
    for (written, line) in &workspace.config.raw_settings {
        // These two are added below, with their effective values.
        if !written.key.starts_with("models.") && written.key != "defaults.model" {
            let from = SettingSource::File { file: file.clone(), line: Some(*line) };
            settings.push(new_effective_setting(&written.key, written.value.clone(), &from));
        }
    }
    for (key, value) in default_settings(workspace) {
        let is_said = |said: &EffectiveSetting| said.key == key;
        if !settings.iter().any(is_said) {
            settings.push(new_effective_setting(key, value, &SettingSource::Default));
        }
    }
    if workspace.config.defaults.agent.is_none() {
        let agent = json!(workspace.default_agent);
        settings.push(new_effective_setting("defaults.agent", agent, &workspace.default_agent_from));
    }
    let models = &workspace.models;
    settings.push(new_effective_setting("defaults.model", json!(models.default), &models.default_from));
    for (name, model) in &models.all {
        let mut of_model = model_settings(&format!("models.{name}"), model);
        for setting in &mut of_model {
            // The line of the setting itself, if it is in the file.
            let mut written = workspace.config.raw_settings.iter();
            if let Some((_, line)) = written.find(|(written, _)| written.key == setting.key) {
                let from = SettingSource::File { file: file.clone(), line: Some(*line) };
                setting.from = from.to_string();
            }
        }
        settings.extend(of_model);
    }
    for agent in &workspace.agents {
        settings.extend(agent_settings(agent));
    }
    for server in &workspace.mcp.servers {
        let from = SettingSource::File { file: workspace.mcp.path.clone(), line: server.line };
        // Arguments, variables and headers are left out, because they may contain secrets.
        let value = match workspace.mcp.config.servers.get(&server.name) {
            Some(config) => json!(config.transport.to_string()),
            None => json!("(disabled)"),
        };
        settings.push(new_effective_setting(&format!("mcpServers.{}", server.name), value, &from));
    }
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings
}

fn new_effective_setting(key: &str, value: Value, source: &SettingSource) -> EffectiveSetting {
    EffectiveSetting { key: key.to_owned(), value, from: source.to_string() }
}

/// The defaults of settings that the file does not have.
fn default_settings(workspace: &Workspace) -> Vec<(&'static str, Value)> {
    let defaults = config::WorkspaceConfig::default();
    let folders: Vec<PathBuf> = workspace.workflow_folders();
    let days = defaults.retention.older_than.map(|age| age.as_secs() / (24 * 60 * 60));
    let connections = defaults.server.connections;
    let mesh = defaults.mesh.configuration.options;
    let seconds = |span: Duration| json!(format!("{}s", span.as_secs()));
    vec![
        ("auth.required", json!(defaults.auth.is_required())),
        ("outgoing.allow_loopback", json!(defaults.outgoing.allow_loopback)),
        ("outgoing.allow", json!([])),
        ("server.body_max_bytes", json!(defaults.server.body_max_bytes)),
        ("server.max_connections", json!(connections.max)),
        ("server.header_timeout", seconds(connections.header_timeout)),
        ("server.body_timeout", seconds(connections.body_timeout)),
        ("server.idle_timeout", seconds(connections.idle_timeout)),
        ("server.blocking_timeout", seconds(defaults.server.blocking_timeout)),
        ("a2a.grpc_reflection", json!(defaults.a2a.grpc_reflection)),
        ("a2a.grpc_in_card", json!(!defaults.a2a.grpc_hidden)),
        ("workflows.folders", json!(folders)),
        ("mcp.checkpoints", json!(defaults.mcp.checkpoints)),
        ("mcp.session_checkpoints", json!(defaults.mcp.session_checkpoints)),
        ("retention.enabled", json!(days.is_some())),
        ("retention.days", json!(days)),
        ("artifacts.max_bytes", json!(defaults.artifacts.bytes_max)),
        ("artifacts.quota_bytes", json!(defaults.artifacts.quota.bytes_max)),
        ("dispatch.first_answer_timeout", seconds(defaults.dispatch.first_answer_timeout)),
        ("dispatch.depth_max", json!(defaults.dispatch.limits.depth_max)),
        ("dispatch.runs_max", json!(defaults.dispatch.limits.runs_max)),
        ("mesh.refresh", seconds(mesh.refresh)),
        ("mesh.reconnect", seconds(mesh.reconnect)),
        ("mesh.timeout", seconds(mesh.timeout)),
        ("mesh.max_depth", json!(mesh.max_depth)),
        ("mesh.namespace", json!(mesh.namespace)),
    ]
}

fn model_settings(key: &str, model: &ModelConfig) -> Vec<EffectiveSetting> {
    let within = |name: &str| format!("{key}.{name}");
    let from = &model.from;
    let mut settings =
        vec![new_effective_setting(&within("provider"), json!(model.service.provider_name()), from)];
    if !model.model.is_empty() {
        settings.push(new_effective_setting(&within("model"), json!(model.model), from));
    }
    if let Some((url, from)) = &model.base_url {
        settings.push(new_effective_setting(&within("base_url"), json!(url), from));
    }
    if let Some((_, from)) = &model.api_key {
        settings.push(new_effective_setting(&within("api_key"), json!(HIDDEN), from));
    }
    for (name, _) in &model.headers {
        settings.push(new_effective_setting(&within(&format!("headers.{name}")), json!(HIDDEN), from));
    }
    if let Some(price) = &model.price {
        let price = json!({ "input": price.input, "output": price.output });
        settings.push(new_effective_setting(&within("price"), price, from));
    }
    if model.service.is_remote_service() {
        settings.push(new_effective_setting(&within("images"), json!(model.images), &SettingSource::Default));
    }
    if let Some(record) = &model.record {
        settings.push(new_effective_setting(&within("record"), json!(record), from));
    }
    if let Some(file) = &model.file {
        settings.push(new_effective_setting(&within("file"), json!(file), from));
    }
    settings
}

fn agent_settings(agent: &AgentFile) -> Vec<EffectiveSetting> {
    let spec = &agent.spec;
    let mut settings = Vec::new();
    let mut put = |key: &str, value: Value| {
        let from = match (&agent.file, agent.lines.get(key)) {
            (Some(file), Some(line)) => SettingSource::File { file: file.clone(), line: Some(*line) },
            (Some(_), None) | (None, _) => SettingSource::Default,
        };
        settings.push(new_effective_setting(&format!("agents.{}.{key}", spec.name), value, &from));
    };
    put("description", json!(spec.description));
    if let Some(model) = &spec.model {
        put("model", json!(model));
    }
    put("tools", json!(spec.tools));
    put("workflows", json!(spec.workflows));
    put("peers", json!(spec.peers));
    put("approvals", json!(spec.approvals));
    put("budgets", json!(spec.budgets));
    if let Some(seconds) = spec.model_timeout {
        put("model_timeout", json!(seconds));
    }
    if !spec.first_answer_timeouts.is_empty() {
        put("first_answer_timeouts", json!(spec.first_answer_timeouts));
    }
    if !spec.skills.is_empty() {
        let names: Vec<&str> = spec.skills.iter().map(|skill| skill.name.as_str()).collect();
        put("skills", json!(names));
    }
    let file = agent.file.as_deref().unwrap_or(Path::new(""));
    let from = match &agent.file {
        Some(_) => SettingSource::File { file: file.to_owned(), line: None },
        None => SettingSource::Default,
    };
    let size = json!(format!("{} bytes", spec.prompt.len()));
    settings.push(new_effective_setting(&format!("agents.{}.prompt", spec.name), size, &from));
    settings
}
