//! Judgements that steps require, and their consequences.

use std::collections::BTreeMap;

use super::file_reader::DefinitionFileReader;
use super::file_value::{FileValue, ObjectFields};
use crate::model::{Assessment, AssessmentConsequence, AssessmentDimension};
use crate::spelling_suggestion::nearest_known_word;

/// The assessments that a file declares, by id.
pub(super) fn parse_assessments(fields: &ObjectFields<'_>) -> BTreeMap<String, Assessment> {
    let Some(at) = fields.get_and_mark_known("assessments") else { return BTreeMap::new() };
    let mut all = BTreeMap::new();
    for at in at.expect_list() {
        let Some(assessment) = parse_assessment(&at) else { continue };
        if all.insert(assessment.id.clone(), assessment).is_some() {
            at.report_finding("another assessment has this id already");
        }
    }
    all
}

fn parse_assessment(file_value: &FileValue<'_>) -> Option<Assessment> {
    let fields = file_value.expect_object()?;
    let id = fields.require_key("id").and_then(|at| at.expect_nonempty_text());
    let purpose = fields.require_key("purpose").and_then(|at| at.expect_text());
    let dimensions = fields.require_key("dimensions").map(|at| at.expect_list()).unwrap_or_default();
    let dimensions = dimensions.iter().filter_map(parse_dimension).collect();
    fields.report_unknown_keys();
    Some(Assessment { id: id?.to_owned(), purpose: purpose?.to_owned(), dimensions })
}

fn parse_dimension(file_value: &FileValue<'_>) -> Option<AssessmentDimension> {
    let fields = file_value.expect_object()?;
    let id = fields.require_key("id").and_then(|at| at.expect_nonempty_text());
    let purpose = fields.require_key("purpose").and_then(|at| at.expect_text());
    let levels = fields.require_key("levels").map(|at| at.expect_text_list()).unwrap_or_default();
    let levels = levels.into_iter().map(|(_, level)| level.to_owned()).collect();
    let required = fields.get_and_mark_known("required").and_then(|at| at.expect_bool()).unwrap_or(true);
    fields.report_unknown_keys();
    Some(AssessmentDimension { id: id?.to_owned(), purpose: purpose?.to_owned(), levels, required })
}

impl DefinitionFileReader<'_, '_> {
    /// The assessments that a step requires.
    pub(super) fn referenced_assessments(&self, fields: &ObjectFields<'_>) -> Vec<Assessment> {
        let refs =
            fields.get_and_mark_known("assessmentRefs").map(|at| at.expect_text_list()).unwrap_or_default();
        let mut found = Vec::new();
        for (at, id) in refs {
            match self.assessments.get(id) {
                Some(assessment) => found.push(assessment.clone()),
                None => {
                    let known = self.assessments.keys().map(String::as_str);
                    at.report_with_suggestion(
                        format!("there is no assessment `{id}`"),
                        nearest_known_word(id, known),
                    );
                }
            }
        }
        found
    }
}

/// The consequences that keep the run at a step.
pub(super) fn parse_consequences(
    fields: &ObjectFields<'_>,
    assessments: &[Assessment],
) -> Vec<AssessmentConsequence> {
    let list =
        fields.get_and_mark_known("assessmentConsequences").map(|at| at.expect_list()).unwrap_or_default();
    list.iter().filter_map(|at| parse_consequence(at, assessments)).collect()
}

fn parse_consequence(
    file_value: &FileValue<'_>,
    assessments: &[Assessment],
) -> Option<AssessmentConsequence> {
    let fields = file_value.expect_object()?;
    let (when, effect) = (fields.require_key("when"), fields.require_key("effect"));
    fields.report_unknown_keys();
    let when = when?.expect_object()?;
    let level_at = when.require_key("anyEqualsLevel");
    let level = level_at.as_ref().and_then(|at| at.expect_nonempty_text());
    let scope = when.get_and_mark_known("forAssessment");
    let assessment = scope.as_ref().and_then(|at| at.expect_nonempty_text());
    when.report_unknown_keys_with(|at, key| {
        at.report_unsupported_construct(format!("`{key}` is not known in a consequence"))
    });
    if let (Some(at), Some(id)) = (&scope, assessment)
        && !assessments.iter().any(|assessment| assessment.id == id)
    {
        let known = assessments.iter().map(|assessment| assessment.id.as_str());
        at.report_with_suggestion(
            format!("the step asks for no assessment `{id}`"),
            nearest_known_word(id, known),
        );
    }
    if let (Some(at), Some(level)) = (&level_at, level) {
        let in_scope = |a: &&Assessment| assessment.is_none_or(|id| a.id == id);
        let mut levels =
            assessments.iter().filter(in_scope).flat_map(|a| &a.dimensions).flat_map(|d| &d.levels);
        if !levels.any(|known| known == level) {
            at.report_finding(format!("no assessment of this step has the level `{level}`"));
        }
    }
    let effect = effect?.expect_object()?;
    let kind = effect.require_key("kind");
    let guidance = effect.get_and_mark_known("guidance").and_then(|at| at.expect_text()).unwrap_or_default();
    effect.report_unknown_keys();
    if let Some(at) = kind
        && let Some(kind) = at.expect_text()
        && kind != "require_followup"
    {
        at.report_unsupported_construct(format!("the effect `{kind}` is not known"));
        return None;
    }
    Some(AssessmentConsequence {
        level: level?.to_owned(),
        assessment: assessment.map(str::to_owned),
        guidance: guidance.to_owned(),
    })
}
