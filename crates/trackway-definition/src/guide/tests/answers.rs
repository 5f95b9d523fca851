//! Steps in a row: conditions, groups, switches, results, artifacts.

use insta::assert_json_snapshot;
use serde_json::json;
use trackway_domain::Inputs;

use super::Agent;
use crate::{
    model::{Condition, Definition, Fragment, Step, StepKind},
    testing::{ask, definition, emit, equals, facts, group, object, output, prompt, switch, tool},
};

fn with_fragments(mut step: Step, fragments: Vec<(Option<Condition>, &str)>) -> Step {
    if let StepKind::Prompt(prompt) = &mut step.kind {
        prompt.fragments = fragments
            .into_iter()
            .map(|(when, text)| Fragment { when, text: text.to_owned() })
            .collect();
    }
    step
}

/// Exit handlers are the last steps that an outside agent is asked for, and the run is complete after
/// them, not before. Proves T9.
#[test]
fn exit_handlers_come_last() {
    let on_exit = vec![prompt("tidy", "tidy up, {{ ended }}"), emit("log", "log.txt", "done")];
    let sample = Definition { on_exit, ..definition(vec![prompt("a", "work")]) };
    let mut agent = Agent::start(sample, json!({}));
    assert_eq!(agent.prompts(), ["a: work", "tidy: tidy up, completed"]);
    assert_eq!(agent.standing.documents[0].name, "log.txt");
}

/// Steps come one after the other; those whose conditions do not hold are left out, in groups as well.
/// Proves T9.
#[test]
fn steps_are_left_out_where_their_conditions_do_not_hold() {
    let steps = vec![
        prompt("a", "first"),
        prompt("b", "only in haste").when(equals("mode", json!("fast"))),
        group("g", vec![prompt("c", "third"), group("empty", vec![])]),
        group("never", vec![prompt("d", "not this")]).when(equals("mode", json!("fast"))),
        prompt("e", "last"),
    ];
    let mut agent = Agent::start(definition(steps.clone()), json!({"mode": "slow"}));
    assert_eq!(agent.prompts(), ["a: first", "c: third", "e: last"]);
    let mut agent = Agent::start(definition(steps), json!({"mode": "fast"}));
    assert_eq!(
        agent.prompts(),
        ["a: first", "b: only in haste", "c: third", "d: not this", "e: last"]
    );
}

/// A workflow all of whose steps are left out is complete as soon as it starts.
#[test]
fn a_run_without_any_step_to_do_is_complete_at_once() {
    let steps = vec![prompt("a", "x").when(equals("mode", json!(1))), group("g", vec![])];
    let agent = Agent::start(definition(steps), json!({"kept": 1}));
    assert_eq!(agent.standing.pending, None);
    assert_eq!(*agent.context(), object(json!({"kept": 1})));
}

/// The first case that holds runs, and only that.
#[test]
fn a_switch_runs_the_first_case_that_holds() {
    let cases = |id: &str| {
        switch(
            id,
            vec![
                (equals("size", json!("small")), vec![prompt("little", "a little")]),
                (
                    equals("size", json!("large")),
                    vec![prompt("much", "much"), prompt("more", "more")],
                ),
                (Condition::Always, vec![prompt("other", "something else")]),
            ],
        )
    };
    let run = |size: &str| {
        let steps = vec![cases("s"), prompt("z", "end")];
        Agent::start(definition(steps), json!({"size": size})).prompts()
    };
    assert_eq!(run("small"), ["little: a little", "z: end"]);
    assert_eq!(run("large"), ["much: much", "more: more", "z: end"]);
    assert_eq!(run("none"), ["other: something else", "z: end"]);
}

/// Facts replace each other by name; a result is kept by `save` and read by `set`, where every name has
/// the value from before; notes stay out of the context. Proves T10.
#[test]
fn results_and_facts_are_kept_and_notes_are_not() {
    let steps = vec![
        prompt("a", "work").save("made").set("title", "result.title").set("made", "1"),
        prompt("b", "{{ title }} by {{ who.name }}"),
    ];
    let mut agent = Agent::start(definition(steps), json!({"who": {"name": "x", "age": 1}}));
    let inputs = Inputs {
        context: object(json!({"who": {"name": "Ada"}})),
        output: Some(json!({"title": "Plan"})),
        notes: Some("what I did".to_owned()),
    };
    agent.send(&inputs);
    assert_eq!(agent.prompt(), "Plan by Ada");
    let expected = json!({"who": {"name": "Ada"}, "title": "Plan", "made": 1});
    assert_eq!(*agent.context(), object(expected));
}

