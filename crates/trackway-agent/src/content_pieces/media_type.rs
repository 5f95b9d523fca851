//! Media types: which of them are text.

/// Types that are text although their name does not begin with `text/`.
const TEXT_TYPES: [&str; 13] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/typescript",
    "application/sql",
    "application/graphql",
    "application/x-sh",
    "application/x-ndjson",
    "application/jsonl",
    "application/x-www-form-urlencoded",
];

/// The type without its parameters, in lower case.
pub(crate) fn media_type_essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(crate) fn is_text_media_type(essence: &str) -> bool {
    essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || essence.ends_with("+yaml")
        || TEXT_TYPES.contains(&essence)
}
