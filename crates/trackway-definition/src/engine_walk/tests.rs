//! The engine's side: every action, from the beginning to the end.

use serde_json::{Value, json};
use trackway_domain::AttemptInputs;

use super::{
    BlockedWalk, EmittedContent, EngineStepAction, NextEngineStep, WalkProgress, WalkState, answer_step,
    begin_engine_run, begin_exit_steps, begin_map_item, collect_map_item_results,
};
use crate::{
    Definition,
    model::{Condition, OnFailure, Step, StepKind},
    test_support::{
        ask_step, attempt_inputs_with_output, emit_step, equals_condition, expect_object, loop_over_items,
        loop_step, map_step, nested_step, prompt_step, sample_definition, switch_step, tool_step,
    },
};

/// A minimal driver. It shows what a real one does: keep the state, carry out the action, answer. `log` has
/// every action in the order in which it was done.
fn drive(
    definition: &Definition,
    first: WalkProgress,
    log: &mut Vec<String>,
) -> Result<Result<Value, String>, BlockedWalk> {
    let mut moved = first;
    loop {
        let (step, action) = match moved.next {
            NextEngineStep::Done { output } => return Ok(Ok(output)),
            NextEngineStep::Act { step, action, .. } => (step, action),
        };
        // A real driver would store it before it does anything.
        let kept = serde_json::to_string(&moved.state).expect("a place can be written");
        let place: WalkState = serde_json::from_str(&kept).expect("a place can be read");
        let result = match action {
            EngineStepAction::Map { items, limit, on_failure } => {
                log.push(format!("{step}: {} items, {limit} at once", items.len()));
                let mut results = Vec::new();
                for (index, value) in items.iter().enumerate() {
                    let first = begin_map_item(definition, &place, index, value)?;
                    results.push(drive(definition, first, log)?);
                }
                match collect_map_item_results(on_failure, results) {
                    Ok(list) => list,
                    Err(reason) => return Ok(Err(format!("{step}: {reason}"))),
                }
            }
            EngineStepAction::Tool { name, .. } if name == "fail" => {
                return Ok(Err("it failed".to_owned()));
            }
            EngineStepAction::Reject { reason } => return Ok(Err(reason)),
            other => {
                log.push(format!("{step}: {}", describe_action(&other)));
                scripted_result(other)
            }
        };
        moved = answer_step(definition, &place, &attempt_inputs_with_output(result))?;
    }
}

/// The results of the outside actions.
fn scripted_result(action: EngineStepAction) -> Value {
    match action {
        EngineStepAction::Prompt { text, .. } => json!(text.len()),
        EngineStepAction::Ask { .. } => json!({"name": "Ada"}),
        EngineStepAction::Tool { args, .. } => json!({"echo": args}),
        EngineStepAction::Emit { .. } | EngineStepAction::Map { .. } | EngineStepAction::Reject { .. } => {
            Value::Null
        }
        EngineStepAction::Status { text } => json!(text),
    }
}

fn describe_action(action: &EngineStepAction) -> String {
    match action {
        EngineStepAction::Prompt { agent, text, .. } => {
            format!("{} works on {text}", agent.as_deref().unwrap_or("someone"))
        }
        EngineStepAction::Ask { message, authorize: true, .. } => {
            format!("asked to authorize: {message}")
        }
        EngineStepAction::Ask { message, .. } => format!("asked {message}"),
        EngineStepAction::Status { text } => format!("said {text}"),
        EngineStepAction::Reject { reason } => format!("declined: {reason}"),
        EngineStepAction::Tool { name, args } => format!("{name} {}", json!(args)),
        EngineStepAction::Emit { artifact, content: EmittedContent::Text(text) } => {
            format!("{artifact} = {text}")
        }
        EngineStepAction::Emit { artifact, content: EmittedContent::Data(data) } => {
            format!("{artifact} = {data}")
        }
        EngineStepAction::Map { .. } => "map".to_owned(),
    }
}

fn run_definition(definition: &Definition, context: Value) -> (Result<Value, String>, Vec<String>) {
    let mut log = Vec::new();
    let first = begin_engine_run(definition, &expect_object(context)).expect("it begins");
    let end = drive(definition, first, &mut log).expect("nothing is lacking");
    (end, log)
}

fn with_agent(agent: &str, mut step: Step) -> Step {
    if let StepKind::Prompt(prompt) = &mut step.kind {
        prompt.agent = Some(agent.to_owned());
    }
    step
}

