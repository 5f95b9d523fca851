//! Media types: what an agent accepts and produces.

use trackway_domain::{ErrorCode, MessagePartContent, Part};

use crate::error::{A2aError, A2aErrorKind};

/// Refuses a message with a part of a type that the agent does not accept. Parts that are exempt may have
/// any type.
pub(crate) fn check_part_media_types(
    parts: &[Part],
    accepted: &[String],
    is_exempt: impl Fn(&Part) -> bool,
) -> Result<(), A2aError> {
    for (index, part) in parts.iter().enumerate().filter(|(_, part)| !is_exempt(part)) {
        let Some(named) = declared_media_type(part) else { continue };
        if !accepted.iter().any(|mode| matches_media_type_pattern(mode, named)) {
            let shown: String = named.chars().take(64).collect();
            return Err(A2aError::new(
                A2aErrorKind::ContentTypeNotSupported,
                ErrorCode::InvalidRequest,
                format!("part {index} is of type {shown:?}, which this agent does not take"),
                format!("send one of {}", accepted.join(", ")),
            )
            .with_request_path(format!("/params/message/parts/{index}")));
        }
    }
    Ok(())
}

/// The declared type of a part. A part without one has the type that its kind implies.
fn declared_media_type(part: &Part) -> Option<&str> {
    match &part.content {
        MessagePartContent::File(file) => file.mime_type.as_deref(),
        MessagePartContent::Text(_) | MessagePartContent::Data(_) => part.metadata.get("mimeType")?.as_str(),
    }
}

/// Whether an accepted mode covers a produced one. Clients of earlier generations still send `text` and
/// `data`.
pub(crate) fn accepts_any_produced_mode(accepted: &str, produced: &[String]) -> bool {
    match media_type_essence(accepted).as_str() {
        "*" | "text" | "data" => true,
        _ => produced.iter().any(|mode| {
            matches_media_type_pattern(accepted, mode) || matches_media_type_pattern(mode, accepted)
        }),
    }
}

/// Whether JSON is among the accepted modes.
pub(crate) fn accepts_json_mode(accepted: &[String]) -> bool {
    accepted.iter().any(|mode| match media_type_essence(mode).as_str() {
        "*" | "data" => true,
        _ => matches_media_type_pattern(mode, "application/json"),
    })
}

/// Whether a pattern such as `text/*` covers a type. Parameters are not compared.
fn matches_media_type_pattern(pattern: &str, media_type: &str) -> bool {
    let (pattern, media_type) = (media_type_essence(pattern), media_type_essence(media_type));
    match pattern.strip_suffix("/*") {
        Some("*") => true,
        Some(family) => media_type.split('/').next() == Some(family),
        None => pattern == media_type,
    }
}

pub(crate) fn media_type_essence(media_type: &str) -> String {
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
            assert!(accepts_any_produced_mode(accepted, &produced), "{accepted}");
        }
        for accepted in ["image/png", "image/*", "", "text/html"] {
            assert!(!accepts_any_produced_mode(accepted, &produced), "{accepted}");
        }
        assert!(accepts_any_produced_mode("image/png", &["*/*".to_owned()]));
    }

    /// Proves X5.
    #[test]
    fn parts_of_an_unsupported_type_are_refused() {
        let taken: Vec<String> = ProgramInfo::MODES_DEFAULT.map(str::to_owned).into();
        let plain = Part::text("hi");
        assert!(check_part_media_types(std::slice::from_ref(&plain), &taken, |_| false).is_ok());
        let odd = Part::text("hi").with_metadata("mimeType", "application/x-odd");
        let fault = check_part_media_types(&[plain, odd.clone()], &taken, |_| false).unwrap_err();
        assert_eq!(fault.kind, A2aErrorKind::ContentTypeNotSupported);
        assert!(check_part_media_types(std::slice::from_ref(&odd), &["*/*".to_owned()], |_| false).is_ok());
        assert!(check_part_media_types(&[odd], &taken, |_| true).is_ok());
    }
}
