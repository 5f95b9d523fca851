//! `[outgoing]`: which addresses that others chose may be called.

use trackway_outgoing::AllowedTarget;

use super::{OutgoingSection, config_reader::ConfigReader, raw_config};

/// Entries of the list of targets. Every address that others chose is compared with each of them.
/// Limit (HTTP): targets that can be allowed; `[outgoing] allow`.
const ALLOWED_TARGETS_MAX: usize = 256;

pub(super) fn read_outgoing_section(
    reader: &ConfigReader<'_>,
    section: &raw_config::RawOutgoingSection,
) -> OutgoingSection {
    let mut allow = Vec::new();
    for (index, text) in section.allow.iter().enumerate() {
        let key = format!("outgoing.allow[{index}]");
        if index == ALLOWED_TARGETS_MAX {
            let why = format!("the list has more than {ALLOWED_TARGETS_MAX} entries");
            reader.report_finding_with_hint::<()>(text.span(), &key, why, "name larger networks");
            break;
        }
        let Some(target) = reader.read_text_setting(&key, text) else { continue };
        match target.parse::<AllowedTarget>() {
            Ok(target) => allow.push(target),
            Err(why) => {
                let hint = "write a network such as \"10.0.0.0/8\", or names of hosts such as \"*.internal\"";
                reader.report_finding_with_hint::<()>(text.span(), &key, why, hint);
            }
        }
    }
    OutgoingSection { allow_loopback: section.allow_loopback, allow: allow.into_iter().collect() }
}
