//! Opens the models of a workspace, which its agents share.

use std::{collections::BTreeMap, error::Error, path::Path, sync::Arc};

use trackway_agent::{
    ConfiguredModel, ModelEndpoint, ModelProvider, Snapshot,
    provider::{
        self,
        offline::OfflineModel,
        recording::{RecordingProvider, ReplayProvider},
        scripted::ScriptedModel,
    },
};

use super::{
    Workspace,
    models::{ModelConfig, ValueSource},
};
use crate::workspace::{config::ProviderKind, finding::Finding};

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
    pub fn reopen_changed(&self, workspace: &Workspace) -> (Self, Vec<Finding>) {
        let (mut now, mut findings) = (Self::default(), Vec::new());
        for (name, config) in &workspace.models.all {
            // This was reported when the file was looked up.
            if config.file.as_deref().is_some_and(|file| !file.is_file()) {
                continue;
            }
            let before = self.open.get(name).filter(|(before, _)| before == config);
            let opened = before.map_or_else(|| open_provider(config), |(_, provider)| Ok(provider.clone()));
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
    pub fn snapshot(&self, workspace: &Workspace) -> Snapshot {
        let model = |(name, (config, provider)): (&String, &OpenModel)| {
            (name.clone(), ConfiguredModel { provider: provider.clone(), price: config.price })
        };
        Snapshot {
            models: self.open.iter().map(model).collect(),
            default_model: workspace.models.default.clone(),
            first_answer_timeout: workspace.config.dispatch.first_answer_timeout,
            ..Snapshot::default()
        }
    }
}

fn model_finding(name: &str, config: &ModelConfig, why: &str) -> Finding {
    let finding = Finding::error(why);
    match &config.from {
        ValueSource::File { file, line } => {
            finding.with_file(file).with_line(*line).with_key(format!("models.{name}"))
        }
        ValueSource::Variable(variable) => finding.with_key(*variable),
        ValueSource::Default => finding,
    }
}

/// A provider that calls the model. Nothing is sent yet.
fn open_provider(config: &ModelConfig) -> Result<Arc<dyn ModelProvider>, String> {
    let provider: Arc<dyn ModelProvider> = match (config.service, &config.file) {
        (ProviderKind::Offline, _) => Arc::new(OfflineModel),
        (ProviderKind::Scripted, Some(file)) => {
            Arc::new(ScriptedModel::open_script(file).map_err(describe_file_error(file))?)
        }
        (ProviderKind::Replay, Some(file)) => {
            Arc::new(ReplayProvider::open_recording(file).map_err(describe_file_error(file))?)
        }
        (service, _) => {
            let headers = config.headers.iter();
            let endpoint = ModelEndpoint {
                base_url: config.base_url.as_ref().map(|(url, _)| url.clone()),
                key: config.api_key.as_ref().map(|(key, _)| key.expose().to_owned()),
                headers: headers.map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
                model: config.model.clone(),
                images: config.images,
            };
            Arc::new(provider::open_provider(service.name(), &endpoint).map_err(format_error_chain)?)
        }
    };
    Ok(match &config.record {
        Some(file) => Arc::new(RecordingProvider::new(provider, file)),
        None => provider,
    })
}

/// Formats an error about a model's own file.
fn describe_file_error<E: Error>(file: &Path) -> impl Fn(E) -> String {
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
