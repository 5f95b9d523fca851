//! The artifact service: names, versions, scopes, access, and content by type.
//!
//! An artifact is what a user attached to a message, what a run yielded, or what a caller saved. All of them are
//! rows of one index ([`trackway_ports::ArtifactStore`]); this crate decides who may use which, and reads their
//! content. Doors check the scopes `artifact:read` and `artifact:write` before they call it.

mod content_value;
mod csv_rows;
mod error;
mod event_content;
mod limits;
mod requests;
mod schema_inference;
mod service;
mod signed_reference;

pub use content_value::{ContentError, content_as_value};
pub use error::ArtifactError;
pub use limits::ArtifactLimits;
pub use requests::{ArtifactListQuery, ArtifactLookup, ArtifactPage, NewArtifact};
pub use schema_inference::infer_schema;
pub use service::{ArtifactService, ArtifactServiceOptions};
pub use signed_reference::{
    REFERENCE_LIFETIME, ReferenceKey, ReferenceKeys, ReferenceSigner, ReferencedArtifact,
    SignedReferenceError,
};
pub use trackway_engine::{media_type_from_content, media_type_from_filename};
/// An artifact that the caller may read, at one version.
pub use trackway_ports::ArtifactVersionRow as StoredArtifact;
