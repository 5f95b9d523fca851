//! Items of loops and maps that lack something: it is requested in their list, and sending it there helps.

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use trackway_domain::{AttemptInputs, BlockReason};

use super::{ScriptedAgent, obedient::obey_blocks};
use crate::model::{LoopKind, Step, StepKind, ValueExpression};
use crate::test_support::{
    attempt_inputs_with_context, expect_object, loop_by_count, loop_over_items, loop_step, map_step,
    prompt_step, sample_definition,
};

fn slices(text: &str) -> Vec<Step> {
    let body = vec![prompt_step("body", text)];
    vec![prompt_step("before", "Before."), loop_step("each", loop_over_items("slices", "slice"), 5, body)]
}

/// Proves T8: the first example has the form of an item, a need points into the list, and the loop's own
/// name cannot be overwritten.
#[test]
fn an_item_is_asked_for_in_its_list() {
    let mut agent = ScriptedAgent::start(sample_definition(slices("Do {{ slice.name }}.")), json!({}));
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["needs"][0]["pointer"], "/context/slices");
    assert_eq!(block["needs"][0]["example"], json!([{"name": "…"}]));
    assert!(block["message"].as_str().is_some_and(|text| text.contains("`each`")), "{block}");

    let block = agent.blocked(&attempt_inputs_with_context(json!({"slices": ["x", "y"]})));
    let pointers = [&block["needs"][0]["pointer"], &block["needs"][1]["pointer"]];
    assert_eq!(pointers, ["/context/slices/0", "/context/slices/1"]);
    assert_eq!(block["needs"][0]["example"], json!({"name": "…"}));
    assert_eq!(block["needs"][0]["got"], "x");

    let overwriting = attempt_inputs_with_context(json!({"slices": ["x", "y"], "slice": {"name": "NAME"}}));
    assert_eq!(agent.blocked(&overwriting)["needs"][0]["pointer"], "/context/slices/0");
    let both = json!({"slices": [{"name": "A"}, {"name": "B"}], "slice": {"name": "NAME"}});
    agent.send(&attempt_inputs_with_context(both));
    assert_eq!(agent.warnings(), ["context-not-kept"]);
    assert_eq!(agent.prompts(), ["body: Do A.", "body: Do B."]);
}

/// Proves T8: an item that lacks something in the middle of a round is corrected by the list that is sent
/// then, in every kind of loop, and in a nested loop.
#[test]
fn a_list_that_is_sent_later_corrects_the_items_that_are_left() {
    let body = vec![prompt_step("one", "{{ item }}"), prompt_step("two", "{{ item.name }}")];
    let looped = loop_step("l", loop_over_items("list", "item"), 5, body.clone());
    for step in [looped, map_step("l", "list", None, body)] {
        let mut agent = ScriptedAgent::start(sample_definition(vec![step]), json!({"list": [{}, {}]}));
        let block = agent.blocked(&AttemptInputs::default());
        assert_eq!(block["needs"][0]["pointer"], "/context/list");
        assert_eq!(block["needs"][0]["example"], json!([{"name": "…"}, {"name": "…"}]));
        agent.send(&attempt_inputs_with_context(json!({"list": [{"name": "a"}, {"name": "b"}]})));
        assert_eq!(agent.prompt(), "a");
        agent.send(&AttemptInputs::default());
        assert_eq!(agent.prompt(), r#"{"name":"b"}"#);
    }

    let parts = LoopKind::Each {
        list: ValueExpression::Name("item.parts".to_owned()),
        item: "part".to_owned(),
        index: None,
    };
    let inner = loop_step("inner", parts, 5, vec![prompt_step("in", "{{ part.id }}")]);
    let steps =
        vec![prompt_step("a", "go"), loop_step("outer", loop_over_items("list", "item"), 5, vec![inner])];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["needs"][0]["example"], json!([{"parts": [{"id": "…"}]}]));
    let sent = |second: Value| attempt_inputs_with_context(json!({"list": [{"parts": [{"id": 1}, second]}]}));
    agent.send(&sent(json!(2)));
    assert_eq!(agent.prompt(), "1");
    let block = agent.blocked(&AttemptInputs::default());
    assert_eq!(block["needs"][0]["pointer"], "/context/list");
    assert_eq!(block["needs"][0]["example"], json!([{"parts": [{"id": 1}, {"id": "…"}]}]));
    let block = agent.blocked(&sent(json!("2")));
    assert_eq!(block["needs"][0]["pointer"], "/context/list/0/parts/1");
    agent.send(&sent(json!({"id": 2})));
    assert_eq!(agent.prompts(), ["in: 2"]);
}

