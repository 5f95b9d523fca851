//! `[artifacts]`: how much may be stored.

use std::ops::RangeInclusive;

use toml::Spanned;
use trackway_artifacts::ArtifactLimits;

use super::{config_reader::ConfigReader, raw_config};

/// The whole content of an artifact is in memory while it is stored or read.
/// Limit (Artifacts): range of the content of one artifact that can be set; `[artifacts] max_bytes`.
const MAX_BYTES: RangeInclusive<u64> = 1..=1024 * 1024 * 1024;
/// From nothing, so that nobody can store anything, to more than a disk has.
/// Limit (Artifacts): range of the stored content of one owner that can be set; `[artifacts] quota_bytes`.
const QUOTA_BYTES: RangeInclusive<u64> = 0..=1024 * 1024 * 1024 * 1024 * 1024;

pub(super) fn read_artifacts_section(
    reader: &ConfigReader<'_>,
    section: &raw_config::RawArtifactsSection,
) -> ArtifactLimits {
    let number = |key: &str, number: Option<&Spanned<u64>>, range: RangeInclusive<u64>| {
        let number = number?;
        if range.contains(number.get_ref()) {
            return Some(*number.get_ref());
        }
        let why = format!("it must be from {} to {}", range.start(), range.end());
        reader.report_finding(number.span(), key, why)
    };
    let max_bytes = number("artifacts.max_bytes", section.max_bytes.as_ref(), MAX_BYTES);
    let quota_bytes = number("artifacts.quota_bytes", section.quota_bytes.as_ref(), QUOTA_BYTES);
    let mut limits = ArtifactLimits::default();
    limits.bytes_max = max_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(limits.bytes_max);
    limits.quota.bytes_max = quota_bytes.unwrap_or(limits.quota.bytes_max);
    limits
}
