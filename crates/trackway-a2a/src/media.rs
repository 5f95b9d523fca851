//! Media types: what an agent accepts and produces.

use trackway_domain::{Code, Content, Part};

use crate::fault::{Fault, Kind};

/// Refuses a message with a part of a type that the agent does not accept.
pub(crate) fn check_parts(parts: &[Part], taken: &[String]) -> Result<(), Fault> {
    for (index, part) in parts.iter().enumerate() {
        let Some(named) = named(part) else { continue };
        if !taken.iter().any(|mode| covers(mode, named)) {
            let shown: String = named.chars().take(64).collect();
            return Err(Fault::new(
                Kind::ContentTypeNotSupported,
                Code::InvalidRequest,
                format!("part {index} is of type {shown:?}, which this agent does not take"),
                format!("send one of {}", taken.join(", ")),
            )
            .at(format!("/params/message/parts/{index}")));
        }
    }
    Ok(())
}

/// The declared type of a part. A part without one has the type that its kind implies.
fn named(part: &Part) -> Option<&str> {
    match &part.content {
        Content::File(file) => file.mime_type.as_deref(),
        Content::Text(_) | Content::Data(_) => part.metadata.get("mimeType")?.as_str(),
    }
}

/// Whether an accepted mode covers a produced one. Clients of earlier generations still send `text` and
/// `data`.
pub(crate) fn covers_any(accepted: &str, produced: &[String]) -> bool {
    match essence(accepted).as_str() {
        "*" | "text" | "data" => true,
        _ => produced.iter().any(|mode| covers(accepted, mode) || covers(mode, accepted)),
    }
}

/// Whether JSON is among the accepted modes.
pub(crate) fn accept_json(accepted: &[String]) -> bool {
    accepted.iter().any(|mode| match essence(mode).as_str() {
        "*" | "data" => true,
        _ => covers(mode, "application/json"),
    })
}

/// Whether a pattern such as `text/*` covers a type. Parameters are not compared.
fn covers(pattern: &str, media_type: &str) -> bool {
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
    fn modes_are_matched_by_their_essence() {
        let produced: Vec<String> = ProgramInfo::MODES_DEFAULT.map(str::to_owned).into();
        for accepted in
            ["text/plain", "TEXT/PLAIN; charset=utf-8", "text/*", "*/*", "*", "text", "data"]
        {
            assert!(covers_any(accepted, &produced), "{accepted}");
        }
        for accepted in ["image/png", "image/*", "", "text/html"] {
            assert!(!covers_any(accepted, &produced), "{accepted}");
        }
        assert!(covers_any("image/png", &["*/*".to_owned()]));
    }

    /// Proves X5.
    #[test]
    fn only_a_type_that_is_named_and_not_taken_is_refused() {
        let taken: Vec<String> = ProgramInfo::MODES_DEFAULT.map(str::to_owned).into();
        let plain = Part::text("hi");
        assert!(check_parts(std::slice::from_ref(&plain), &taken).is_ok());
        let odd = Part::text("hi").with("mimeType", "application/x-odd");
        let fault = check_parts(&[plain, odd.clone()], &taken).unwrap_err();
        assert_eq!(fault.kind, Kind::ContentTypeNotSupported);
        assert!(check_parts(&[odd], &["*/*".to_owned()]).is_ok());
    }
}
