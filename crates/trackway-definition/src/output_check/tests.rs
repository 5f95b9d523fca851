//! Tests of contracts: what an answer lacks, and that sending what is requested fixes it.

use proptest::prelude::*;

use super::*;
use crate::model::{
    Assessment, AssessmentConsequence, AssessmentDimension, NotesCriteria, NotesTextTest, OutputContract,
};
use crate::schema_validation::tests::apply_needs;
use crate::test_support::fill_example_choices;

fn prompt_with_output(required: bool) -> PromptStep {
    let schema = json!({
        "type": "object",
        "required": ["review"],
        "properties": {"review": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}},
    });
    let example = json!({"review": {"title": "Looks right"}});
    contract(OutputContractForm::WholeOutput { schema, example }, required)
}

fn artifact(required: bool) -> PromptStep {
    let schema = json!({
        "type": "object",
        "required": ["decision"],
        "properties": {"decision": {"enum": ["continue", "stop"]}},
        "additionalProperties": false,
    });
    let example = json!({"decision": "stop"});
    contract(OutputContractForm::Artifact { kind: "wr.loop_control".to_owned(), schema, example }, required)
}

fn contract(form: OutputContractForm, required: bool) -> PromptStep {
    PromptStep { output: Some(OutputContract { form, required, documents: vec![] }), ..PromptStep::default() }
}

fn judged(mut prompt: PromptStep, ids: &[&str]) -> PromptStep {
    let assessment = |id: &&str| Assessment {
        id: (*id).to_owned(),
        purpose: String::new(),
        dimensions: vec![AssessmentDimension {
            id: "clear".to_owned(),
            purpose: String::new(),
            levels: vec!["low".to_owned(), "high".to_owned()],
            required: true,
        }],
    };
    prompt.assessments = ids.iter().map(assessment).collect();
    prompt.consequences = vec![AssessmentConsequence {
        level: "low".to_owned(),
        assessment: None,
        guidance: "Look again.".to_owned(),
    }];
    prompt
}

fn noted(mut prompt: PromptStep) -> PromptStep {
    prompt.criteria = Some(NotesCriteria::Rule {
        when: None,
        test: NotesTextTest::Contains("Done".to_owned()),
        message: "Say that it is Done.".to_owned(),
    });
    prompt
}

fn inputs(output: Option<Value>) -> AttemptInputs {
    AttemptInputs { output, ..AttemptInputs::default() }
}

/// The code of the block and the pointers of its needs; none if the answer is accepted.
fn answer(prompt: &PromptStep, output: Option<Value>) -> String {
    let Err(block) = check_step_answer(prompt, &inputs(output), &Object::new()) else {
        return String::new();
    };
    let places = block.needs.into_iter().map(|need| format!(" {}", need.pointer));
    block.code + &places.collect::<String>()
}

/// Proves T7.
#[test]
fn whole_output_is_checked_against_its_schema() {
    for (prompt, output, expected) in [
        (prompt_with_output(true), Some(json!({"review": {"title": "x"}})), ""),
        (prompt_with_output(true), None, "output-missing /output"),
        (prompt_with_output(true), Some(json!({})), "output-invalid /output/review"),
        (
            prompt_with_output(true),
            Some(json!({"review": {"title": 3}})),
            "output-invalid /output/review/title",
        ),
        (prompt_with_output(true), Some(json!({"review": {}})), "output-invalid /output/review/title"),
        (prompt_with_output(true), Some(json!(null)), "output-invalid /output"),
        (prompt_with_output(false), None, ""),
        (prompt_with_output(false), Some(json!({"review": 1})), "output-invalid /output/review"),
        (PromptStep::default(), Some(json!({"anything": [1]})), ""),
        (PromptStep::default(), None, ""),
    ] {
        assert_eq!(answer(&prompt, output.clone()), expected, "{output:?}");
    }
}

