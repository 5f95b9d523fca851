//! Steps in a row: conditions, groups, switches, results, artifacts.

use insta::assert_json_snapshot;
use serde_json::json;
use trackway_domain::AttemptInputs;

use super::ScriptedAgent;
use crate::{
    model::{Condition, Definition, PromptFragment, Step, StepKind},
    test_support::{
        ask_step, attempt_inputs_with_context, attempt_inputs_with_output, emit_step, equals_condition,
        expect_object, group_step, prompt_step, sample_definition, switch_step, tool_step,
    },
};

fn with_fragments(mut step: Step, fragments: Vec<(Option<Condition>, &str)>) -> Step {
    if let StepKind::Prompt(prompt) = &mut step.kind {
        prompt.fragments = fragments
            .into_iter()
            .map(|(when, text)| PromptFragment { when, text: text.to_owned() })
            .collect();
    }
    step
}

/// Exit handlers are the last steps for an outside agent, and the run is complete after them, not before.
/// Proves T9.
#[test]
fn exit_handlers_come_last() {
    let on_exit = vec![prompt_step("tidy", "tidy up, {{ ended }}"), emit_step("log", "log.txt", "done")];
    let sample = Definition { on_exit, ..sample_definition(vec![prompt_step("a", "work")]) };
    let mut agent = ScriptedAgent::start(sample, json!({}));
    assert_eq!(agent.prompts(), ["a: work", "tidy: tidy up, completed"]);
    assert_eq!(agent.state.documents[0].name, "log.txt");
}

/// Steps come one after the other; those whose conditions do not hold are skipped, in groups as well.
/// Proves T9.
#[test]
fn steps_are_left_out_where_their_conditions_do_not_hold() {
    let steps = vec![
        prompt_step("a", "first"),
        prompt_step("b", "only in haste").with_condition(equals_condition("mode", json!("fast"))),
        group_step("g", vec![prompt_step("c", "third"), group_step("empty", vec![])]),
        group_step("never", vec![prompt_step("d", "not this")])
            .with_condition(equals_condition("mode", json!("fast"))),
        prompt_step("e", "last"),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps.clone()), json!({"mode": "slow"}));
    assert_eq!(agent.prompts(), ["a: first", "c: third", "e: last"]);
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"mode": "fast"}));
    assert_eq!(agent.prompts(), ["a: first", "b: only in haste", "c: third", "d: not this", "e: last"]);
}

/// A workflow whose steps are all skipped is complete as soon as it starts.
#[test]
fn a_run_without_any_step_to_do_is_complete_at_once() {
    let steps = vec![
        prompt_step("a", "x").with_condition(equals_condition("mode", json!(1))),
        group_step("g", vec![]),
    ];
    let agent = ScriptedAgent::start(sample_definition(steps), json!({"kept": 1}));
    assert_eq!(agent.state.pending, None);
    assert_eq!(*agent.context(), expect_object(json!({"kept": 1})));
}

/// Only the first case that holds runs.
#[test]
fn a_switch_runs_the_first_case_that_holds() {
    let cases = |id: &str| {
        switch_step(
            id,
            vec![
                (equals_condition("size", json!("small")), vec![prompt_step("little", "a little")]),
                (
                    equals_condition("size", json!("large")),
                    vec![prompt_step("much", "much"), prompt_step("more", "more")],
                ),
                (Condition::Always, vec![prompt_step("other", "something else")]),
            ],
        )
    };
    let run = |size: &str| {
        let steps = vec![cases("s"), prompt_step("z", "end")];
        ScriptedAgent::start(sample_definition(steps), json!({"size": size})).prompts()
    };
    assert_eq!(run("small"), ["little: a little", "z: end"]);
    assert_eq!(run("large"), ["much: much", "more: more", "z: end"]);
    assert_eq!(run("none"), ["other: something else", "z: end"]);
}

/// Facts replace each other by name. `save` keeps a result and `set` reads it, where every name has its
/// previous value. Notes stay out of the context. Proves T10.
#[test]
fn results_and_facts_are_kept_and_notes_are_not() {
    let steps = vec![
        prompt_step("a", "work")
            .with_save_name("made")
            .with_set_expression("title", "result.title")
            .with_set_expression("made", "1"),
        prompt_step("b", "{{ title }} by {{ who.name }}"),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"who": {"name": "x", "age": 1}}));
    let inputs = AttemptInputs {
        context: expect_object(json!({"who": {"name": "Ada"}})),
        output: Some(json!({"title": "Plan"})),
        notes: Some("what I did".to_owned()),
    };
    agent.send(&inputs);
    assert_eq!(agent.prompt(), "Plan by Ada");
    let expected = json!({"who": {"name": "Ada"}, "title": "Plan", "made": 1});
    assert_eq!(*agent.context(), expect_object(expected));
}

