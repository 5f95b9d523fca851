//! Opens the models of a workspace, which its agents share.

use std::{collections::BTreeMap, error::Error, path::Path, sync::Arc};

use trackway_agent::{
    Endpoint, Model, Provider, Stock,
    provider::{
        self,
        offline::Offline,
        record::{Record, Replay},
        scripted::Scripted,
    },
};

use super::{
    Workspace,
    models::{ModelConfig, Source},
};
use crate::workspace::{config::Service, finding::Finding};

/// The models that are open. An unchanged model stays open when the workspace is read again: a script
/// continues where it was, and connections are kept.
#[derive(Debug, Default)]
pub struct Shelf {
    open: BTreeMap<String, Open>,
}

/// An open model, and the configuration that it was opened with.
type Open = (ModelConfig, Arc<dyn Provider>);

impl Shelf {
    /// The open models of a workspace, and the findings about them. This closes nothing: if the
    /// workspace is refused, the previous models stay in use.
    pub fn renewed(&self, workspace: &Workspace) -> (Self, Vec<Finding>) {
        let (mut now, mut findings) = (Self::default(), Vec::new());
        for (name, config) in &workspace.models.all {
            // This was reported when the file was looked up.
            if config.file.as_deref().is_some_and(|file| !file.is_file()) {
                continue;
            }
            let before = self.open.get(name).filter(|(before, _)| before == config);
            let opened = before.map_or_else(|| open(config), |(_, provider)| Ok(provider.clone()));
            match opened {
                Ok(provider) => {
                    now.open.insert(name.clone(), (config.clone(), provider));
                }
                Err(why) => findings.push(finding(name, config, &why)),
            }
        }
        (now, findings)
    }

    /// What the agents of a workspace share, except the tools.
    pub fn stock(&self, workspace: &Workspace) -> Stock {
        let model = |(name, (config, provider)): (&String, &Open)| {
            (name.clone(), Model { provider: provider.clone(), price: config.price })
        };
        Stock {
            models: self.open.iter().map(model).collect(),
            default_model: workspace.models.default.clone(),
            first_answer_timeout: workspace.config.dispatch.first_answer_timeout,
            ..Stock::default()
        }
    }
}

fn finding(name: &str, config: &ModelConfig, why: &str) -> Finding {
    let finding = Finding::error(why);
    match &config.from {
        Source::File { file, line } => finding.file(file).line(*line).key(format!("models.{name}")),
        Source::Variable(variable) => finding.key(*variable),
        Source::Default => finding,
    }
}

/// A provider that calls the model. Nothing is sent yet.
fn open(config: &ModelConfig) -> Result<Arc<dyn Provider>, String> {
    let provider: Arc<dyn Provider> = match (config.service, &config.file) {
        (Service::Offline, _) => Arc::new(Offline),
        (Service::Scripted, Some(file)) => Arc::new(Scripted::open(file).map_err(of(file))?),
        (Service::Replay, Some(file)) => Arc::new(Replay::open(file).map_err(of(file))?),
        (service, _) => {
            let headers = config.headers.iter();
            let endpoint = Endpoint {
                base_url: config.base_url.as_ref().map(|(url, _)| url.clone()),
                key: config.api_key.as_ref().map(|(key, _)| key.expose().to_owned()),
                headers: headers
                    .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                    .collect(),
                model: config.model.clone(),
                images: config.images,
            };
            Arc::new(provider::open(service.name(), &endpoint).map_err(told)?)
        }
    };
    Ok(match &config.record {
        Some(file) => Arc::new(Record::new(provider, file)),
        None => provider,
    })
}

/// Formats an error about a model's own file.
fn of<E: Error>(file: &Path) -> impl Fn(E) -> String {
    move |error| format!("{}: {}", file.display(), told(error))
}

/// An error and its causes, each cut to one line: some errors add a multi-line excerpt.
fn told(error: impl Error) -> String {
    let line = |error: &dyn Error| error.to_string().lines().next().unwrap_or_default().to_owned();
    let mut told = line(&error);
    let mut cause = error.source();
    while let Some(error) = cause {
        told.push_str(&format!(": {}", line(error)));
        cause = error.source();
    }
    told
}
