//! `[models.NAME]`: the address and the options of a model.

use std::{collections::BTreeMap, path::PathBuf};

use crate::Secret;
use toml::Spanned;
use trackway_agent::TokenPrice;
use trackway_definition::nearest_known_word;

use super::{config_reader::ConfigReader, raw_config};

/// A model as configured in the file. Missing values may come from the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSection {
    pub service: ModelProviderKind,
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// The provider's own name of it; empty if the provider has only one.
    pub model: String,
    pub headers: Vec<(String, Secret)>,
    pub price: Option<TokenPrice>,
    /// Whether it accepts images.
    pub images: bool,
    /// The file in which its answers are recorded for a replay.
    pub record: Option<PathBuf>,
    /// The answers of a scripted or replayed model.
    pub file: Option<PathBuf>,
    pub line: u32,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelProviderKind {
    /// Chat completions: OpenAI's own format, which most self-hosted model servers use too.
    OpenAi,
    OpenAiResponses,
    Anthropic,
    Gemini,
    /// The rules that come with Trackway; they are not a language model.
    Offline,
    /// The answers come from a file.
    Scripted,
    /// A recording of another model.
    Replay,
}

impl ModelProviderKind {
    pub const ALL: [(&'static str, Self); 7] = [
        ("openai", Self::OpenAi),
        ("openai-responses", Self::OpenAiResponses),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
        ("offline", Self::Offline),
        ("scripted", Self::Scripted),
        ("replay", Self::Replay),
    ];

    pub fn from_provider_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, service)| *service)
    }

    pub fn provider_name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, service)| *service == self).map_or("", |(name, _)| name)
    }

    /// Whether it is a remote service, with an address and a key.
    pub fn is_remote_service(self) -> bool {
        match self {
            Self::OpenAi | Self::OpenAiResponses | Self::Anthropic | Self::Gemini => true,
            Self::Offline | Self::Scripted | Self::Replay => false,
        }
    }

    /// Whether its answers come from a file.
    fn answers_from_file(self) -> bool {
        matches!(self, Self::Scripted | Self::Replay)
    }
}

pub(super) fn read_model_sections(
    reader: &ConfigReader<'_>,
    sections: &BTreeMap<raw_config::SpannedText, Spanned<raw_config::RawModelSection>>,
) -> BTreeMap<String, Option<ModelSection>> {
    let read = |(name, section): (&raw_config::SpannedText, &Spanned<raw_config::RawModelSection>)| {
        let key = format!("models.{}", name.get_ref());
        if name.get_ref().contains('/') {
            let why = "a name has no `/`: it would be taken for provider/model";
            reader.report_finding::<()>(name.span(), &key, why);
        }
        let at = reader.line_of_offset(name.span().start);
        (name.get_ref().clone(), read_model_section(reader, &key, at, section.get_ref()))
    };
    sections.iter().map(read).collect()
}

fn read_model_section(
    reader: &ConfigReader<'_>,
    key: &str,
    line: u32,
    section: &raw_config::RawModelSection,
) -> Option<ModelSection> {
    let within = |name: &str| format!("{key}.{name}");
    let service = read_model_provider(reader, &within("provider"), &section.provider);
    let base_url = section.base_url.as_ref().map(|url| read_model_base_url(reader, &within("base_url"), url));
    let api_key = section.api_key.as_ref().map(|text| reader.read_nonempty_setting(&within("api_key"), text));
    let model = section.model.as_ref().map(|text| reader.read_nonempty_setting(&within("model"), text));
    let path = section.file.as_ref().map(|text| reader.read_path_setting(&within("file"), text));
    let record = section.record.as_ref().map(|text| reader.read_path_setting(&within("record"), text));
    let headers = read_model_headers(reader, &within("headers"), &section.headers);
    let price = section.price.as_ref().map(|price| self::read_token_price(reader, &within("price"), price));
    let service = service?;
    let fits = has_valid_provider_settings(reader, key, service, section);
    Some(ModelSection {
        service: fits.then_some(service)?,
        base_url: transpose_optional(base_url)?,
        api_key: transpose_optional(api_key)?.map(Secret::new),
        model: transpose_optional(model)?.unwrap_or_default(),
        headers: headers?,
        price: transpose_optional(price)?,
        images: section.images.as_ref().is_none_or(|images| *images.get_ref()),
        record: transpose_optional(record)?,
        file: transpose_optional(path)?,
        line,
    })
}

/// A missing value is fine; a wrong value is not.
fn transpose_optional<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        None => Some(None),
        Some(value) => value.map(Some),
    }
}

