//! The engine's side: every action, from the beginning to the end.

use serde_json::{Value, json};
use trackway_domain::Inputs;

use super::{Action, Emission, Move, Place, Stuck, Turn, answer, begin, collect, exit, item};
use crate::{
    Definition,
    model::{Condition, OnFailure, Step, StepKind},
    testing::{
        ask, definition, each, emit, equals, map, nested, object, output, prompt, repeat, switch,
        tool,
    },
};

/// A driver as small as one can be. It shows what a real one does: keep the place, do the action, answer.
/// `log` has every action in the order in which it was done.
fn drive(
    definition: &Definition,
    first: Move,
    log: &mut Vec<String>,
) -> Result<Result<Value, String>, Stuck> {
    let mut moved = first;
    loop {
        let (step, action) = match moved.turn {
            Turn::Done { output } => return Ok(Ok(output)),
            Turn::Act { step, action, .. } => (step, action),
        };
        // What a real driver would write down before it does anything.
        let kept = serde_json::to_string(&moved.place).expect("a place can be written");
        let place: Place = serde_json::from_str(&kept).expect("a place can be read");
        let result = match action {
            Action::Map { items, limit, on_failure } => {
                log.push(format!("{step}: {} items, {limit} at once", items.len()));
                let mut results = Vec::new();
                for (index, value) in items.iter().enumerate() {
                    let first = item(definition, &place, index, value)?;
                    results.push(drive(definition, first, log)?);
                }
                match collect(on_failure, results) {
                    Ok(list) => list,
                    Err(reason) => return Ok(Err(format!("{step}: {reason}"))),
                }
            }
            Action::Tool { name, .. } if name == "fail" => return Ok(Err("it failed".to_owned())),
            Action::Reject { reason } => return Ok(Err(reason)),
            other => {
                log.push(format!("{step}: {}", told(&other)));
                done(other)
            }
        };
        moved = answer(definition, &place, &output(result))?;
    }
}

/// What the world does.
fn done(action: Action) -> Value {
    match action {
        Action::Prompt { text, .. } => json!(text.len()),
        Action::Ask { .. } => json!({"name": "Ada"}),
        Action::Tool { args, .. } => json!({"echo": args}),
        Action::Emit { .. } | Action::Map { .. } | Action::Reject { .. } => Value::Null,
        Action::Status { text } => json!(text),
    }
}

fn told(action: &Action) -> String {
    match action {
        Action::Prompt { agent, text, .. } => {
            format!("{} works on {text}", agent.as_deref().unwrap_or("someone"))
        }
        Action::Ask { message, authorize: true, .. } => format!("asked to authorize: {message}"),
        Action::Ask { message, .. } => format!("asked {message}"),
        Action::Status { text } => format!("said {text}"),
        Action::Reject { reason } => format!("declined: {reason}"),
        Action::Tool { name, args } => format!("{name} {}", json!(args)),
        Action::Emit { artifact, content: Emission::Text(text) } => format!("{artifact} = {text}"),
        Action::Emit { artifact, content: Emission::Data(data) } => format!("{artifact} = {data}"),
        Action::Map { .. } => "map".to_owned(),
    }
}

fn run(definition: &Definition, context: Value) -> (Result<Value, String>, Vec<String>) {
    let mut log = Vec::new();
    let first = begin(definition, &object(context)).expect("it begins");
    let end = drive(definition, first, &mut log).expect("nothing is lacking");
    (end, log)
}

fn worked_on_by(agent: &str, mut step: Step) -> Step {
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
        tool("try", "echo", &[("what", json!("=item")), ("at", json!("=index"))]).save("tried"),
        switch(
            "big",
            vec![(equals("item", json!("b")), vec![emit("shout", "loud", "{{ item }}!")])],
        ),
    ];
    let rounds = vec![worked_on_by("writer", prompt("write", "{{ part }}"))];
    let inner = vec![emit("inner-emit", "note", "from {{ who }}").save("note")];
    let steps = vec![
        ask("who", "Who is it?", schema).save("user"),
        switch(
            "known",
            vec![
                (
                    equals("user.name", json!("Ada")),
                    vec![emit("hello", "greeting", "Hi {{ user.name }}")],
                ),
                (Condition::Always, vec![emit("stranger", "greeting", "Who?")]),
            ],
        ),
        map("all", "list", Some("tried.echo.what"), per_item).save("made"),
        repeat("parts", each("made", "part"), 5, rounds),
        nested("sub", Some(&[("who", json!("=user.name"))]), Some("note"), inner).save("said"),
    ];
    let (end, log) = run(&definition(steps), json!({"list": ["a", "b"]}));
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

/// Maps inside of maps, inside of cases: each item finds its own steps.
#[test]
fn items_have_items_of_their_own() {
    let inner =
        map("inner", "item", Some("item"), vec![emit("e", "log", "{{ item }}")]).save("row");
    let case = switch(
        "s",
        vec![(Condition::Cel("false".to_owned()), vec![]), (Condition::Always, vec![inner])],
    );
    let steps = vec![map("outer", "rows", Some("row"), vec![case]).save("all")];
    let (end, log) = run(&definition(steps), json!({"rows": [[1, 2], [3]]}));
    assert_eq!(log.iter().filter(|line| line.starts_with("e:")).count(), 3);
    assert_eq!(end, Ok(json!({"rows": [[1, 2], [3]], "all": [[1, 2], [3]]})));
}

