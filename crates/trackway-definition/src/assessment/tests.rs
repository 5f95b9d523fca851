//! Tests of assessments.

use super::*;

fn prompt(assessments: &[&str]) -> PromptStep {
    let dimension = |id: &str, required| AssessmentDimension {
        id: id.to_owned(),
        purpose: format!("How {id} it is"),
        levels: vec!["low".to_owned(), "medium".to_owned(), "high".to_owned()],
        required,
    };
    let assessment = |id: &&str| Assessment {
        id: (*id).to_owned(),
        purpose: "To know".to_owned(),
        dimensions: vec![dimension("clear", true), dimension("risky", false)],
    };
    PromptStep {
        assessments: assessments.iter().map(assessment).collect(),
        consequences: vec![AssessmentConsequence {
            level: "low".to_owned(),
            assessment: Some("plan".to_owned()),
            guidance: "Ask again.".to_owned(),
        }],
        ..PromptStep::default()
    }
}

fn judged(dimensions: impl Into<Value>) -> Value {
    json!({ "kind": KIND, "assessmentId": "plan", "dimensions": dimensions.into() })
}

/// Proves T7: each fault of a judgement is named at its pointer.
#[test]
fn a_judgement_has_known_dimensions_and_levels() {
    let prompt = prompt(&["plan"]);
    let at = "/output/artifacts/0";
    for (artifact, expected) in [
        (judged(json!({"clear": "high"})), vec![]),
        (judged(json!({"clear": " High ", "risky": {"level": "low", "rationale": "x"}})), vec![]),
        (json!({"kind": KIND, "dimensions": {"clear": "medium"}}), vec![]),
        (judged(json!({})), vec![("/dimensions/clear", None, None)]),
        (judged(json!({"clear": "none"})), vec![("/dimensions/clear", None, Some(json!("none")))]),
        (judged(json!({"clear": 3})), vec![("/dimensions/clear", None, Some(json!(3)))]),
        (
            judged(json!({"clear": {"level": "none"}})),
            vec![("/dimensions/clear/level", None, Some(json!("none")))],
        ),
        (
            judged(json!({"clear": "low", "other/one": "low"})),
            vec![(
                "/dimensions",
                Some(json!({"clear": "low"})),
                Some(json!({"clear": "low", "other/one": "low"})),
            )],
        ),
        (
            judged(json!(null)),
            vec![(
                "/dimensions",
                Some(json!({"clear": "<low | medium | high>", "risky": "<low | medium | high>"})),
                Some(json!(null)),
            )],
        ),
        (
            json!({"kind": KIND, "assessmentId": "other", "dimensions": {"clear": "low"}}),
            vec![("/assessmentId", Some(json!("plan")), Some(json!("other")))],
        ),
    ] {
        let found = find_assessment_needs(&prompt.assessments[0], &artifact, at);
        let found: Vec<_> = found
            .into_iter()
            .map(|need| (need.pointer[at.len()..].to_owned(), need.example, need.got))
            .collect();
        let expected: Vec<_> =
            expected.into_iter().map(|(pointer, example, got)| (pointer.to_owned(), example, got)).collect();
        assert_eq!(found, expected, "{artifact}");
    }
}

/// Proves T7: a judgement that keeps the run at the step says what has to be done first.
#[test]
fn assessment_level_can_block_the_step() {
    let both = prompt(&["plan", "code"]);
    let one = prompt(&["plan"]);
    let code = |level: &str| json!({"kind": KIND, "assessmentId": "code", "dimensions": {"clear": level}});
    let plan = |level: &str| judged(json!({ "clear": level }));
    for (prompt, artifacts, held) in [
        (&one, vec![plan("high")], false),
        (&one, vec![plan("LOW")], true),
        (&one, vec![json!({"kind": KIND, "dimensions": {"clear": {"level": "low"}}})], true),
        (&both, vec![code("low"), plan("medium")], false),
        (&both, vec![code("low"), plan("low")], true),
        (&one, vec![json!({"kind": "other", "dimensions": {"clear": "low"}})], false),
        (&one, vec![], false),
    ] {
        let result = check_assessment_consequences(prompt, &artifacts);
        assert_eq!(result.is_err(), held, "{artifacts:?}");
        if let Err(block) = result {
            assert_eq!((block.code.as_str(), block.message.as_str()), ("followup-required", "Ask again."));
            // No value can be sent instead of the work.
            let need = &block.needs[0];
            assert_eq!((&need.example, &need.schema, &need.got), (&None, &None, &None));
            assert!(block.needs[0].pointer.ends_with(if artifacts[0]["dimensions"]["clear"].is_object() {
                "/dimensions/clear/level"
            } else {
                "/dimensions/clear"
            }));
        }
    }
}

/// Proves T13: the example names every level and selects none of them.
#[test]
fn assessment_example_leaves_levels_open() {
    let prompt = prompt(&["plan", "code"]);
    for assessment in &prompt.assessments {
        let mut example = assessment_artifact_example(assessment);
        assert!(find_assessment_needs(assessment, &example, "").iter().any(|need| need.got.is_some()));
        crate::test_support::fill_example_choices(&mut example);
        assert_eq!(
            crate::schema_validation::find_example_error(
                &assessment_artifact_schema(assessment, false),
                &example
            ),
            None
        );
        assert_eq!(find_assessment_needs(assessment, &example, ""), []);
    }
}
