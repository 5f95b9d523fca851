//! Every form of step that WorkRail has.

use serde_json::json;
use trackway_domain::Object;

use super::{findings_of_steps, link_among, parse_tolerant, rows, with_steps};
use crate::model::{
    Comparison, Condition, ConditionRule, LoopKind, LoopRoundCount, NotesCriteria, NotesTextTest,
    OutputContractForm, PromptStep, Step, StepKind, UnsupportedConstruct, ValueExpression,
};
use crate::{DefinitionDraft, FileFormat, parse_definition_draft};

fn prompt(step: &Step) -> &PromptStep {
    match &step.kind {
        StepKind::Prompt(prompt) => prompt,
        other => panic!("{other:?}"),
    }
}

fn ids(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.id.as_str()).collect()
}

/// Proves T9: everything that belongs to a prompt is in its text, in a fixed order.
#[test]
fn prompt_parts_become_one_text() {
    let definition = parse_tolerant(&json!([{
        "id": "one", "title": "One", "agentRole": "You are careful.", "prompt": "Do {{what}}.",
        "guidance": ["Slowly"], "functionReferences": ["draw()"], "functionCalls": [{ "name": "cut", "args": { "n": 1 } }],
        "functionDefinitions": [
            { "name": "draw", "definition": "Draw it.", "parameters": [{ "name": "size", "type": "number", "required": true }] },
            { "name": "cut", "definition": "Cut it." }
        ],
    }]));
    insta::assert_snapshot!(prompt(&definition.steps[0]).text);
}

/// Proves T9: blocks are shown in one order, with our own words for what they name.
#[test]
fn blocks_are_shown_in_order() {
    let definition = parse_tolerant(&json!([{ "id": "one", "title": "One", "promptBlocks": {
        "verify": ["It holds"],
        "outputRequired": { "notes": "what you did", "n": 3 },
        "procedure": ["First", [{ "kind": "text", "text": "then " }, { "kind": "ref", "refId": "wr.refs.other" }]],
        "constraints": [[{ "kind": "ref", "refId": "wr.refs.memory_store" }]],
        "goal": "Get {% there",
    }}]));
    insta::assert_snapshot!(prompt(&definition.steps[0]).text);
    assert_eq!(definition.unsupported[0].path, "/steps/0/promptBlocks/procedure/1/1/refId");
    assert!(!definition.unsupported[0].matters);
}

/// Proves T9: all forms of a confirmation.
#[test]
fn confirmations_have_many_forms() {
    let rule = Condition::Rule(ConditionRule::Truthy { name: "risky".into() });
    let rows = [
        (json!(true), Some(Condition::Always)),
        (json!(false), None),
        (json!({ "var": "risky" }), Some(rule.clone())),
        (json!({ "kind": "human_approval" }), Some(Condition::Always)),
        (json!({ "kind": "human_approval", "condition": { "var": "risky" } }), Some(rule)),
        (json!({ "kind": "coordinator_eval" }), Some(Condition::Always)),
        (json!("risk > 2"), Some(Condition::Cel("risk > 2".into()))),
    ];
    for (form, expected) in rows {
        let definition = parse_tolerant(
            &json!([{ "id": "one", "title": "One", "prompt": "x", "requireConfirmation": form }]),
        );
        assert_eq!(prompt(&definition.steps[0]).confirm, expected, "{form}");
    }
}