/// What an outside agent sees of a prompt with fragments, of a question and of a tool.
#[test]
fn every_step_that_is_answered_is_a_prompt() {
    let fast = equals("mode", json!("fast"));
    let mut first = with_fragments(
        prompt("write", "Write about {{ topic }}."),
        vec![
            (None, "Be kind."),
            (Some(fast.clone()), "Be quick."),
            (Some(equals("mode", json!("x"))), "No."),
        ],
    );
    first.title = "About {{ topic }}".to_owned();
    if let StepKind::Prompt(prompt) = &mut first.kind {
        prompt.confirm = Some(fast);
    }
    let steps = vec![
        first,
        ask("agree", "Is {{ topic }} right?", json!({"type": "boolean"})).save("right"),
        tool(
            "look",
            "search",
            &[
                ("query", json!("=topic")),
                ("plain", json!("==x")),
                ("deep", json!([{"a": "=mode"}, 1])),
            ],
        )
        .save("found"),
        prompt("end", "{{ right }} {{ found }}"),
    ];
    let mut agent =
        Agent::start(definition(steps), json!({"topic": "tea {{ x }}", "mode": "fast"}));
    assert_json_snapshot!(agent.standing.pending);
    agent.send(&Inputs::default());
    assert_json_snapshot!(agent.standing.pending);
    assert_eq!(agent.blocked(&Inputs::default())["code"], "output-missing");
    agent.send(&output(json!(true)));
    assert_json_snapshot!(agent.standing.pending);
    agent.send(&output(json!({"result": "leaves"})));
    assert_eq!(agent.prompt(), "true leaves");
}

/// An emitted artifact asks nobody: it becomes a document, and its content is the step's result.
#[test]
fn an_artifact_becomes_a_document() {
    let steps = vec![
        prompt("a", "go"),
        emit("e", "report-{{ n }}", "Hello {{ who }}").save("report"),
        prompt("b", "{{ report }}"),
    ];
    let mut agent = Agent::start(definition(steps), json!({"n": 1}));
    agent.send(&facts(json!({"who": "you"})));
    assert_eq!(agent.prompt(), "Hello you");
    assert_eq!(
        json!(agent.standing.documents),
        json!([{"name": "report-1", "kind": "log", "value": "Hello you"}])
    );
}

/// A context that does not fit the definition's `input` opens nothing, and says what would.
#[test]
fn the_context_of_a_start_fits_the_input() {
    let input = json!({
        "type": "object",
        "properties": {"ticket": {"type": "string"}, "size": {"type": "integer", "minimum": 1}},
        "required": ["ticket"],
    });
    let sample = Definition { input: Some(input), ..definition(vec![prompt("a", "x")]) };
    let refused = |context| {
        let block = super::open(&sample, &object(context)).expect_err("it does not fit");
        json!(block)
    };
    assert_json_snapshot!(refused(json!({})));
    assert_json_snapshot!(refused(json!({"ticket": "T-1", "size": "big"})));
    assert!(super::open(&sample, &object(json!({"ticket": "T-1"}))).is_ok());
}

/// Issue 11, A13: where an outside agent walks, a status and the artifact of a question are shown, an
/// authorization is confirmed by the user, and an answer that leads to a reject is blocked.
#[test]
fn what_a_workflow_says_reaches_an_outside_agent() {
    let sample = crate::read(crate::drive::tests::SIGNING, crate::Format::Yaml).unwrap();
    let sample = sample.link(&|_| None).unwrap();
    let mut agent = Agent::start(sample, json!({"item": "tea"}));
    let shown: Vec<_> = agent.standing.documents.iter().map(|change| change.name.clone()).collect();
    assert_eq!(shown, ["status", "order.json"]);
    let pending = agent.standing.pending.clone().unwrap();
    assert!(pending.confirm, "a person authorizes");
    assert!(pending.prompt.contains("Sign for tea?"), "{}", pending.prompt);
    let blocked = agent.blocked(&output(json!({"name": "Ada"})));
    assert_eq!(blocked["code"], "rejected");
    assert!(blocked["message"].as_str().unwrap().contains("Ada does not sign"), "{blocked}");
    agent.send(&output(json!({"name": "Eve"})));
    assert_eq!(agent.standing.pending, None);
}
