//! Media types by filename, by content and by the parts of an artifact.

use trackway_domain::{ArtifactFilename, File, MessagePartContent, Part};

/// Of content that nothing is known about.
pub(super) const BINARY: &str = "application/octet-stream";
const JSON: &str = "application/json";
const JSON_LINES: &str = "application/x-ndjson";
const TEXT: &str = "text/plain";

/// Extensions and types in common use. The first extension of a type is the one that is given to it.
const TYPES: &[(&str, &str)] = &[
    ("json", JSON),
    ("jsonl", JSON_LINES),
    ("ndjson", JSON_LINES),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("txt", TEXT),
    ("log", TEXT),
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("xml", "application/xml"),
    ("toml", "application/toml"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("bin", BINARY),
];

/// How files of a type begin.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
];

/// The type that a filename's extension stands for.
pub fn media_type_from_filename(filename: &ArtifactFilename) -> Option<&'static str> {
    let extension = filename.extension()?;
    TYPES.iter().find(|(known, _)| *known == extension).map(|(_, media_type)| *media_type)
}

/// The type of a file by its name, or else by its content.
pub fn media_type_from_content(filename: &ArtifactFilename, bytes: &[u8]) -> &'static str {
    if let Some(known) = media_type_from_filename(filename) {
        return known;
    }
    if let Some((_, known)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return known;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if is_json_document(text) => JSON,
        Ok(text) if !text.contains('\0') => TEXT,
        _ => BINARY,
    }
}

/// The extension for files of a type.
pub(super) fn extension_of_media_type(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let known = TYPES.iter().find(|(_, known)| known.eq_ignore_ascii_case(essence));
    known.map_or("bin", |(extension, _)| extension)
}

/// The type of what a run yields, by its parts and its name.
pub(super) fn media_type_of_parts(filename: &ArtifactFilename, parts: &[Part]) -> String {
    let known = media_type_from_filename(filename);
    let media_type = match parts {
        [Part { content: MessagePartContent::File(File { mime_type, .. }), .. }] => {
            return mime_type.clone().unwrap_or_else(|| known.unwrap_or(BINARY).to_owned());
        }
        // JSON is a form of YAML and of text too, so a name such as `config.yaml` stays right.
        [Part { content: MessagePartContent::Data(_), .. }] => {
            known.filter(|known| *known == "application/yaml").unwrap_or(JSON)
        }
        parts if parts.iter().all(|part| part.as_data().is_some()) && !parts.is_empty() => JSON_LINES,
        parts if parts.iter().all(|part| part.as_text().is_some()) => known.unwrap_or(TEXT),
        _ => known.unwrap_or(BINARY),
    };
    media_type.to_owned()
}

fn is_json_document(text: &str) -> bool {
    let text = text.trim_start();
    (text.starts_with('{') || text.starts_with('['))
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