/// Proves T7: artifacts by kind, with the pointer of each.
#[test]
fn artifacts_by_kind() {
    let stop = || json!({"kind": "wr.loop_control", "decision": "stop"});
    let wrong = || json!({"kind": "wr.loop_control", "decision": "end"});
    let high =
        |id: &str| json!({"kind": "wr.assessment", "assessmentId": id, "dimensions": {"clear": "high"}});
    let list = |items: Vec<Value>| Some(json!({ "artifacts": items }));
    for (prompt, output, expected) in [
        (artifact(true), list(vec![stop()]), ""),
        (artifact(true), list(vec![json!({"kind": "other"}), stop(), stop()]), ""),
        (artifact(true), None, "output-missing /output/artifacts"),
        (artifact(true), Some(json!({})), "output-missing /output/artifacts"),
        (artifact(true), list(vec![]), "output-missing /output/artifacts"),
        (artifact(true), Some(json!({"artifacts": "x"})), "output-invalid /output/artifacts"),
        (artifact(true), Some(json!("x")), "output-invalid /output"),
        (artifact(true), list(vec![json!(1)]), "output-missing /output/artifacts/1"),
        (artifact(true), list(vec![wrong()]), "output-invalid /output/artifacts/0/decision"),
        (artifact(true), list(vec![stop(), wrong()]), "output-invalid /output/artifacts/1/decision"),
        (artifact(false), None, ""),
        (artifact(false), Some(json!({})), ""),
        (artifact(false), list(vec![wrong()]), "output-invalid /output/artifacts/0/decision"),
        (judged(artifact(true), &["plan"]), list(vec![stop()]), "output-missing /output/artifacts/1"),
        (
            judged(artifact(true), &["plan", "code"]),
            list(vec![json!({"kind": "other"})]),
            "output-missing /output/artifacts/1 /output/artifacts/2 /output/artifacts/3",
        ),
        (judged(artifact(true), &["plan", "code"]), list(vec![high("code"), stop(), high("plan")]), ""),
        (judged(PromptStep::default(), &["plan"]), None, "output-missing /output/artifacts"),
        (judged(PromptStep::default(), &["plan"]), list(vec![high("plan")]), ""),
        (
            judged(PromptStep::default(), &["plan"]),
            list(vec![json!({"kind": "wr.assessment", "dimensions": {"clear": "low"}})]),
            "followup-required /output/artifacts/0/dimensions/clear",
        ),
    ] {
        assert_eq!(answer(&prompt, output.clone()), expected, "{output:?}");
    }
}

/// Proves T13: a missing or wrong decision of a registered contract is requested without an answer to copy:
/// the schema names the choices.
#[test]
fn needs_leave_judgements_open() {
    for (name, field, choices) in [
        ("loop_control", "decision", json!(["continue", "stop"])),
        ("gate_verdict", "verdict", json!(["approved", "rejected", "uncertain"])),
    ] {
        let form = crate::contract_registry::find_output_contract(&format!("wr.contracts.{name}"))
            .expect("a contract");
        let OutputContractForm::Artifact { kind, example, .. } = &form else { panic!("{form:?}") };
        let (kind, mut decided) = (kind.clone(), example.clone());
        fill_example_choices(&mut decided);
        let prompt = contract(form, true);
        let mut wrong = decided.clone();
        wrong[field] = json!("perhaps");
        let mut missing = decided.clone();
        missing.as_object_mut().expect("an object").remove(field);
        for artifact in [wrong, missing] {
            let given = inputs(Some(json!({ "artifacts": [artifact] })));
            let block = check_step_answer(&prompt, &given, &Object::new()).expect_err("it is undecided");
            let need = &block.needs[0];
            assert_eq!(need.pointer, format!("/output/artifacts/0/{field}"));
            assert_eq!((&need.example, &need.schema), (&None, &Some(json!({ "enum": choices }))));
        }
        let none = check_step_answer(&prompt, &inputs(None), &Object::new()).expect_err("it is missing");
        let shown = &none.needs[0].example.as_ref().expect("the whole form")[0];
        assert!(
            shown["kind"] == kind && crate::choice_placeholder::has_open_choice(&shown[field]),
            "{shown}"
        );
        let given = inputs(Some(json!({ "artifacts": [decided] })));
        assert_eq!(check_step_answer(&prompt, &given, &Object::new()), Ok(()));
    }
}

/// Proves T13: an agent that follows the needs of a registered contract advances.
#[test]
fn the_needs_of_every_registered_contract_lead_to_it() {
    for name in crate::contract_registry::contract_names() {
        let form = crate::contract_registry::find_output_contract(name).expect("a contract");
        let prompt = contract(form, true);
        let mut arguments = json!({});
        let mut rounds = 0;
        let given = |arguments: &Value| inputs(arguments.get("output").cloned());
        while let Err(block) = check_step_answer(&prompt, &given(&arguments), &Object::new()) {
            rounds += 1;
            assert!(rounds <= 3, "{name}: {arguments} {block:#?}");
            apply_needs(&mut arguments, &block.needs);
        }
        assert!(rounds > 0, "{name} is asked for");
    }
}

