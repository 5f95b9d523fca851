//! The models of a workspace: those of `[models]`, those that are named as `provider/model`, and the
//! settings from the environment. The default model is `TRACKWAY_MODEL`, otherwise `[defaults] model`,
//! otherwise the offline rules.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use crate::Secret;
use trackway_agent::Price;
use trackway_definition::nearest;

use super::agents::Agent;
use crate::workspace::{
    config::{self, Config, ModelSection, Service},
    finding::{Finding, Level},
    reference::Variables,
};

/// Names the default model; it overrides the file.
pub const MODEL_VARIABLE: &str = "TRACKWAY_MODEL";
/// The model that needs no configuration.
pub const OFFLINE: &str = "offline";
/// Other names of it: there is only one set of rules.
const OFFLINE_NAMES: [&str; 5] =
    [OFFLINE, "offline/", "offline/1", "offline/rules", "offline-rules/1"];

/// The models that can be used.
#[derive(Debug, Clone, Default)]
pub struct Models {
    /// By the name that agents use.
    pub all: BTreeMap<String, ModelConfig>,
    pub default: String,
    pub default_from: Source,
    /// Names of `[models]` that no agent uses.
    pub unused: Vec<String>,
}

/// Everything that is needed to call a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    pub service: Service,
    /// None for the provider's own address.
    pub base_url: Option<(String, Source)>,
    pub api_key: Option<(Secret, Source)>,
    pub model: String,
    pub headers: Vec<(String, Secret)>,
    pub price: Option<Price>,
    pub images: bool,
    pub record: Option<PathBuf>,
    pub file: Option<PathBuf>,
    pub from: Source,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Source {
    #[default]
    Default,
    File {
        file: PathBuf,
        line: Option<u32>,
    },
    Variable(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line: Some(line) } => write!(f, "{}, line {line}", file.display()),
            Self::File { file, line: None } => write!(f, "{}", file.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// The variables of a provider: address and key.
pub fn variables_of(service: Service) -> Option<(&'static str, &'static str)> {
    match service {
        Service::OpenAi | Service::OpenAiResponses => Some(("OPENAI_BASE_URL", "OPENAI_API_KEY")),
        Service::Anthropic => Some(("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")),
        Service::Gemini => Some(("GEMINI_BASE_URL", "GEMINI_API_KEY")),
        Service::Offline | Service::Scripted | Service::Replay => None,
    }
}

pub(super) fn resolve(
    file: &Path,
    config: &Config,
    agents: &[Agent],
    variables: Variables<'_>,
) -> (Models, Vec<Finding>) {
    let mut work =
        Work { file, config, variables, models: Models::default(), findings: Vec::new() };
    for (name, section) in &config.models {
        if let Some(section) = section {
            let model = work.configured(name, section);
            work.models.all.insert(name.clone(), model);
        }
    }
    work.choose_default();
    let mut used: BTreeSet<String> = BTreeSet::from([work.models.default.clone()]);
    for agent in agents {
        let Some(name) = &agent.spec.model else { continue };
        let at = |why: String| agent.at("model", Level::Error, why);
        let line = agent.lines.get("model").copied();
        let from = Source::File { file: agent.file.clone().unwrap_or_default(), line };
        work.refer(name, &from, &at);
        used.insert(name.clone());
    }
    for name in &used {
        work.check_key(name);
    }
    let whole = config.models.iter().filter(|(_, section)| section.is_some()).map(|(name, _)| name);
    work.models.unused = whole.filter(|name| !used.contains(*name)).cloned().collect();
    (work.models, work.findings)
}

struct Work<'a> {
    file: &'a Path,
    config: &'a Config,
    variables: Variables<'a>,
    models: Models,
    findings: Vec<Finding>,
}

impl Work<'_> {
    /// An empty variable counts as not set.
    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    fn choose_default(&mut self) {
        if let Some(name) = self.variable(MODEL_VARIABLE) {
            let from = Source::Variable(MODEL_VARIABLE);
            self.refer(&name, &from, &|why| Finding::error(why).key(MODEL_VARIABLE));
            (self.models.default, self.models.default_from) = (name, from);
        } else if let Some(named) = &self.config.defaults.model {
            let line = Some(named.line);
            let from = Source::File { file: self.file.to_owned(), line };
            let file = self.file;
            self.refer(&named.name, &from, &|why| {
                Finding::error(why).file(file).line(line).key("defaults.model")
            });
            (self.models.default, self.models.default_from) = (named.name.clone(), from);
        } else {
            OFFLINE.clone_into(&mut self.models.default);
            let offline = ModelConfig::plain(Service::Offline, "", Source::Default);
            self.models.all.entry(OFFLINE.to_owned()).or_insert(offline);
        }
    }

    /// Ensures that there is a model of this name; `at` makes a finding at the line that names it.
    fn refer(&mut self, name: &str, from: &Source, at: &dyn Fn(String) -> Finding) {
        if self.models.all.contains_key(name) || self.config.models.contains_key(name) {
            return;
        }
        let model = match OFFLINE_NAMES.contains(&name) {
            true => Some((Service::Offline, "")),
            false => name.split_once('/').and_then(|(service, model)| {
                let service = Service::named(service).filter(|service| service.is_remote())?;
                (!model.is_empty()).then_some((service, model))
            }),
        };
        let Some((service, model)) = model else {
            let finding = at(format!("there is no model {name:?}"));
            let known: Vec<&str> = self.config.models.keys().map(String::as_str).collect();
            let suggestion = match nearest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => "name one of [models] in trackway.toml, or write provider/model with the \
                         provider openai, openai-responses, anthropic or gemini, or offline"
                    .to_owned(),
            };
            self.findings.push(finding.suggest(suggestion));
            return;
        };
        let mut config = ModelConfig::plain(service, model, from.clone());
        self.complete(&mut config);
        self.models.all.insert(name.to_owned(), config);
    }

    fn configured(&mut self, name: &str, section: &ModelSection) -> ModelConfig {
        let from = Source::File { file: self.file.to_owned(), line: Some(section.line) };
        let ModelSection {
            service,
            base_url,
            api_key,
            model,
            headers,
            price,
            images,
            record,
            file,
            line,
        } = section.clone();
        if let Some(missing) = file.as_deref().filter(|file| !file.is_file()) {
            let why = format!("there is no file {}", missing.display());
            let finding = Finding::error(why).file(self.file).line(Some(line));
            self.findings.push(finding.key(format!("models.{name}.file")));
        }
        let mut config = ModelConfig {
            service,
            base_url: base_url.map(|url| (url, from.clone())),
            api_key: api_key.map(|key| (key, from.clone())),
            model,
            headers,
            price,
            images,
            record,
            file,
            from,
        };
        self.complete(&mut config);
        config
    }

    /// Adds the settings from the environment. The key of the environment is used only with the address
    /// of the environment or of the provider itself. It is never sent to an address from a file.
    fn complete(&mut self, config: &mut ModelConfig) {
        let Some((address, key)) = variables_of(config.service) else { return };
        let is_own = config.base_url.is_none();
        if is_own && let Some(url) = self.variable(address) {
            match config::checked_url(&url) {
                Ok(url) => config.base_url = Some((url, Source::Variable(address))),
                Err(why) => self.tell_once(Finding::error(why).key(address)),
            }
        }
        if is_own
            && config.api_key.is_none()
            && let Some(value) = self.variable(key)
        {
            if reqwest::header::HeaderValue::from_str(&value).is_err() {
                let why = "it has characters that no header can have";
                self.tell_once(Finding::error(why).key(key));
            }
            config.api_key = Some((Secret::new(value), Source::Variable(key)));
        }
    }

    /// A provider at its own address needs a key.
    fn check_key(&mut self, name: &str) {
        let Some(model) = self.models.all.get(name) else { return };
        let Some((_, key)) = variables_of(model.service) else { return };
        if model.base_url.is_some() || model.api_key.is_some() {
            return;
        }
        let why = format!("model {name:?} has no key");
        let mut finding = Finding::error(why).suggest(format!("set {key}, or api_key in [models]"));
        match &model.from {
            Source::File { file, line } => finding = finding.file(file).line(*line),
            Source::Variable(variable) => finding = finding.key(*variable),
            Source::Default => {}
        }
        self.findings.push(finding);
    }

    fn tell_once(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

impl ModelConfig {
    fn plain(service: Service, model: &str, from: Source) -> Self {
        Self {
            service,
            base_url: None,
            api_key: None,
            model: model.to_owned(),
            headers: Vec::new(),
            price: None,
            images: true,
            record: None,
            file: None,
            from,
        }
    }

    /// Its name in events and on screens.
    pub fn label(&self) -> String {
        match self.service {
            Service::Offline => "offline-rules/1".to_owned(),
            Service::Scripted | Service::Replay => {
                let file = self.file.as_deref().and_then(Path::file_stem);
                let file = file.map(|stem| stem.to_string_lossy().into_owned());
                format!("{}/{}", self.service.name(), file.unwrap_or_default())
            }
            Service::OpenAi | Service::OpenAiResponses | Service::Anthropic | Service::Gemini => {
                format!("{}/{}", self.service.name(), self.model)
            }
        }
    }
}
