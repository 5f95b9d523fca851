//! Steps that want a person's agreement: asked through the client where it can, through the text otherwise.

use serde_json::{Value, json};

use super::{
    client::{Era, Person},
    shop::{Shop, step, workflow},
};

fn careful() -> Value {
    let mut first = step("first");
    first["requireConfirmation"] = true.into();
    workflow("careful", json!([first, step("second")]))
}

fn edges(shop: &Shop) -> usize {
    shop.json(&["sessions", "graph", "S"])["edges"].as_array().unwrap().len()
}

/// Proves T9, X6: a person who accepts is asked once, and a replay asks
/// nobody, in both revisions.
#[test]
fn a_person_who_accepts_is_asked_once() {
    for era in [Era::Newest, Era::Legacy] {
        let shop = Shop::with(&[careful()]);
        let mut agent = shop.agent_as(era, Person::Accepts);
        let start = agent.start_run("careful", json!({ "sessionId": "S" }));
        assert_eq!(start.json["pending"]["requireConfirmation"], true);
        let second = agent.advance(&start, json!({ "notesMarkdown": "n" }));
        assert_eq!(second.step(), "second");
        assert_eq!(second.asked.len(), 1, "{era:?}: {second:#?}");
        assert!(second.asked[0].contains("Title of first"), "{second:#?}");
        let again = agent.advance(&start, json!({ "notesMarkdown": "n" }));
        assert_eq!(again.asked, Vec::<String>::new(), "a replay asks nobody");
        assert_eq!(again.bytes(), second.bytes());
        let end = agent.advance(&second, json!({}));
        assert!(end.is_complete() && end.asked.is_empty(), "{end:#?}");
        assert_eq!(edges(&shop), 2);
    }
}

/// Proves T9, X6: declined or cancelled is blocked and nothing advances; the block
/// replays without asking, and its fresh ack asks again.
#[test]
fn a_person_who_declines_blocks() {
    for era in [Era::Newest, Era::Legacy] {
        for person in [Person::Declines, Person::Cancels] {
            let shop = Shop::with(&[careful()]);
            let mut agent = shop.agent_as(era, person);
            let start = agent.start_run("careful", json!({ "sessionId": "S" }));
            let blocked = agent.advance(&start, json!({}));
            assert_eq!(blocked.asked.len(), 1, "{era:?}: {blocked:#?}");
            assert_eq!(blocked.blocked(), "confirmation-declined");
            assert_eq!(blocked.step(), "first");
            let again = agent.advance(&start, json!({}));
            assert_eq!((again.asked.len(), again.bytes()), (0, blocked.bytes()));
            assert_eq!(edges(&shop), 0);
            let asked = agent.advance(&blocked, json!({}));
            assert_eq!(asked.asked.len(), 1, "{asked:#?}");
            agent.close();
            let mut agent = shop.agent_as(era, Person::Accepts);
            assert_eq!(agent.advance(&asked, json!({})).step(), "second");
        }
    }
}

/// Proves T9, X6: a client that cannot ask is told to, and its advance is the
/// agreement.
#[test]
fn a_client_that_cannot_ask_is_told_to() {
    for era in [Era::Newest, Era::Legacy] {
        let shop = Shop::with(&[careful()]);
        let mut agent = shop.agent_as(era, Person::Unasked);
        let start = agent.start_run("careful", json!({}));
        assert_eq!(start.json["pending"]["requireConfirmation"], true);
        assert!(start.text.contains("user"), "the text says to ask: {start:#?}");
        let second = agent.advance(&start, json!({}));
        assert_eq!(second.step(), "second");
        assert!(second.asked.is_empty());
    }
}

/// Proves T9: what is wrong is said before a person is bothered with it.
#[test]
fn nobody_is_asked_about_an_answer_that_is_wrong() {
    let mut definition = careful();
    definition["steps"][0]["outputContract"] =
        json!({ "contractRef": "wr.contracts.loop_control" });
    let shop = Shop::with(&[definition]);
    let mut agent = shop.agent_as(Era::Newest, Person::Accepts);
    let start = agent.start_run("careful", json!({}));
    let blocked = agent.advance(&start, json!({}));
    assert_eq!(blocked.asked.len(), 0, "{blocked:#?}");
    assert!(blocked.blocked().starts_with("output-"), "{blocked:#?}");
}
