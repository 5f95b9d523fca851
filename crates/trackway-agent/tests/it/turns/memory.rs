//! The content of model requests: earlier turns with their calls, every part of a message, answers to
//! open questions, and a summary if the conversation is too long.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use trackway_domain::{File, FileSource, Part, StateName};
use trackway_testkit::{IdNormalizer, ScriptedChatReply};

use super::harness::{
    AgentHarness, assert_fits_its_log, echo_workflow, failure_reason, find_artifact, messages_of,
    response_text, run_turn, send_parts, start_turn, text_artifact, tool, uppercase_tool, wait_until_ended,
};

/// The model's request, without generated ids.
fn request_without_ids(desk: &AgentHarness, request: usize) -> Value {
    IdNormalizer::new().normalize(&Value::Array(desk.request_messages(request)))
}

/// Proves D2, D7: the next turn includes the calls and results of the previous turn.
#[test]
fn the_next_turn_knows_what_was_called() {
    let desk = AgentHarness::new().with_workflow(echo_workflow()).with_tool(uppercase_tool());
    desk.server.queue_reply(ScriptedChatReply::default().with_text("I try.").with_tool_calls(&[
        ("c1", "dispatch_workflow_echo", r#"{"text":"one"}"#),
        ("c2", "shout", r#"{"text":"loud"}"#),
        ("c3", "shout", r#"{"#),
    ]));
    desk.queue_text("It worked.");
    desk.queue_text("You are welcome.");
    desk.run_process(async |process| {
        run_turn(&process, "m1", "Please.").await;
        process.wait_until_quiet().await;
        run_turn(&process, "m2", "Thanks.").await;
    });
    assert_json_snapshot!("the_next_turn", request_without_ids(&desk, 2));
    let body = &desk.server.requests()[2].body;
    let tools = body["tools"].as_array().unwrap().iter();
    let offered: Vec<String> =
        tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
    let known = ["dispatch_workflow_echo", "shout", "task_status"];
    assert_eq!(offered, known, "nothing is to be answered");
}

/// A turn that was cancelled or failed is remembered as such, and every call in it has a result.
#[test]
fn a_failed_turn_is_remembered() {
    let desk = AgentHarness::new();
    desk.server.queue_reply(trackway_testkit::ScriptedReply::error_body(401, "no key"));
    desk.queue_text("Again?");
    desk.run_process(async |process| {
        assert_eq!(run_turn(&process, "m1", "Please.").await.state, StateName::Failed);
        run_turn(&process, "m2", "Again.").await;
    });
    let told = desk.request_messages(1);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[2]["content"].as_str().unwrap().contains("This turn failed"), "{told:?}");
}

/// All parts of a message reach the model: text, data, files as text or image, and a line for every
/// other file.
#[test]
fn every_part_of_a_message_reaches_the_model() {
    let desk = AgentHarness::new();
    desk.queue_text("Many things.");
    let file = |name: &str, mime_type: &str, source| {
        Part::file(File { name: Some(name.to_owned()), mime_type: Some(mime_type.to_owned()), source })
    };
    let base64 = |text: &str| FileSource::Base64(text.to_owned());
    desk.run_process(async |process| {
        let parts = vec![
            Part::text("Look:"),
            Part::data(json!({ "amount": 5 })),
            file("notes.txt", "text/plain", base64("SGVsbG8=")),
            file("dot.png", "image/png", base64("iVBORw0=")),
            file("tune.ogg", "audio/ogg", base64("T2dnUw==")),
            file("page", "text/html", FileSource::Uri("https://example.org/page".to_owned())),
        ];
        let run = send_parts(&process, "m1", parts, &[]).await;
        wait_until_ended(&process, run).await;
    });
    assert_json_snapshot!("every_part", request_without_ids(&desk, 0));
}

/// Tool results reach the model unchanged: text, JSON, images.
#[test]
fn tool_output_reaches_the_model() {
    let desk = AgentHarness::new().with_tool(tool("camera", |_, call| {
        Box::pin(async move {
            call.emit_artifact(text_artifact("film.txt", "one shot")).await?;
            let image = File {
                name: None,
                mime_type: Some("image/png".to_owned()),
                source: FileSource::Base64("iVBORw0=".to_owned()),
            };
            Ok(trackway_runtime::ToolOutput { parts: vec![Part::file(image)], ..Default::default() })
        })
    }));
    desk.queue_tool_calls(&[("c1", "camera", json!({ "text": "x" }))]);
    desk.queue_text("A dot.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Look.").await;
        assert_eq!(response_text(&view), "A dot.");
        find_artifact(&view, "film.txt");
        let shown = find_artifact(&view, "tool-result-camera");
        assert!(shown.parts.iter().any(|part| part.as_text().is_none()), "{shown:?}");
    });
    assert_json_snapshot!("a_picture", request_without_ids(&desk, 1));
}

/// A run that no person requested returns a value of the required schema, after repairs.
#[test]
fn an_output_of_a_schema_is_mended_twice() {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"]
    });
    let input = json!({ "prompt": "How many?", "output": schema });
    let desk = AgentHarness::new();
    desk.queue_text("Three.");
    desk.queue_text(r#"{"n": "three"}"#);
    desk.queue_text(r#"{"n": 3}"#);
    desk.run_process(async |process| {
        let run = start_turn(&process, input.clone(), None).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.output, json!({ "n": 3 }));
        assert!(view.artifacts.is_empty(), "drafts are not published: {:?}", view.artifacts);
    });
    assert_json_snapshot!("repairs", request_without_ids(&desk, 2));

    let desk = AgentHarness::new();
    for _ in 0..4 {
        desk.queue_text("Three.");
    }
    desk.run_process(async |process| {
        let run = start_turn(&process, input, None).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.state, StateName::Failed);
        assert!(failure_reason(&view).contains("3 tries"), "{}", failure_reason(&view));
    });
    assert_eq!(desk.server.unused_replies(), 1);
}

/// A conversation that is too long is summarised once; later turns continue from the summary.
#[test]
fn a_long_conversation_is_summed_up() {
    let desk = AgentHarness::new();
    let long = "All work and no play makes a long day. ".repeat(3_000);
    for number in 0..4 {
        desk.queue_text(&format!("Noted {number}."));
    }
    desk.run_process(async |process| {
        let mut asked = 0;
        for number in 0..4 {
            if number == 2 {
                desk.server.queue_reply(ScriptedChatReply::default().with_text("They worked."));
            }
            let view = run_turn(&process, &format!("m{number}"), &long).await;
            asked = desk.server.requests().len();
            assert_fits_its_log(&process, &desk, view.submission.run).await;
        }
        assert_eq!(asked, 5, "one request more, for the summary");
    });
    let asked = desk.server.requests();
    let summed: Vec<bool> = asked
        .iter()
        .map(|asked| asked.body["messages"].to_string().contains("was summed up to save room"))
        .collect();
    assert_eq!(summed, [false, false, false, true, true]);
    let first: Vec<Value> = messages_of(&asked[4]);
    assert!(first.len() <= 6, "{} messages", first.len());
}
