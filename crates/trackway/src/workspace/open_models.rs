//! Opens the models of a workspace, which its agents share.

use std::{collections::BTreeMap, error::Error, path::Path, sync::Arc};

use trackway_agent::{
    ConfiguredModel, ModelEndpoint, ModelProvider, ResourcesSnapshot,
    provider::{
        self,
        offline::OfflineModel,
        recording::{RecordingModelProvider, ReplayModelProvider},
        scripted_model::ScriptedModel,
    },
};

use super::{
    Workspace,
    resolved_models::{ModelConfig, SettingSource},
};
use crate::workspace::{config::ModelProviderKind, finding::Finding};

/// The models that are open. An unchanged model stays open when the workspace is read again: a script
/// continues where it was, and connections are kept.
#[derive(Debug, Default)]
pub struct OpenModels {
    open: BTreeMap<String, OpenModel>,
}

/// An open model, and the configuration that it was opened with.
type OpenModel = (ModelConfig, Arc<dyn ModelProvider>);

impl OpenModels {
    /// The open models of a workspace, and the findings about them. This closes nothing: if the
    /// workspace is refused, the previous models stay in use.
    pub fn reopen_changed_models(&self, workspace: &Workspace) -> (Self, Vec<Finding>) {
        let (mut now, mut findings) = (Self::default(), Vec::new());
        for (name, config) in &workspace.models.all {
            // This was reported when the file was looked up.
            if config.file.as_deref().is_some_and(|file| !file.is_file()) {
                continue;
            }
            let before = self.open.get(name).filter(|(before, _)| before == config);
            let opened =
                before.map_or_else(|| open_model_provider(config), |(_, provider)| Ok(provider.clone()));
            match opened {
                Ok(provider) => {
                    now.open.insert(name.clone(), (config.clone(), provider));
                }
                Err(why) => findings.push(model_finding(name, config, &why)),
            }
        }
        (now, findings)
    }

    /// What the agents of a workspace share, except the tools.
    pub fn agent_resources_snapshot(&self, workspace: &Workspace) -> ResourcesSnapshot {
        let model = |(name, (config, provider)): (&String, &OpenModel)| {
            (name.clone(), ConfiguredModel { provider: provider.clone(), price: config.price })
        };
        ResourcesSnapshot {
            models: self.open.iter().map(model).collect(),
            default_model: workspace.models.default.clone(),
            first_answer_timeout: workspace.config.dispatch.first_answer_timeout,
            ..ResourcesSnapshot::default()
        }
    }
}

fn model_finding(name: &str, config: &ModelConfig, message: &str) -> Finding {
    let finding = Finding::error_finding(message);
    match &config.from {
        SettingSource::File { file, line } => {
            finding.located_in_file(file).located_at_line(*line).located_at_key(format!("models.{name}"))
        }
        SettingSource::Variable(variable) => finding.located_at_key(*variable),
        SettingSource::Default => finding,
    }
}

/// A provider that calls the model. Nothing is sent yet.
fn open_model_provider(config: &ModelConfig) -> Result<Arc<dyn ModelProvider>, String> {
    let provider: Arc<dyn ModelProvider> = match (config.service, &config.file) {
        (ModelProviderKind::Offline, _) => Arc::new(OfflineModel),
        (ModelProviderKind::Scripted, Some(file)) => {
            Arc::new(ScriptedModel::open_script_file(file).map_err(describe_model_file_error(file))?)
        }
        (ModelProviderKind::Replay, Some(file)) => {
            Arc::new(ReplayModelProvider::open_recording(file).map_err(describe_model_file_error(file))?)
        }
        (service, _) => {
            let headers = config.headers.iter();
            let endpoint = ModelEndpoint {
                base_url: config.base_url.as_ref().map(|(url, _)| url.clone()),
                key: config.api_key.as_ref().map(|(key, _)| key.expose_secret().to_owned()),
                headers: headers
                    .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
                    .collect(),
                model: config.model.clone(),
                images: config.images,
            };
            Arc::new(
                provider::open_http_provider(service.provider_name(), &endpoint)
                    .map_err(format_error_chain)?,
            )
        }
    };
    Ok(match &config.record {
        Some(file) => Arc::new(RecordingModelProvider::new(provider, file)),
        None => provider,
    })
}

/// Formats an error about a model's own file.
fn describe_model_file_error<E: Error>(file: &Path) -> impl Fn(E) -> String {
    move |error| format!("{}: {}", file.display(), format_error_chain(error))
}

/// An error and its causes, each cut to one line: some errors add a multi-line excerpt.
fn format_error_chain(error: impl Error) -> String {
    let line = |error: &dyn Error| error.to_string().lines().next().unwrap_or_default().to_owned();
    let mut told = line(&error);
    let mut cause = error.source();
    while let Some(error) = cause {
        told.push_str(&format!(": {}", line(error)));
        cause = error.source();
    }
    told
}