/// Proves T9: rules as data, with every operator.
#[test]
fn rules_have_every_operator() {
    let test = |test, value| ConditionRule::Test { name: "a".into(), test, value };
    let rows = [
        (json!({ "var": "a", "equals": null }), test(Comparison::Equals, json!(null))),
        (json!({ "var": "a", "not_equals": 1 }), test(Comparison::NotEquals, json!(1))),
        (json!({ "var": "a", "gt": 1 }), test(Comparison::Greater, json!(1))),
        (json!({ "var": "a", "gte": 1 }), test(Comparison::GreaterOrEqual, json!(1))),
        (json!({ "var": "a", "lt": 1 }), test(Comparison::Less, json!(1))),
        (json!({ "var": "a", "lte": 1.5 }), test(Comparison::LessOrEqual, json!(1.5))),
        (json!({ "var": "a", "contains": "x" }), test(Comparison::Contains, json!("x"))),
        (json!({ "var": "a", "startsWith": "x" }), test(Comparison::StartsWith, json!("x"))),
        (json!({ "var": "a", "endsWith": "x" }), test(Comparison::EndsWith, json!("x"))),
        (json!({ "var": "a", "matches": "^x" }), test(Comparison::Matches, json!("^x"))),
        (json!({ "var": "a", "in": [1, 2] }), test(Comparison::In, json!([1, 2]))),
        (json!({ "var": "a", "exists": true }), test(Comparison::Exists, json!(true))),
        (
            json!({ "not": { "var": "a" } }),
            ConditionRule::Not(Box::new(ConditionRule::Truthy { name: "a".into() })),
        ),
        (
            json!({ "or": [{ "var": "a" }] }),
            ConditionRule::Or(vec![ConditionRule::Truthy { name: "a".into() }]),
        ),
        (
            json!({ "var": "a", "gt": 1, "lt": 3 }),
            ConditionRule::And(vec![test(Comparison::Greater, json!(1)), test(Comparison::Less, json!(3))]),
        ),
    ];
    for (form, expected) in rows {
        let definition =
            parse_tolerant(&json!([{ "id": "one", "title": "One", "prompt": "x", "runCondition": form }]));
        assert_eq!(definition.steps[0].when, Some(Condition::Rule(expected)), "{form}");
    }
}

/// Proves T9: what a file contains and nothing acts on is named, and marked if it matters.
#[test]
fn unsupported_constructs_are_reported() {
    for (more, expected) in rows(include_str!("unsupported.txt")) {
        let more: Object = serde_json::from_str(more).expect("JSON");
        let mut step = json!({ "id": "one", "title": "One", "prompt": "x" });
        if more.contains_key("templateCall") {
            step["prompt"].take();
        }
        let fields = step.as_object_mut().expect("an object");
        fields.retain(|_, value| !value.is_null());
        fields.extend(more);
        let definition = parse_tolerant(&json!([step]));
        let note = |note: &UnsupportedConstruct| {
            format!("{} {}", note.path, if note.matters { "matters" } else { "informs" })
        };
        let notes: Vec<String> = definition.unsupported.iter().map(note).collect();
        assert_eq!(notes, [expected], "{step}");
    }
}

/// Proves T13: an unknown contract of a WorkRail file requires an artifact of its kind, nothing more.
#[test]
fn an_unknown_contract_asks_for_its_kind() {
    let definition = parse_tolerant(&json!([{
        "id": "one", "title": "One", "prompt": "x",
        "outputContract": { "contractRef": "wr.contracts.new", "required": false },
    }]));
    let contract = prompt(&definition.steps[0]).output.as_ref().expect("a contract");
    assert!(!contract.required);
    let OutputContractForm::Artifact { kind, example, .. } = &contract.form else { panic!("{contract:?}") };
    assert_eq!((kind.as_str(), example), ("wr.new", &json!({ "kind": "wr.new" })));
}

/// Proves T9: the criteria for notes, in all their forms.
#[test]
fn criteria_are_composed() {
    let definition = parse_tolerant(
        &json!([{ "id": "one", "title": "One", "prompt": "x", "validationCriteria": {
            "and": [
                { "type": "regex", "pattern": "ab/c", "flags": "gi", "message": "m" },
                { "or": [{ "type": "length", "min": 2, "message": "short" }, { "not": { "type": "contains", "value": "z", "message": "z" } }] },
            ],
        }}]),
    );
    let rule = |test, message: &str| NotesCriteria::Rule { when: None, test, message: message.into() };
    let expected = NotesCriteria::All(vec![
        rule(NotesTextTest::Matches("(?i)ab/c".into()), "m"),
        NotesCriteria::Any(vec![
            rule(NotesTextTest::Length { min: Some(2), max: None }, "short"),
            NotesCriteria::Not(Box::new(rule(NotesTextTest::Contains("z".into()), "z"))),
        ]),
    ]);
    assert_eq!(prompt(&definition.steps[0]).criteria, Some(expected));
}

