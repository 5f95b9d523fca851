//! Opens the models of a workspace: what agents share is made of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

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
use crate::{config::Service, finding::Finding};

/// The models that are open. One that did not change stays open when the workspace is read again: a
/// script goes on where it was, and connections are kept.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// Held while models are opened.
    open: Mutex<BTreeMap<String, Open>>,
}

/// A model that is open, and what it was opened by.
type Open = (ModelConfig, Arc<dyn Provider>);

impl Shelf {
    /// What the agents of a workspace share, but for the tools, and what is wrong with its models.
    pub(crate) fn stock(&self, workspace: &Workspace) -> (Stock, Vec<Finding>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stock = Stock {
            default_model: workspace.models.default.clone(),
            first_answer_timeout: workspace.config.dispatch.first_answer_timeout,
            ..Stock::default()
        };
        let (mut now, mut findings) = (BTreeMap::new(), Vec::new());
        for (name, config) in &workspace.models.all {
            let before = open.get(name).filter(|(before, _)| before == config);
            let provider = match before {
                Some((_, provider)) => provider.clone(),
                None => match self::open(config) {
                    Ok(provider) => provider,
                    Err(why) => {
                        findings.push(finding(name, config, &why));
                        continue;
                    }
                },
            };
            now.insert(name.clone(), (config.clone(), provider.clone()));
            stock.models.insert(name.clone(), Model { provider, price: config.price });
        }
        *open = now;
        (stock, findings)
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

/// A provider that asks the model. Nothing is sent yet.
fn open(config: &ModelConfig) -> Result<Arc<dyn Provider>, String> {
    let provider: Arc<dyn Provider> = match (config.service, &config.file) {
        (Service::Offline, _) => Arc::new(Offline),
        (Service::Scripted, Some(file)) => Arc::new(Scripted::open(file).map_err(told)?),
        (Service::Replay, Some(file)) => Arc::new(Replay::open(file).map_err(told)?),
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

/// An error and its causes in one line.
fn told(error: impl std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told.push_str(&format!(": {error}"));
        cause = error.source();
    }
    told
}