/// An item that fails stops the map, is left out, or leaves its reason, as the map says.
#[test]
fn a_failed_item_does_what_the_map_says() {
    let sample = |policy| {
        let bad = tool("bad", "fail", &[]).when(equals("item", json!("b")));
        let mut step = map("m", "list", Some("item"), vec![bad]).save("all");
        if let StepKind::Map(map) = &mut step.kind {
            map.on_failure = policy;
        }
        let (end, _) = run(&definition(vec![step]), json!({"list": ["a", "b", "c"]}));
        end.map(|context| context["all"].clone())
    };
    assert_eq!(sample(OnFailure::Fail), Err("m: it failed".to_owned()));
    assert_eq!(sample(OnFailure::Skip), Ok(json!(["a", "c"])));
    assert_eq!(sample(OnFailure::Keep), Ok(json!(["a", {"error": "it failed"}, "c"])));
}

/// Exit handlers are a walk of their own.
#[test]
fn exit_handlers_are_walked() {
    let on_exit = vec![
        switch(
            "s",
            vec![(equals("failed", json!(true)), vec![emit("e", "end", "failed {{ why }}")])],
        ),
        map("m", "list", None, vec![emit("each", "end", "{{ item }}")]),
    ];
    let sample = Definition { on_exit, ..definition(vec![prompt("a", "x")]) };
    let context = object(json!({"failed": true, "why": "late", "list": [1]}));
    let mut log = Vec::new();
    let first = exit(&sample, &context).expect("it begins");
    drive(&sample, first, &mut log).expect("nothing is lacking").expect("nothing fails");
    assert_eq!(log, ["e: end = failed late", "m: 1 items, 2 at once", "each: end = 1"]);
    let none = exit(&definition(vec![prompt("a", "x")]), &context).expect("it begins");
    assert_eq!(none.turn, Turn::Done { output: Value::Object(context) });
}

/// A result that does not fit moves nothing: the same place takes a better one.
#[test]
fn a_result_that_does_not_fit_can_be_sent_again() {
    let sample = definition(vec![ask("a", "How many?", json!({"type": "integer"})).save("n")]);
    let first = begin(&sample, &object(json!({}))).expect("it begins");
    for wrong in [output(json!("three")), Inputs::default()] {
        assert!(answer(&sample, &first.place, &wrong).is_err());
    }
    let end = answer(&sample, &first.place, &output(json!(3))).expect("it fits");
    assert_eq!(end.turn, Turn::Done { output: json!({"n": 3}) });
    let ended = answer(&sample, &end.place, &Inputs::default()).expect_err("it has ended");
    assert_eq!(ended.block.code, "place-lost");
}

/// A map is answered with a list, and an item is begun only at a map.
#[test]
fn what_is_no_map_has_no_items() {
    let sample = definition(vec![prompt("a", "x"), map("m", "list", None, vec![])]);
    let first = begin(&sample, &object(json!({"list": [1]}))).expect("it begins");
    assert!(item(&sample, &first.place, 0, &json!(1)).is_err());
    let second = answer(&sample, &first.place, &Inputs::default()).expect("it goes on");
    assert!(answer(&sample, &second.place, &output(json!("no list"))).is_err());
    let one = item(&sample, &second.place, 0, &json!(1)).expect("it is a map");
    assert_eq!(one.turn, Turn::Done { output: Value::Null });
}

/// A walk that is stuck says where: at the step that was answered, or at one that comes after it.
#[test]
fn a_walk_is_stuck_at_the_step_that_lacks_something() {
    let steps = vec![
        tool("first", "find", &[]).set("found", "result.items"),
        prompt("left-out", "{{ never }}").when(Condition::Cel("false".to_owned())),
        prompt("second", "about {{ topic }}"),
    ];
    let sample = definition(steps);
    let first = begin(&sample, &object(json!({}))).expect("it begins");
    let at = |result: Value| {
        answer(&sample, &first.place, &output(result)).expect_err("it is stuck").step
    };
    assert_eq!(at(json!({"other": 1})).as_deref(), Some("first"));
    assert_eq!(at(json!({"items": []})).as_deref(), Some("second"));
    let stuck = begin(&definition(vec![prompt("only", "{{ topic }}")]), &object(json!({})));
    assert_eq!(stuck.expect_err("it is stuck").step.as_deref(), Some("only"));
}

/// Issue 11, A13: a written workflow says how far it has come, asks for an authorization with an artifact,
/// and declines.
#[test]
fn a_walk_speaks_asks_for_an_authorization_and_declines() {
    let sample = crate::read(SIGNING, crate::Format::Yaml).expect("it is valid");
    let sample = sample.link(&|_| None).expect("it stands alone");
    let (end, log) = run(&sample, json!({"item": "tea"}));
    let expected = ["begin: said Looking for tea", "sign: asked to authorize: Sign for tea?"];
    assert_eq!(log, expected);
    assert_eq!(end, Err("Ada does not sign".to_owned()), "nothing after it runs");
    let first = begin(&sample, &object(json!({"item": "tea"}))).expect("it begins");
    let asked = answer(&sample, &first.place, &output(json!("x"))).expect("it goes on");
    let Turn::Act { action: Action::Ask { artifact, .. }, .. } = asked.turn else {
        panic!("{:?}", asked.turn)
    };
    let order = Emission::Data(json!({"item": "tea"}));
    assert_eq!(artifact, Some(("order.json".to_owned(), order)));
}

/// A workflow with everything that it can say.
pub(crate) const SIGNING: &str = include_str!("tests/signing.yaml");