fn template() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{{ item }}",
        "{{ item.name }}",
        "{{ item.score + 1 }} {{ item.name }}",
        "{{ item.tags | join(', ') }}",
        "{{ item.a.b }} {{ list | length }}",
        "{% for tag in item.tags %}{{ tag.id }}{% endfor %}",
        "{{ item.name }} {{ other }}",
    ])
}

fn value() -> impl Strategy<Value = Value> {
    let item = prop::sample::select(vec![
        json!("text"),
        json!(3),
        json!(null),
        json!({"name": "n"}),
        json!({"name": "n", "score": "high", "tags": "none"}),
        json!({"tags": [{"id": 1}, {}], "a": 1}),
        json!([1]),
    ]);
    prop_oneof![Just(Value::Null), Just(json!("text")), vec(item, 0..4).prop_map(Value::Array),]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let cel = |source: &str| LoopKind::Each {
        list: ValueExpression::Cel(source.to_owned()),
        item: "item".to_owned(),
        index: None,
    };
    let over = prop::sample::select(vec![
        loop_over_items("list", "item"),
        loop_over_items("plan.list", "item"),
        cel("list"),
        cel("list + list"),
    ]);
    (over, any::<bool>(), vec(template(), 1..4), any::<bool>()).prop_map(
        |(over, is_map, templates, first)| {
            let body: Vec<Step> = templates
                .iter()
                .enumerate()
                .map(|(number, text)| prompt_step(&format!("p{number}"), text))
                .collect();
            let mut step = map_step("l", "list", None, body.clone());
            match over {
                LoopKind::Each { list, .. } if is_map => {
                    if let StepKind::Map(map) = &mut step.kind {
                        map.list = list;
                    }
                }
                over => step = loop_step("l", over, 3, body),
            }
            let before = first.then(|| prompt_step("before", "go"));
            before.into_iter().chain([step, prompt_step("after", "end")]).collect()
        },
    )
}

fn points_at_no_item(block: &BlockReason) {
    for need in &block.needs {
        assert!(!need.pointer.starts_with("/context/item"), "{block:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Proves T8: for every kind of list, an agent that puts the examples at their pointers gets through the
    /// loop, and is never asked for a name of the loop.
    #[test]
    fn sending_what_a_loop_asks_for_leads_through_it(steps in steps(), list in value()) {
        let mut context = json!({"plan": {"list": list}, "item": {"name": "outside"}});
        if !list.is_null() {
            context["list"] = list;
        }
        let standing = obey_blocks(&sample_definition(steps), &context, points_at_no_item);
        prop_assert_eq!(&standing.context["item"], &json!({"name": "outside"}));
    }
}

/// The loop also sets the number of a round.
#[test]
fn what_is_sent_under_the_name_of_an_index_is_not_kept() {
    let body = vec![prompt_step("in", "{{ itemIndex }} {{ item }}")];
    let steps = vec![
        prompt_step("a", "go"),
        loop_step("l", loop_over_items("list", "item"), 5, body),
        loop_step("n", loop_by_count("itemIndex"), 2, vec![prompt_step("again", "again")]),
    ];
    let mut agent = ScriptedAgent::start(sample_definition(steps), json!({}));
    agent.send(&attempt_inputs_with_context(json!({"list": ["a"], "itemIndex": 2})));
    assert_eq!((agent.prompt(), agent.warnings()), ("0 a", vec!["context-not-kept"]));
    assert_eq!(agent.prompts(), ["in: 0 a", "again: again", "again: again"]);
    assert_eq!(*agent.context(), expect_object(json!({"list": ["a"], "itemIndex": 2})));
}
