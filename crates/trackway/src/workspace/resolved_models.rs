//! The models of a workspace: those of `[models]`, those that are named as `provider/model`, and the
//! settings from the environment. The default model is `TRACKWAY_MODEL`, otherwise `[defaults] model`,
//! otherwise the offline rules.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use crate::Secret;
use trackway_agent::TokenPrice;
use trackway_definition::nearest_known_word;

use super::agent_files::AgentFile;
use crate::workspace::{
    config::{self, ModelProviderKind, ModelSection, WorkspaceConfig},
    env_reference::EnvLookup,
    finding::{Finding, FindingLevel},
};

/// Names the default model; it overrides the file.
pub const MODEL_VARIABLE: &str = "TRACKWAY_MODEL";
/// The model that needs no configuration.
pub const OFFLINE: &str = "offline";
/// Other names of it: there is only one set of rules.
const OFFLINE_NAMES: [&str; 5] = [OFFLINE, "offline/", "offline/1", "offline/rules", "offline-rules/1"];

/// The models that can be used.
#[derive(Debug, Clone, Default)]
pub struct ResolvedModels {
    /// By the name that agents use.
    pub all: BTreeMap<String, ModelConfig>,
    pub default: String,
    pub default_from: SettingSource,
    /// Names of `[models]` that no agent uses.
    pub unused: Vec<String>,
}