/// What an outside agent sees of a prompt with fragments, of a question and of a tool.
#[test]
fn every_step_that_is_answered_is_a_prompt() {
    let fast = equals_condition("mode", json!("fast"));
    let mut first = with_fragments(
        prompt_step("write", "Write about {{ topic }}."),
        vec![
            (None, "Be kind."),
            (Some(fast.clone()), "Be quick."),
            (Some(equals_condition("mode", json!("x"))), "No."),
        ],
    );
    first.title = "About {{ topic }}".to_owned();
    if let StepKind::Prompt(prompt) = &mut first.kind {
        prompt.confirm = Some(fast);
    }
    let steps = vec![
        first,
        ask_step("agree", "Is {{ topic }} right?", json!({"type": "boolean"})).with_save_name("right"),
        tool_step(
            "look",
            "search",
            &[("query", json!("=topic")), ("plain", json!("==x")), ("deep", json!([{"a": "=mode"}, 1]))],
        )
        .with_save_name("found"),
        prompt_step("end", "{{ right }} {{ found }}"),
    ];
    let mut agent =
        ScriptedAgent::start(sample_definition(steps), json!({"topic": "tea {{ x }}", "mode": "fast"}));
    assert_json_snapshot!(agent.state.pending);
    agent.send(&AttemptInputs::default());
    assert_json_snapshot!(agent.state.pending);
    assert_eq!(agent.blocked(&AttemptInputs::default())["code"], "output-missing");
    agent.send(&attempt_inputs_with_output(json!(true)));
    assert_json_snapshot!(agent.state.pending);
    agent.send(&attempt_inputs_with_output(json!({"result": "leaves"})));
    assert_eq!(agent.prompt(), "true leaves");
}

/// An emitted artifact needs no answer: it becomes a document, and its content is the step's result.
#[test]
fn an_artifact_becomes_a_document() {
    let steps = vec![
        prompt_step("a", "go"),
        emit_step("e", "report-{{ n }}", "Hello {{ who }}").with_save_name("report"),
        prompt_step("b", "{{ report }}"),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({"n": 1}));
    agent.send(&attempt_inputs_with_context(json!({"who": "you"})));
    assert_eq!(agent.prompt(), "Hello you");
    assert_eq!(
        json!(agent.state.documents),
        json!([{"name": "report-1", "kind": "log", "value": "Hello you"}])
    );
}

/// A context that does not fit the definition's `input` starts no run, and the block says what would fit.
#[test]
fn the_context_of_a_start_fits_the_input() {
    let input = json!({
        "type": "object",
        "properties": {"ticket": {"type": "string"}, "size": {"type": "integer", "minimum": 1}},
        "required": ["ticket"],
    });
    let sample = Definition { input: Some(input), ..sample_definition(vec![prompt_step("a", "x")]) };
    let refused = |context| {
        let block = super::begin_guided_run(&sample, &expect_object(context)).expect_err("it does not fit");
        json!(block)
    };
    assert_json_snapshot!(refused(json!({})));
    assert_json_snapshot!(refused(json!({"ticket": "T-1", "size": "big"})));
    assert!(super::begin_guided_run(&sample, &expect_object(json!({"ticket": "T-1"}))).is_ok());
}

/// Issue 11, A13: for an outside agent, a status and the artifact of a question are shown, the user confirms
/// an authorization, and an answer that leads to a reject is blocked.
#[test]
fn what_a_workflow_says_reaches_an_outside_agent() {
    let sample =
        crate::parse_definition_draft(crate::engine_walk::tests::SIGNING, crate::FileFormat::Yaml).unwrap();
    let sample = sample.link_references(&|_| None).unwrap();
    let mut agent = ScriptedAgent::start(sample, json!({"item": "tea"}));
    let shown: Vec<_> = agent.state.documents.iter().map(|change| change.name.clone()).collect();
    assert_eq!(shown, ["status", "order.json"]);
    let pending = agent.state.pending.clone().unwrap();
    assert!(pending.confirm, "a person authorizes");
    assert!(pending.prompt.contains("Sign for tea?"), "{}", pending.prompt);
    let blocked = agent.blocked(&attempt_inputs_with_output(json!({"name": "Ada"})));
    assert_eq!(blocked["code"], "rejected");
    assert!(blocked["message"].as_str().unwrap().contains("Ada does not sign"), "{blocked}");
    agent.send(&attempt_inputs_with_output(json!({"name": "Eve"})));
    assert_eq!(agent.state.pending, None);
}
