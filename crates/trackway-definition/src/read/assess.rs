//! Judgements that steps ask for, and what follows from them.

use std::collections::BTreeMap;

use super::cursor::{At, Fields};
use super::file::File;
use crate::model::{Assessment, Consequence, Dimension};
use crate::suggest::nearest;

/// The assessments that a file declares, by id.
pub(super) fn declared(fields: &Fields<'_>) -> BTreeMap<String, Assessment> {
    let Some(at) = fields.get("assessments") else { return BTreeMap::new() };
    let mut all = BTreeMap::new();
    for at in at.list() {
        let Some(assessment) = assessment(&at) else { continue };
        if all.insert(assessment.id.clone(), assessment).is_some() {
            at.fault("another assessment has this id already");
        }
    }
    all
}

fn assessment(at: &At<'_>) -> Option<Assessment> {
    let fields = at.object()?;
    let id = fields.need("id").and_then(|at| at.filled());
    let purpose = fields.need("purpose").and_then(|at| at.text());
    let dimensions = fields.need("dimensions").map(|at| at.list()).unwrap_or_default();
    let dimensions = dimensions.iter().filter_map(dimension).collect();
    fields.finish();
    Some(Assessment { id: id?.to_owned(), purpose: purpose?.to_owned(), dimensions })
}

fn dimension(at: &At<'_>) -> Option<Dimension> {
    let fields = at.object()?;
    let id = fields.need("id").and_then(|at| at.filled());
    let purpose = fields.need("purpose").and_then(|at| at.text());
    let levels = fields.need("levels").map(|at| at.texts()).unwrap_or_default();
    let levels = levels.into_iter().map(|(_, level)| level.to_owned()).collect();
    let required = fields.get("required").and_then(|at| at.flag()).unwrap_or(true);
    fields.finish();
    Some(Dimension { id: id?.to_owned(), purpose: purpose?.to_owned(), levels, required })
}

impl File<'_, '_> {
    /// The assessments that a step asks for.
    pub(super) fn assessments(&self, fields: &Fields<'_>) -> Vec<Assessment> {
        let refs = fields.get("assessmentRefs").map(|at| at.texts()).unwrap_or_default();
        let mut found = Vec::new();
        for (at, id) in refs {
            match self.assessments.get(id) {
                Some(assessment) => found.push(assessment.clone()),
                None => {
                    let known = self.assessments.keys().map(String::as_str);
                    at.suggest(format!("there is no assessment `{id}`"), nearest(id, known));
                }
            }
        }
        found
    }
}

/// What holds a step back.
pub(super) fn consequences(fields: &Fields<'_>, assessments: &[Assessment]) -> Vec<Consequence> {
    let list = fields.get("assessmentConsequences").map(|at| at.list()).unwrap_or_default();
    list.iter().filter_map(|at| consequence(at, assessments)).collect()
}

fn consequence(at: &At<'_>, assessments: &[Assessment]) -> Option<Consequence> {
    let fields = at.object()?;
    let (when, effect) = (fields.need("when"), fields.need("effect"));
    fields.finish();
    let when = when?.object()?;
    let level_at = when.need("anyEqualsLevel");
    let level = level_at.as_ref().and_then(|at| at.filled());
    let scope = when.get("forAssessment");
    let assessment = scope.as_ref().and_then(|at| at.filled());
    when.finish_with(|at, key| at.beyond(format!("`{key}` is not known in a consequence")));
    if let (Some(at), Some(id)) = (&scope, assessment)
        && !assessments.iter().any(|assessment| assessment.id == id)
    {
        let known = assessments.iter().map(|assessment| assessment.id.as_str());
        at.suggest(format!("the step asks for no assessment `{id}`"), nearest(id, known));
    }
    if let (Some(at), Some(level)) = (&level_at, level) {
        let in_scope = |a: &&Assessment| assessment.is_none_or(|id| a.id == id);
        let mut levels =
            assessments.iter().filter(in_scope).flat_map(|a| &a.dimensions).flat_map(|d| &d.levels);
        if !levels.any(|known| known == level) {
            at.fault(format!("no assessment of this step has the level `{level}`"));
        }
    }
    let effect = effect?.object()?;
    let kind = effect.need("kind");
    let guidance = effect.get("guidance").and_then(|at| at.text()).unwrap_or_default();
    effect.finish();
    if let Some(at) = kind
        && let Some(kind) = at.text()
        && kind != "require_followup"
    {
        at.beyond(format!("the effect `{kind}` is not known"));
        return None;
    }
    Some(Consequence {
        level: level?.to_owned(),
        assessment: assessment.map(str::to_owned),
        guidance: guidance.to_owned(),
    })
}