/// The engine drives every kind of step to the end of a definition. Proves T9.
#[test]
fn a_definition_is_driven_to_its_end() {
    let schema = json!({"type": "object", "required": ["name"]});
    let per_item = vec![
        tool_step("try", "echo", &[("what", json!("=item")), ("at", json!("=index"))])
            .with_save_name("tried"),
        switch_step(
            "big",
            vec![(equals_condition("item", json!("b")), vec![emit_step("shout", "loud", "{{ item }}!")])],
        ),
    ];
    let rounds = vec![with_agent("writer", prompt_step("write", "{{ part }}"))];
    let inner = vec![emit_step("inner-emit", "note", "from {{ who }}").with_save_name("note")];
    let steps = vec![
        ask_step("who", "Who is it?", schema).with_save_name("user"),
        switch_step(
            "known",
            vec![
                (
                    equals_condition("user.name", json!("Ada")),
                    vec![emit_step("hello", "greeting", "Hi {{ user.name }}")],
                ),
                (Condition::Always, vec![emit_step("stranger", "greeting", "Who?")]),
            ],
        ),
        map_step("all", "list", Some("tried.echo.what"), per_item).with_save_name("made"),
        loop_step("parts", loop_over_items("made", "part"), 5, rounds),
        nested_step("sub", Some(&[("who", json!("=user.name"))]), Some("note"), inner).with_save_name("said"),
    ];
    let (end, log) = run_definition(&sample_definition(steps), json!({"list": ["a", "b"]}));
    assert_eq!(
        log,
        [
            "who: asked Who is it?",
            "hello: greeting = Hi Ada",
            "all: 2 items, 2 at once",
            r#"try: echo {"at":0,"what":"a"}"#,
            r#"try: echo {"at":1,"what":"b"}"#,
            "shout: loud = b!",
            "write: writer works on a",
            "write: writer works on b",
            "inner-emit: note = from Ada",
        ]
    );
    let expected = json!({
        "list": ["a", "b"], "user": {"name": "Ada"}, "made": ["a", "b"], "said": "from Ada",
    });
    assert_eq!(end, Ok(expected));
}

/// Maps in maps, in cases: each item finds its own steps.
#[test]
fn items_have_items_of_their_own() {
    let inner = map_step("inner", "item", Some("item"), vec![emit_step("e", "log", "{{ item }}")])
        .with_save_name("row");
    let case = switch_step(
        "s",
        vec![(Condition::Cel("false".to_owned()), vec![]), (Condition::Always, vec![inner])],
    );
    let steps = vec![map_step("outer", "rows", Some("row"), vec![case]).with_save_name("all")];
    let (end, log) = run_definition(&sample_definition(steps), json!({"rows": [[1, 2], [3]]}));
    assert_eq!(log.iter().filter(|line| line.starts_with("e:")).count(), 3);
    assert_eq!(end, Ok(json!({"rows": [[1, 2], [3]], "all": [[1, 2], [3]]})));
}

/// A failed item stops the map, is left out, or leaves its reason, as the map says.
#[test]
fn failed_map_item_follows_on_failure() {
    let sample = |policy| {
        let bad = tool_step("bad", "fail", &[]).with_condition(equals_condition("item", json!("b")));
        let mut step = map_step("m", "list", Some("item"), vec![bad]).with_save_name("all");
        if let StepKind::Map(map) = &mut step.kind {
            map.on_failure = policy;
        }
        let (end, _) = run_definition(&sample_definition(vec![step]), json!({"list": ["a", "b", "c"]}));
        end.map(|context| context["all"].clone())
    };
    assert_eq!(sample(OnFailure::Fail), Err("m: it failed".to_owned()));
    assert_eq!(sample(OnFailure::Skip), Ok(json!(["a", "c"])));
    assert_eq!(sample(OnFailure::Keep), Ok(json!(["a", {"error": "it failed"}, "c"])));
}

/// Exit handlers are a separate walk.
#[test]
fn exit_handlers_are_walked() {
    let on_exit = vec![
        switch_step(
            "s",
            vec![(equals_condition("failed", json!(true)), vec![emit_step("e", "end", "failed {{ why }}")])],
        ),
        map_step("m", "list", None, vec![emit_step("each", "end", "{{ item }}")]),
    ];
    let sample = Definition { on_exit, ..sample_definition(vec![prompt_step("a", "x")]) };
    let context = expect_object(json!({"failed": true, "why": "late", "list": [1]}));
    let mut log = Vec::new();
    let first = begin_exit_steps(&sample, &context).expect("it begins");
    drive(&sample, first, &mut log).expect("nothing is lacking").expect("nothing fails");
    assert_eq!(log, ["e: end = failed late", "m: 1 items, 2 at once", "each: end = 1"]);
    let none =
        begin_exit_steps(&sample_definition(vec![prompt_step("a", "x")]), &context).expect("it begins");
    assert_eq!(none.next, NextEngineStep::Done { output: Value::Object(context) });
}