/// Everything that is needed to call a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    pub service: ModelProviderKind,
    /// None for the provider's own address.
    pub base_url: Option<(String, SettingSource)>,
    pub api_key: Option<(Secret, SettingSource)>,
    pub model: String,
    pub headers: Vec<(String, Secret)>,
    pub price: Option<TokenPrice>,
    pub images: bool,
    pub record: Option<PathBuf>,
    pub file: Option<PathBuf>,
    pub from: SettingSource,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SettingSource {
    #[default]
    Default,
    File {
        file: PathBuf,
        line: Option<u32>,
    },
    Variable(&'static str),
}

impl fmt::Display for SettingSource {
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
pub fn model_provider_env_variables(provider: ModelProviderKind) -> Option<(&'static str, &'static str)> {
    match provider {
        ModelProviderKind::OpenAi | ModelProviderKind::OpenAiResponses => {
            Some(("OPENAI_BASE_URL", "OPENAI_API_KEY"))
        }
        ModelProviderKind::Anthropic => Some(("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")),
        ModelProviderKind::Gemini => Some(("GEMINI_BASE_URL", "GEMINI_API_KEY")),
        ModelProviderKind::Offline | ModelProviderKind::Scripted | ModelProviderKind::Replay => None,
    }
}

pub(super) fn resolve_models(
    file: &Path,
    config: &WorkspaceConfig,
    agents: &[AgentFile],
    variables: EnvLookup<'_>,
) -> (ResolvedModels, Vec<Finding>) {
    let mut work =
        ModelResolver { file, config, variables, models: ResolvedModels::default(), findings: Vec::new() };
    for (name, section) in &config.models {
        if let Some(section) = section {
            let model = work.model_from_section(name, section);
            work.models.all.insert(name.clone(), model);
        }
    }
    work.choose_default_model();
    let mut used: BTreeSet<String> = BTreeSet::from([work.models.default.clone()]);
    for agent in agents {
        let Some(name) = &agent.spec.model else { continue };
        let at = |why: String| agent.finding_at_key("model", FindingLevel::Error, why);
        let line = agent.lines.get("model").copied();
        let from = SettingSource::File { file: agent.file.clone().unwrap_or_default(), line };
        work.ensure_model_exists(name, &from, &at);
        used.insert(name.clone());
    }
    for name in &used {
        work.check_model_api_key(name);
    }
    let whole = config.models.iter().filter(|(_, section)| section.is_some()).map(|(name, _)| name);
    work.models.unused = whole.filter(|name| !used.contains(*name)).cloned().collect();
    (work.models, work.findings)
}

struct ModelResolver<'a> {
    file: &'a Path,
    config: &'a WorkspaceConfig,
    variables: EnvLookup<'a>,
    models: ResolvedModels,
    findings: Vec<Finding>,
}

impl ModelResolver<'_> {
    /// An empty variable counts as not set.
    fn nonempty_env_variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    fn choose_default_model(&mut self) {
        if let Some(name) = self.nonempty_env_variable(MODEL_VARIABLE) {
            let from = SettingSource::Variable(MODEL_VARIABLE);
            self.ensure_model_exists(&name, &from, &|why| {
                Finding::error_finding(why).located_at_key(MODEL_VARIABLE)
            });
            (self.models.default, self.models.default_from) = (name, from);
        } else if let Some(named) = &self.config.defaults.model {
            let line = Some(named.line);
            let from = SettingSource::File { file: self.file.to_owned(), line };
            let file = self.file;
            self.ensure_model_exists(&named.name, &from, &|why| {
                Finding::error_finding(why)
                    .located_in_file(file)
                    .located_at_line(line)
                    .located_at_key("defaults.model")
            });
            (self.models.default, self.models.default_from) = (named.name.clone(), from);
        } else {
            OFFLINE.clone_into(&mut self.models.default);
            let offline =
                ModelConfig::model_with_defaults(ModelProviderKind::Offline, "", SettingSource::Default);
            self.models.all.entry(OFFLINE.to_owned()).or_insert(offline);
        }
    }

    /// Ensures that there is a model of this name; `at` makes a finding at the line that names it.
    fn ensure_model_exists(&mut self, name: &str, source: &SettingSource, at: &dyn Fn(String) -> Finding) {
        if self.models.all.contains_key(name) || self.config.models.contains_key(name) {
            return;
        }
        let model = match OFFLINE_NAMES.contains(&name) {
            true => Some((ModelProviderKind::Offline, "")),
            false => name.split_once('/').and_then(|(service, model)| {
                let service = ModelProviderKind::from_provider_name(service)
                    .filter(|service| service.is_remote_service())?;
                (!model.is_empty()).then_some((service, model))
            }),
        };
        let Some((service, model)) = model else {
            let finding = at(format!("there is no model {name:?}"));
            let known: Vec<&str> = self.config.models.keys().map(String::as_str).collect();
            let suggestion = match nearest_known_word(name, known.iter().copied()) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => "name one of [models] in trackway.toml, or write provider/model with the \
                         provider openai, openai-responses, anthropic or gemini, or offline"
                    .to_owned(),
            };
            self.findings.push(finding.with_suggestion(suggestion));
            return;
        };
        let mut config = ModelConfig::model_with_defaults(service, model, source.clone());
        self.apply_env_to_model(&mut config);
        self.models.all.insert(name.to_owned(), config);
    }

    fn model_from_section(&mut self, name: &str, section: &ModelSection) -> ModelConfig {
        let from = SettingSource::File { file: self.file.to_owned(), line: Some(section.line) };
        let ModelSection { service, base_url, api_key, model, headers, price, images, record, file, line } =
            section.clone();
        if let Some(missing) = file.as_deref().filter(|file| !file.is_file()) {
            let why = format!("there is no file {}", missing.display());
            let finding = Finding::error_finding(why).located_in_file(self.file).located_at_line(Some(line));
            self.findings.push(finding.located_at_key(format!("models.{name}.file")));
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
        self.apply_env_to_model(&mut config);
        config
    }

    /// Adds the settings from the environment. The key of the environment is used only with the address
    /// of the environment or of the provider itself. It is never sent to an address from a file.
    fn apply_env_to_model(&mut self, config: &mut ModelConfig) {
        let Some((address, key)) = model_provider_env_variables(config.service) else { return };
        let is_own = config.base_url.is_none();
        if is_own && let Some(url) = self.nonempty_env_variable(address) {
            match config::parse_base_url(&url) {
                Ok(url) => config.base_url = Some((url, SettingSource::Variable(address))),
                Err(why) => self.push_finding_once(Finding::error_finding(why).located_at_key(address)),
            }
        }
        if is_own
            && config.api_key.is_none()
            && let Some(value) = self.nonempty_env_variable(key)
        {
            if reqwest::header::HeaderValue::from_str(&value).is_err() {
                let why = "it has characters that no header can have";
                self.push_finding_once(Finding::error_finding(why).located_at_key(key));
            }
            config.api_key = Some((Secret::new(value), SettingSource::Variable(key)));
        }
    }

    /// A provider at its own address needs a key.
    fn check_model_api_key(&mut self, name: &str) {
        let Some(model) = self.models.all.get(name) else { return };
        let Some((_, key)) = model_provider_env_variables(model.service) else { return };
        if model.base_url.is_some() || model.api_key.is_some() {
            return;
        }
        let why = format!("model {name:?} has no key");
        let mut finding =
            Finding::error_finding(why).with_suggestion(format!("set {key}, or api_key in [models]"));
        match &model.from {
            SettingSource::File { file, line } => {
                finding = finding.located_in_file(file).located_at_line(*line)
            }
            SettingSource::Variable(variable) => finding = finding.located_at_key(*variable),
            SettingSource::Default => {}
        }
        self.findings.push(finding);
    }

    fn push_finding_once(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

impl ModelConfig {
    fn model_with_defaults(provider: ModelProviderKind, model: &str, source: SettingSource) -> Self {
        Self {
            service: provider,
            base_url: None,
            api_key: None,
            model: model.to_owned(),
            headers: Vec::new(),
            price: None,
            images: true,
            record: None,
            file: None,
            from: source,
        }
    }

    /// Its name in events and on screens.
    pub fn model_label(&self) -> String {
        match self.service {
            ModelProviderKind::Offline => "offline-rules/1".to_owned(),
            ModelProviderKind::Scripted | ModelProviderKind::Replay => {
                let file = self.file.as_deref().and_then(Path::file_stem);
                let file = file.map(|stem| stem.to_string_lossy().into_owned());
                format!("{}/{}", self.service.provider_name(), file.unwrap_or_default())
            }
            ModelProviderKind::OpenAi
            | ModelProviderKind::OpenAiResponses
            | ModelProviderKind::Anthropic
            | ModelProviderKind::Gemini => {
                format!("{}/{}", self.service.provider_name(), self.model)
            }
        }
    }
}