/// Everything that is wrong is reported at once.
#[test]
fn notes_and_output_are_answered_together() {
    let block =
        check_step_answer(&noted(prompt_with_output(true)), &inputs(None), &Object::new()).unwrap_err();
    let pointers: Vec<&str> = block.needs.iter().map(|need| need.pointer.as_str()).collect();
    assert_eq!((block.code.as_str(), pointers), ("output-missing", vec!["/output", "/notesMarkdown"]));
}

fn prompts() -> Vec<PromptStep> {
    vec![
        prompt_with_output(true),
        prompt_with_output(false),
        artifact(true),
        artifact(false),
        judged(PromptStep::default(), &["plan"]),
        judged(artifact(true), &["plan", "code"]),
        judged(prompt_with_output(true), &["plan"]),
        noted(judged(artifact(true), &["plan"])),
    ]
}

/// Proves T7: the example of a step passes once its choices are made, and fits the shown schema. If the step
/// requires a judgement, the example alone does not pass.
#[test]
fn the_expected_example_passes_once_it_is_decided() {
    assert_eq!(expected_step_output(&PromptStep::default()), None);
    for prompt in prompts() {
        let mut expected = expected_step_output(&prompt).unwrap();
        assert_eq!(schema_validation::find_schema_error(&expected.schema), None);
        let copied = check_step_answer(&prompt, &inputs(Some(expected.example.clone())), &Object::new());
        assert!(prompt.assessments.is_empty() || copied.is_err());
        fill_example_choices(&mut expected.example);
        assert_eq!(schema_validation::find_example_error(&expected.schema, &expected.example), None);
        let mut inputs = inputs(Some(expected.example));
        inputs.notes = Some("Done".to_owned());
        assert_eq!(check_step_answer(&prompt, &inputs, &Object::new()), Ok(()));
    }
}

fn any_output() -> impl Strategy<Value = Option<Value>> {
    let dimensions = prop::sample::select(vec![
        json!({}),
        json!({"clear": "low"}),
        json!({"clear": "none"}),
        json!({"clear": {"level": 3}}),
        json!({"clear": "high", "extra": 1}),
        json!(7),
    ]);
    let artifact = prop_oneof![
        (
            prop::sample::select(vec!["wr.assessment", "wr.loop_control", "x"]),
            prop::sample::select(vec!["plan", "code", "?"]),
            dimensions
        )
            .prop_map(
                |(kind, id, dimensions)| json!({"kind": kind, "assessmentId": id, "dimensions": dimensions})
            ),
        prop::sample::select(vec!["stop", "end"])
            .prop_map(|decision| json!({"kind": "wr.loop_control", "decision": decision})),
        Just(json!(null)),
    ];
    let artifacts = prop::collection::vec(artifact, 0..4);
    prop_oneof![
        Just(None),
        prop::sample::select(vec![
            json!(null),
            json!(1),
            json!({}),
            json!({"artifacts": {}}),
            json!({"review": []})
        ])
        .prop_map(Some),
        artifacts.prop_map(|artifacts| Some(json!({"artifacts": artifacts, "review": {"title": null}}))),
    ]
}

proptest! {
    /// Proves T7: an agent that follows the needs advances, in at most three rounds.
    #[test]
    fn doing_what_is_said_mends_the_answer(prompt in prop::sample::select(prompts()), output in any_output()) {
        let mut arguments = json!({});
        if let Some(output) = output {
            arguments["output"] = output;
        }
        let mut said = Vec::new();
        for _ in 0..4 {
            let inputs = AttemptInputs {
                output: arguments.get("output").cloned(),
                notes: arguments.get("notesMarkdown").and_then(Value::as_str).map(str::to_owned),
                ..AttemptInputs::default()
            };
            match check_step_answer(&prompt, &inputs, &Object::new()) {
                Ok(()) => return Ok(()),
                // The work is done, and judged again.
                Err(block) if block.code == "followup-required" => {
                    for need in &block.needs {
                        schema_validation::put_value_at_pointer(&mut arguments, &need.pointer, json!("high"));
                    }
                    said.push(block);
                }
                Err(block) => {
                    apply_needs(&mut arguments, &block.needs);
                    said.push(block);
                }
            }
        }
        prop_assert!(false, "{arguments} {said:#?}");
    }
}
