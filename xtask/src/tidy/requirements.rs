//! What a test says it proves is on the page of requirements.

use super::Finding;
use super::tree::Tree;
use crate::requirements::{PAGE, claims_in, requirements};

pub(super) fn tests_name_requirements(tree: &Tree) -> Vec<Finding> {
    let page = tree.file(PAGE).map_or("", |file| file.text.as_str());
    let known: Vec<&str> = requirements(page).iter().map(|found| found.id).collect();
    let claims = tree.rust_files().flat_map(|file| claims_in(&file.path, &file.text));
    claims
        .filter(|claim| !known.contains(&claim.id.as_str()))
        .map(|claim| {
            let message =
                format!("`{}` proves `{}`, which {PAGE} does not have", claim.function, claim.id);
            Finding::new(&claim.path, claim.line, message)
        })
        .collect()
}
