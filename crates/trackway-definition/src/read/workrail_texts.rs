//! Our own texts for names in WorkRail's files that WorkRail itself would fill in: what a snippet
//! (`wr.refs.…`) is about, and what a feature (`wr.features.…`) requires of every step.

use std::{collections::BTreeMap, sync::LazyLock};

static PHRASES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../schema/phrases.json")).expect("names and texts")
});

pub(super) fn workrail_snippet_text(id: &str) -> Option<&'static str> {
    id.starts_with("wr.refs.").then(|| find_workrail_text(id)).flatten()
}

pub(super) fn workrail_feature_text(id: &str) -> Option<&'static str> {
    id.starts_with("wr.features.").then(|| find_workrail_text(id)).flatten()
}

fn find_workrail_text(id: &str) -> Option<&'static str> {
    PHRASES.get(id).map(String::as_str)
}