fn read_model_provider(
    reader: &ConfigReader<'_>,
    key: &str,
    text: &raw_config::SpannedText,
) -> Option<ModelProviderKind> {
    let name = reader.read_nonempty_setting(key, text)?;
    let known = ModelProviderKind::ALL.map(|(name, _)| name);
    let found = ModelProviderKind::from_provider_name(&name);
    if found.is_none() {
        let why = format!("there is no provider {name:?}");
        let hint = match nearest_known_word(&name, known) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => format!("there are: {}", known.join(", ")),
        };
        return reader.report_finding_with_hint(text.span(), key, why, &hint);
    }
    found
}

/// An address that requests can go to.
fn read_model_base_url(
    reader: &ConfigReader<'_>,
    key: &str,
    text: &raw_config::SpannedText,
) -> Option<String> {
    let url = reader.read_nonempty_setting(key, text)?;
    match parse_base_url(&url) {
        Ok(url) => Some(url),
        Err(why) => reader.report_finding(text.span(), key, why),
    }
}

/// The address without its trailing slash, or what is wrong with it. The error does not repeat the
/// address: it may contain a password.
pub fn parse_base_url(text: &str) -> Result<String, &'static str> {
    let url = reqwest::Url::parse(text).map_err(|_| "it is not an address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it must begin with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a name or password: a key goes into api_key, other things into headers");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a query or fragment, which would be lost");
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn read_model_headers(
    reader: &ConfigReader<'_>,
    key: &str,
    section: &BTreeMap<raw_config::SpannedText, raw_config::SpannedText>,
) -> Option<Vec<(String, Secret)>> {
    let mut headers = Some(Vec::new());
    for (name, value) in section {
        let key = format!("{key}.{}", name.get_ref());
        let read = reader.read_text_setting(&key, value).and_then(|value| {
            let is_name = reqwest::header::HeaderName::from_bytes(name.get_ref().as_bytes()).is_ok();
            let is_value = reqwest::header::HeaderValue::from_str(&value).is_ok();
            if !is_name || !is_value {
                let what = if is_name { "value" } else { "name" };
                return reader.report_finding(name.span(), &key, format!("no header can have this {what}"));
            }
            Some((name.get_ref().clone(), Secret::new(value)))
        });
        headers = headers.zip(read).map(|(mut headers, read)| {
            headers.push(read);
            headers
        });
    }
    headers
}

fn read_token_price(
    reader: &ConfigReader<'_>,
    key: &str,
    section: &Spanned<raw_config::RawPriceSection>,
) -> Option<TokenPrice> {
    let raw_config::RawPriceSection { input, output } = *section.get_ref();
    let is_price = |amount: f64| amount.is_finite() && amount >= 0.0;
    if !is_price(input) || !is_price(output) {
        return reader.report_finding(section.span(), key, "a price is a number, 0 or more");
    }
    Some(TokenPrice { input, output })
}

/// Whether the section has what its provider needs, and nothing that the provider ignores.
fn has_valid_provider_settings(
    reader: &ConfigReader<'_>,
    key: &str,
    service: ModelProviderKind,
    section: &raw_config::RawModelSection,
) -> bool {
    let name = service.provider_name();
    let at = section.provider.span();
    let mut fits = true;
    let mut lacks = |setting: &str| {
        fits = false;
        reader.report_finding::<()>(at.clone(), key, format!("provider {name:?} needs `{setting}`"));
    };
    if service.is_remote_service() && section.model.is_none() {
        lacks("model");
    }
    if service.answers_from_file() && section.file.is_none() {
        lacks("file");
    }
    let given = [
        ("base_url", section.base_url.as_ref().map(Spanned::span), service.is_remote_service()),
        ("api_key", section.api_key.as_ref().map(Spanned::span), service.is_remote_service()),
        ("model", section.model.as_ref().map(Spanned::span), service.is_remote_service()),
        ("headers", section.headers.keys().next().map(Spanned::span), service.is_remote_service()),
        ("images", section.images.as_ref().map(Spanned::span), service.is_remote_service()),
        ("record", section.record.as_ref().map(Spanned::span), service.is_remote_service()),
        ("file", section.file.as_ref().map(Spanned::span), service.answers_from_file()),
    ];
    for (setting, span, is_used) in given {
        if let Some(span) = span.filter(|_| !is_used) {
            fits = false;
            let why = format!("provider {name:?} does not use it");
            reader.report_finding::<()>(span, &format!("{key}.{setting}"), why);
        }
    }
    fits
}