/// A result that does not fit moves nothing: the same state accepts a better one.
#[test]
fn a_result_that_does_not_fit_can_be_sent_again() {
    let sample =
        sample_definition(vec![ask_step("a", "How many?", json!({"type": "integer"})).with_save_name("n")]);
    let first = begin_engine_run(&sample, &expect_object(json!({}))).expect("it begins");
    for wrong in [attempt_inputs_with_output(json!("three")), AttemptInputs::default()] {
        assert!(answer_step(&sample, &first.state, &wrong).is_err());
    }
    let end = answer_step(&sample, &first.state, &attempt_inputs_with_output(json!(3))).expect("it fits");
    assert_eq!(end.next, NextEngineStep::Done { output: json!({"n": 3}) });
    let ended = answer_step(&sample, &end.state, &AttemptInputs::default()).expect_err("it has ended");
    assert_eq!(ended.block.code, "place-lost");
}

/// A map is answered with a list, and an item begins only at a map.
#[test]
fn begin_item_needs_a_map_step() {
    let sample = sample_definition(vec![prompt_step("a", "x"), map_step("m", "list", None, vec![])]);
    let first = begin_engine_run(&sample, &expect_object(json!({"list": [1]}))).expect("it begins");
    assert!(begin_map_item(&sample, &first.state, 0, &json!(1)).is_err());
    let second = answer_step(&sample, &first.state, &AttemptInputs::default()).expect("it goes on");
    assert!(answer_step(&sample, &second.state, &attempt_inputs_with_output(json!("no list"))).is_err());
    let one = begin_map_item(&sample, &second.state, 0, &json!(1)).expect("it is a map");
    assert_eq!(one.next, NextEngineStep::Done { output: Value::Null });
}

/// A blocked walk names the step: the answered one, or a later one.
#[test]
fn blocked_walk_names_the_step() {
    let steps = vec![
        tool_step("first", "find", &[]).with_set_expression("found", "result.items"),
        prompt_step("left-out", "{{ never }}").with_condition(Condition::Cel("false".to_owned())),
        prompt_step("second", "about {{ topic }}"),
    ];
    let sample = sample_definition(steps);
    let first = begin_engine_run(&sample, &expect_object(json!({}))).expect("it begins");
    let at = |result: Value| {
        answer_step(&sample, &first.state, &attempt_inputs_with_output(result)).expect_err("it is stuck").step
    };
    assert_eq!(at(json!({"other": 1})).as_deref(), Some("first"));
    assert_eq!(at(json!({"items": []})).as_deref(), Some("second"));
    let stuck = begin_engine_run(
        &sample_definition(vec![prompt_step("only", "{{ topic }}")]),
        &expect_object(json!({})),
    );
    assert_eq!(stuck.expect_err("it is stuck").step.as_deref(), Some("only"));
}

/// Issue 11, A13: a workflow definition reports its progress, asks for an authorization with an artifact, and
/// rejects its input.
#[test]
fn walk_reports_asks_and_rejects() {
    let sample = crate::parse_definition_draft(SIGNING, crate::FileFormat::Yaml).expect("it is valid");
    let sample = sample.link_references(&|_| None).expect("it stands alone");
    let (end, log) = run_definition(&sample, json!({"item": "tea"}));
    let expected = ["begin: said Looking for tea", "sign: asked to authorize: Sign for tea?"];
    assert_eq!(log, expected);
    assert_eq!(end, Err("Ada does not sign".to_owned()), "nothing after it runs");
    let first = begin_engine_run(&sample, &expect_object(json!({"item": "tea"}))).expect("it begins");
    let asked =
        answer_step(&sample, &first.state, &attempt_inputs_with_output(json!("x"))).expect("it goes on");
    let NextEngineStep::Act { action: EngineStepAction::Ask { artifact, .. }, .. } = asked.next else {
        panic!("{:?}", asked.next)
    };
    let order = EmittedContent::Data(json!({"item": "tea"}));
    assert_eq!(artifact, Some(("order.json".to_owned(), order)));
}

/// A workflow with every kind of announcement.
pub(crate) const SIGNING: &str = include_str!("tests/signing.yaml");
