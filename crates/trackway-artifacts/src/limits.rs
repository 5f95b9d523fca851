//! How much may be saved.

use trackway_ports::ArtifactQuota;

/// A recording of an hour or a large table; anything more belongs on a file server and is given by its address.
/// The whole content is in memory while it is saved or read.
/// Limit (Artifacts): content of one artifact; `[artifacts] max_bytes`.
const ARTIFACT_BYTES_MAX_DEFAULT: usize = 64 * 1024 * 1024;

/// The versions of one owner that were saved, all together. A data folder has many owners.
/// Limit (Artifacts): saved content of one owner; `[artifacts] quota_bytes`.
const QUOTA_BYTES_DEFAULT: u64 = 4 * 1024 * 1024 * 1024;

/// Each save adds up an owner's versions; with this number it takes some milliseconds.
/// Limit (Artifacts): saved versions of one owner.
const QUOTA_VERSIONS_MAX: u64 = 100_000;

/// Tags are words to sort by.
/// Limit (Artifacts): tags of one version.
pub(crate) const TAGS_MAX: usize = 32;
/// Limit (Artifacts): one tag.
pub(crate) const TAG_BYTES_MAX: usize = 64;

/// Metadata is shown in every listing.
/// Limit (Artifacts): metadata of one version, as JSON.
pub(crate) const METADATA_BYTES_MAX: usize = 16 * 1024;

/// As long as a type with its parameters can reasonably be.
/// Limit (Artifacts): media type of one version.
pub(crate) const MEDIA_TYPE_BYTES_MAX: usize = 255;

/// A UUID with a prefix, as for every id that a client may choose.
/// Limit (Artifacts): id of a request to save.
pub(crate) const REQUEST_ID_BYTES_MAX: usize = 256;

/// Limit (Artifacts): artifacts or versions on a page.
pub(crate) const PAGE_MAX: usize = 500;

/// Limits that an operator can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactLimits {
    /// Content of one artifact.
    pub bytes_max: usize,
    /// What one owner may save.
    pub quota: ArtifactQuota,
}

impl Default for ArtifactLimits {
    fn default() -> Self {
        Self {
            bytes_max: ARTIFACT_BYTES_MAX_DEFAULT,
            quota: ArtifactQuota { bytes_max: QUOTA_BYTES_DEFAULT, versions_max: QUOTA_VERSIONS_MAX },
        }
    }
}