/// Proves T9: loops of every kind.
#[test]
fn loops_of_every_kind() {
    let condition = Condition::Rule(ConditionRule::Truthy { name: "more".into() });
    let each = |item: &str, index: &str| LoopKind::Each {
        list: ValueExpression::Name("items".into()),
        item: item.into(),
        index: Some(index.into()),
    };
    let rows = [
        (json!({ "type": "while", "condition": { "var": "more" } }), LoopKind::While(condition.clone())),
        (json!({ "type": "until", "condition": { "var": "more" } }), LoopKind::Until(condition.clone())),
        (
            json!({ "type": "until", "conditionSource": { "kind": "context_variable", "condition": { "var": "more" } } }),
            LoopKind::Until(condition),
        ),
        (
            json!({ "type": "while", "conditionSource": { "kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "l" } }),
            LoopKind::Decision { id: Some("l".into()) },
        ),
        (json!({ "type": "for", "count": 3 }), LoopKind::Count(LoopRoundCount::Number(3))),
        (
            json!({ "type": "for", "count": "tries" }),
            LoopKind::Count(LoopRoundCount::From(ValueExpression::Name("tries".into()))),
        ),
        (json!({ "type": "forEach", "items": "items" }), each("currentItem", "currentIndex")),
        (json!({ "type": "forEach", "items": "items", "itemVar": "i", "indexVar": "n" }), each("i", "n")),
    ];
    for (mut form, expected) in rows {
        form["maxIterations"] = json!(7);
        let definition = parse_tolerant(&json!([{
            "id": "round", "type": "loop", "title": "Round", "loop": form,
            "body": [{ "id": "in-it", "title": "In it", "prompt": "x" }],
        }]));
        let StepKind::Loop(inner) = &definition.steps[0].kind else { panic!("{form}") };
        assert_eq!((&inner.over, inner.max), (&expected, 7), "{form}");
        assert_eq!(ids(&inner.steps), ["in-it"]);
    }
}

/// Proves T9: a body by id runs only inside its loop, and two loops may share it.
#[test]
fn loop_body_referenced_by_id_runs_in_its_loop() {
    let round = |id: &str| {
        json!({
            "id": id, "type": "loop", "title": "Round", "body": "shared",
            "loop": { "type": "while", "maxIterations": 2 },
        })
    };
    let definition = parse_tolerant(&json!([
        round("first"),
        { "id": "shared", "title": "Shared", "prompt": "x", "outputContract": { "contractRef": "wr.contracts.loop_control" } },
        round("second"),
    ]));
    assert_eq!(ids(&definition.steps), ["first", "second"]);
    let bodies: Vec<Vec<&str>> = definition
        .steps
        .iter()
        .map(|step| match &step.kind {
            StepKind::Loop(inner) => {
                assert_eq!(inner.over, LoopKind::Decision { id: Some(step.id.clone()) });
                ids(&inner.steps)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bodies, [["shared"], ["second.shared"]]);
}

/// Proves T9: a body that contains itself is a fault, not an endless loop of the reader.
#[test]
fn loop_body_inside_itself_is_a_finding() {
    let steps = json!([
        { "id": "a", "type": "loop", "title": "A", "body": "b", "loop": { "type": "for", "count": 1 } },
        { "id": "b", "type": "loop", "title": "B", "body": "a", "loop": { "type": "for", "count": 1 } },
    ]);
    // Neither is in the list of steps; each is the other's body.
    let faults = findings_of_steps(&steps);
    assert!(faults.len() == 1 && faults[0].contains("inside itself"), "{faults:?}");
    let steps = json!([{ "id": "a", "type": "loop", "title": "A", "loop": { "type": "for", "count": 1 },
        "body": [{ "id": "c", "type": "loop", "title": "C", "body": "a", "loop": { "type": "for", "count": 1 } }] }]);
    assert_eq!(findings_of_steps(&steps).len(), 1);
}

/// Proves T9: delegations become a prompt with a task for each, and a step that combines them.
#[test]
fn delegations_become_prompts() {
    let definition = parse_tolerant(&json!([{
        "id": "fan", "type": "parallel", "title": "Fan out", "runCondition": { "var": "big" },
        "parallelDelegations": [{
            "workflowId": "wr.routine-look", "goal": "Look at {{part}}", "modelTier": "mid",
            "args": { "depth": "deep" }, "contextMapping": { "facts": "given", "a.b": "c" },
            "runCondition": { "var": "look" },
        }],
        "synthesis": { "outputContract": { "contractRef": "wr.contracts.review_verdict" } },
    }]));
    assert_eq!(ids(&definition.steps), ["fan", "fan-synthesis"]);
    assert!(definition.steps.iter().all(|step| step.when.is_some()));
    let fragment = &prompt(&definition.steps[0]).fragments[0];
    assert!(fragment.when.is_some());
    insta::assert_snapshot!(fragment.text);
    assert!(prompt(&definition.steps[1]).output.is_some());
}

/// Proves T9: checks of a step are steps after it.
#[test]
fn checks_follow_their_step() {
    let definition = parse_tolerant(&json!([{
        "id": "make", "title": "Make", "prompt": "x",
        "audit": { "rubric": ["whole", "right"] }, "verification": { "command": "make check" },
    }]));
    assert_eq!(ids(&definition.steps), ["make", "make-verification", "make-audit"]);
    assert!(prompt(&definition.steps[1]).text.contains("make check"));
    assert!(prompt(&definition.steps[2]).text.contains("- whole\n- right"));
}

fn routine() -> DefinitionDraft {
    let text = json!({
        "id": "wr.routine-look", "name": "Look", "description": "Looks.", "version": "1.0.0",
        "metaGuidance": ["Touch nothing"],
        "steps": [
            { "id": "far", "title": "Far {where}", "prompt": "Look {where} and at {{where}}, keep {other}." },
            { "id": "near", "title": "Near", "prompt": "Look near.", "runCondition": { "var": "near" } },
        ],
    });
    parse_definition_draft(&text.to_string(), FileFormat::Json).expect("a draft")
}

/// Proves T9: a routine replaces the step that calls it, with its arguments and its rules.
#[test]
fn routine_replaces_its_call() {
    let call = |id: &str, condition: bool| {
        let mut step = json!({
            "id": id, "title": "Look", "requireConfirmation": true,
            "templateCall": { "templateId": "wr.templates.routine.look", "args": { "where": "around {{place}}" } },
        });
        if condition {
            step["runCondition"] = json!({ "var": "look" });
        }
        step
    };
    let text = with_steps(&json!([call("one", false), call("two", true)]));
    let draft = parse_definition_draft(&text, FileFormat::Json).expect("a draft");
    assert_eq!(draft.referenced_workflow_ids(), ["wr.routine-look"]);
    let definition = link_among(&[draft, routine()], "some-work").expect("a definition");
    assert_eq!(ids(&definition.steps), ["one.far", "one.near", "two"]);
    let far = &definition.steps[0];
    assert_eq!(far.title, "Far around {{ place }}");
    insta::assert_snapshot!(prompt(far).text);
    assert_eq!(prompt(far).confirm, None);
    assert_eq!(prompt(&definition.steps[1]).confirm, Some(Condition::Always));
    let StepKind::Group(inner) = &definition.steps[2].kind else { panic!("{definition:?}") };
    assert!(definition.steps[2].when.is_some());
    assert_eq!(ids(inner), ["two.far", "two.near"]);
}

/// Proves T9: what applies to the whole workflow is shown once.
#[test]
fn guidance_is_gathered() {
    let text = json!({
        "id": "some-work", "name": "n", "description": "d", "version": "1.0.0",
        "metaGuidance": ["Be kind"], "preconditions": ["A key"], "clarificationPrompts": ["Which one?"],
        "features": ["wr.features.capabilities", "wr.features.unknown"],
        "references": [{ "id": "spec", "title": "Spec", "source": "docs/spec.md", "purpose": "What to build.", "authoritative": true }],
        "extensionPoints": [{ "slotId": "review", "purpose": "p", "default": "wr.routine-look" }],
        "steps": [{ "id": "one", "title": "One", "prompt": "Use {{wr.bindings.review}}." }],
    });
    let definition = super::link_alone(&text.to_string(), FileFormat::Json).expect("a definition");
    assert_eq!(definition.guidance.len(), 4);
    assert_eq!(definition.guidance[1], "Before you begin, make sure of this: A key");
    let rules = definition.render_workflow_rules(&|path| path == "docs/spec.md");
    assert_eq!(rules[4], "Reference \"Spec\" (`docs/spec.md`): What to build. Follow it strictly.");
    let rules = definition.render_workflow_rules(&|_| false);
    assert!(rules[4].contains("(`docs/spec.md`) [unresolved]") && !rules[4].contains("strictly"));
    assert_eq!(prompt(&definition.steps[0]).text, "Use wr.routine-look.");
    assert!(definition.unsupported.iter().any(|note| note.path == "/features/1" && !note.matters));
}
