//! The content of model requests: earlier turns with their calls, every part of a message, answers to
//! open questions, and a summary if the conversation is too long.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use trackway_domain::{File, FileSource, Part, StateName};
use trackway_testkit::{ChatReply, Names};

use super::kit::{
    Desk, artifact, echo, ended, fits_its_log, messages, reason, send, shout, spoken, submit,
    text_artifact, tool, turn,
};

/// The model's request, without generated ids.
fn told(desk: &Desk, request: usize) -> Value {
    Names::new().plain(&Value::Array(desk.told(request)))
}

/// Proves D2, D7: the next turn includes the calls and results of the previous turn.
#[test]
fn the_next_turn_knows_what_was_called() {
    let desk = Desk::new().workflow(echo()).tool(shout());
    desk.server.queue(ChatReply::default().says("I try.").calls(&[
        ("c1", "dispatch_workflow_echo", r#"{"text":"one"}"#),
        ("c2", "shout", r#"{"text":"loud"}"#),
        ("c3", "shout", r#"{"#),
    ]));
    desk.says("It worked.");
    desk.says("You are welcome.");
    desk.run(async |process| {
        turn(&process, "m1", "Please.").await;
        process.quiet().await;
        turn(&process, "m2", "Thanks.").await;
    });
    assert_json_snapshot!("the_next_turn", told(&desk, 2));
    let body = &desk.server.asked()[2].body;
    let tools = body["tools"].as_array().unwrap().iter();
    let offered: Vec<String> =
        tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
    let known = ["dispatch_workflow_echo", "shout", "task_status"];
    assert_eq!(offered, known, "nothing is to be answered");
}

/// A turn that was cancelled or failed is remembered as such, and every call in it has a result.
#[test]
fn a_failed_turn_is_remembered() {
    let desk = Desk::new();
    desk.server.queue(trackway_testkit::Reply::refusal(401, "no key"));
    desk.says("Again?");
    desk.run(async |process| {
        assert_eq!(turn(&process, "m1", "Please.").await.state, StateName::Failed);
        turn(&process, "m2", "Again.").await;
    });
    let told = desk.told(1);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[2]["content"].as_str().unwrap().contains("This turn failed"), "{told:?}");
}

/// All parts of a message reach the model: text, data, files as text or image, and a line for every
/// other file.
#[test]
fn every_part_of_a_message_reaches_the_model() {
    let desk = Desk::new();
    desk.says("Many things.");
    let file = |name: &str, mime_type: &str, source| {
        Part::file(File {
            name: Some(name.to_owned()),
            mime_type: Some(mime_type.to_owned()),
            source,
        })
    };
    let base64 = |text: &str| FileSource::Base64(text.to_owned());
    desk.run(async |process| {
        let parts = vec![
            Part::text("Look:"),
            Part::data(json!({ "amount": 5 })),
            file("notes.txt", "text/plain", base64("SGVsbG8=")),
            file("dot.png", "image/png", base64("iVBORw0=")),
            file("tune.ogg", "audio/ogg", base64("T2dnUw==")),
            file("page", "text/html", FileSource::Uri("https://example.org/page".to_owned())),
        ];
        let run = send(&process, "m1", parts, &[]).await;
        ended(&process, run).await;
    });
    assert_json_snapshot!("every_part", told(&desk, 0));
}

/// Tool results reach the model unchanged: text, JSON, images.
#[test]
fn what_tools_give_reaches_the_model() {
    let desk = Desk::new().tool(tool("camera", |_, call| {
        Box::pin(async move {
            call.artifact(text_artifact("film.txt", "one shot")).await?;
            let image = File {
                name: None,
                mime_type: Some("image/png".to_owned()),
                source: FileSource::Base64("iVBORw0=".to_owned()),
            };
            Ok(trackway_runtime::ToolOutput { value: Value::Null, parts: vec![Part::file(image)] })
        })
    }));
    desk.calls(&[("c1", "camera", json!({ "text": "x" }))]);
    desk.says("A dot.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Look.").await;
        assert_eq!(spoken(&view), "A dot.");
        artifact(&view, "film.txt");
        let shown = artifact(&view, "tool-result-camera");
        assert!(shown.parts.iter().any(|part| part.as_text().is_none()), "{shown:?}");
    });
    assert_json_snapshot!("a_picture", told(&desk, 1));
}

/// A run that no person requested returns a value of the required schema, after repairs.
#[test]
fn an_output_of_a_schema_is_mended_twice() {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"]
    });
    let input = json!({ "prompt": "How many?", "output": schema });
    let desk = Desk::new();
    desk.says("Three.");
    desk.says(r#"{"n": "three"}"#);
    desk.says(r#"{"n": 3}"#);
    desk.run(async |process| {
        let run = submit(&process, input.clone(), None).await;
        let view = ended(&process, run).await;
        assert_eq!(view.output, json!({ "n": 3 }));
        assert!(view.artifacts.is_empty(), "drafts are not published: {:?}", view.artifacts);
    });
    assert_json_snapshot!("repairs", told(&desk, 2));

    let desk = Desk::new();
    for _ in 0..4 {
        desk.says("Three.");
    }
    desk.run(async |process| {
        let run = submit(&process, input, None).await;
        let view = ended(&process, run).await;
        assert_eq!(view.state, StateName::Failed);
        assert!(reason(&view).contains("3 tries"), "{}", reason(&view));
    });
    assert_eq!(desk.server.left(), 1);
}

/// A conversation that is too long is summarised once; later turns continue from the summary.
#[test]
fn a_long_conversation_is_summed_up() {
    let desk = Desk::new();
    let long = "All work and no play makes a long day. ".repeat(3_000);
    for number in 0..4 {
        desk.says(&format!("Noted {number}."));
    }
    desk.run(async |process| {
        let mut asked = 0;
        for number in 0..4 {
            if number == 2 {
                desk.server.queue(ChatReply::default().says("They worked."));
            }
            let view = turn(&process, &format!("m{number}"), &long).await;
            asked = desk.server.asked().len();
            fits_its_log(&process, &desk, view.submission.run).await;
        }
        assert_eq!(asked, 5, "one request more, for the summary");
    });
    let asked = desk.server.asked();
    let summed: Vec<bool> = asked
        .iter()
        .map(|asked| asked.body["messages"].to_string().contains("was summed up to save room"))
        .collect();
    assert_eq!(summed, [false, false, false, true, true]);
    let first: Vec<Value> = messages(&asked[4]);
    assert!(first.len() <= 6, "{} messages", first.len());
}
