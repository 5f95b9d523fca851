//! Media types: what an agent accepts and produces.

use trackway_domain::{Code, Content, Part};

use crate::error::{A2aError, ErrorKind};

/// Refuses a message with a part of a type that the agent does not accept.
pub(crate) fn check_part_types(parts: &[Part], accepted: &[String]) -> Result<(), A2aError> {
    for (index, part) in parts.iter().enumerate() {
        let Some(named) = declared_type(part) else { continue };
        if !accepted.iter().any(|mode| matches_pattern(mode, named)) {
            let shown: String = named.chars().take(64).collect();
            return Err(A2aError::new(
                ErrorKind::ContentTypeNotSupported,
                Code::InvalidRequest,
                format!("part {index} is of type {shown:?}, which this agent does not take"),
                format!("send one of {}", accepted.join(", ")),
            )
            .at_path(format!("/params/message/parts/{index}")));
        }
    }
    Ok(())
}

/// The declared type of a part. A part without one has the type that its kind implies.
fn declared_type(part: &Part) -> Option<&str> {
    match &part.content {
        Content::File(file) => file.mime_type.as_deref(),
        Content::Text(_) | Content::Data(_) => part.metadata.get("mimeType")?.as_str(),
    }
}

/// Whether an accepted mode covers a produced one. Clients of earlier generations still send `text` and
/// `data`.
pub(crate) fn accepts_any(accepted: &str, produced: &[String]) -> bool {
    match essence(accepted).as_str() {
        "*" | "text" | "data" => true,
        _ => produced.iter().any(|mode| matches_pattern(accepted, mode) || matches_pattern(mode, accepted)),
    }
}

/// Whether JSON is among the accepted modes.
pub(crate) fn accepts_json(accepted: &[String]) -> bool {
    accepted.iter().any(|mode| match essence(mode).as_str() {
        "*" | "data" => true,
        _ => matches_pattern(mode, "application/json"),
    })
}

/// Whether a pattern such as `text/*` covers a type. Parameters are not compared.
fn matches_pattern(pattern: &str, media_type: &str) -> bool {
    let (pattern, media_type) = (essence(pattern), essence(media_type));
    match pattern.strip_suffix("/*") {
        Some("*") => true,
        Some(family) => media_type.split('/').next() == Some(family),
        None => pattern == media_type,
    }
}

fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use trackway_runtime::ProgramInfo;

    use super::*;

    #[test]
    fn modes_match_without_parameters_or_case() {
        let produced: Vec<String> = ProgramInfo::MODES_DEFAULT.map(str::to_owned).into();
        for accepted in ["text/plain", "TEXT/PLAIN; charset=utf-8", "text/*", "*/*", "*", "text", "data"] {
            assert!(accepts_any(accepted, &produced), "{accepted}");
        }
        for accepted in ["image/png", "image/*", "", "text/html"] {
            assert!(!accepts_any(accepted, &produced), "{accepted}");
        }
        assert!(accepts_any("image/png", &["*/*".to_owned()]));
    }

    /// Proves X5.
    #[test]
    fn parts_of_an_unsupported_type_are_refused() {
        let taken: Vec<String> = ProgramInfo::MODES_DEFAULT.map(str::to_owned).into();
        let plain = Part::text("hi");
        assert!(check_part_types(std::slice::from_ref(&plain), &taken).is_ok());
        let odd = Part::text("hi").with_metadata("mimeType", "application/x-odd");
        let fault = check_part_types(&[plain, odd.clone()], &taken).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::ContentTypeNotSupported);
        assert!(check_part_types(&[odd], &["*/*".to_owned()]).is_ok());
    }
}
