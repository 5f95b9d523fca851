//! Artifacts as they are written: the same members in every generation, but for how a part looks.

use std::{fmt, marker::PhantomData};

use serde::{Serialize, Serializer};
use trackway_domain::{self as domain, Object, RunId};
use trackway_engine::Omitted;

use super::metadata::Metadata;
use crate::ops::Place;

/// How a generation writes one part.
pub(super) trait Form {
    fn part<S: Serializer>(part: &domain::Part, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Parts in one form.
pub(super) struct Parts<'a, F> {
    parts: &'a [domain::Part],
    form: PhantomData<F>,
}

impl<'a, F> Parts<'a, F> {
    pub(super) fn new(parts: &'a [domain::Part]) -> Self {
        Self { parts, form: PhantomData }
    }
}

impl<F> fmt::Debug for Parts<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts).finish()
    }
}

impl<F: Form> Serialize for Parts<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct One<'a, F>(&'a domain::Part, PhantomData<F>);

        impl<F: Form> Serialize for One<'_, F> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                F::part(self.0, serializer)
            }
        }

        serializer.collect_seq(self.parts.iter().map(|part| One::<F>(part, self.form)))
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", bound = "F: Form")]
pub(crate) struct Artifact<'a, F> {
    artifact_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Parts<'a, F>,
    #[serde(skip_serializing_if = "is_empty")]
    metadata: &'a Object,
}

impl<'a, F> Artifact<'a, F> {
    pub(super) fn new(artifact: &'a domain::Artifact) -> Self {
        Self {
            artifact_id: artifact.id.as_str(),
            name: artifact.name.as_deref(),
            description: artifact.description.as_deref(),
            parts: Parts::new(&artifact.parts),
            metadata: &artifact.metadata,
        }
    }
}

/// A piece of an artifact, and whose it is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", bound = "F: Form")]
pub(crate) struct ArtifactUpdate<'a, F> {
    task_id: RunId,
    context_id: &'a str,
    artifact: Artifact<'a, F>,
    append: bool,
    last_chunk: bool,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a, F> ArtifactUpdate<'a, F> {
    pub(super) fn new(
        chunk: &'a domain::ArtifactChunk,
        place: &'a Place,
        omitted: &'a Omitted,
    ) -> Self {
        Self {
            task_id: place.run,
            context_id: place.session.as_str(),
            artifact: Artifact::new(&chunk.artifact),
            append: chunk.append,
            last_chunk: chunk.last,
            metadata: Metadata::of_artifact(omitted),
        }
    }
}

/// Metadata that says nothing is not written.
pub(super) fn is_empty(metadata: &&Object) -> bool {
    metadata.is_empty()
}

/// A moment as it is printed.
pub(super) fn printed<S: Serializer>(
    moment: &domain::Timestamp,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}
