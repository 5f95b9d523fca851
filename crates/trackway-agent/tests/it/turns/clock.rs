//! A turn's seconds: the time of models and tools counts, the time of people does not.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway_agent::{Approval, Budgets};
use trackway_domain::{Part, Reason, StateName};
use trackway_runtime::Tool;
use trackway_testkit::{ChatReply, Process, answer_to};

use super::kit::{
    Desk, asks, dispatched, ended, reason, rested, say, shout, spoken, submit, tool, turn,
    yes_or_no,
};

const MINUTE: Duration = Duration::from_secs(60);

/// A desk whose agent has a minute, and a tool that takes 40 seconds.
fn desk() -> Desk {
    let desk = Desk::new();
    let clock = desk.world.clock.clone();
    let mut desk = desk.tool(tool("sleepy", move |_, _| {
        clock.advance(Duration::from_secs(40));
        Box::pin(async { Ok(Value::Null.into()) })
    }));
    desk.spec.budgets = Budgets { seconds: Some(60), ..Budgets::default() };
    desk
}

async fn yes(process: &Process, run: trackway_domain::RunId, id: &str) {
    let question = rested(process, run).await.question.unwrap();
    let mut yes = answer_to(run, id, json!({ "approved": true }));
    yes.question = Some(question.id);
    process.deliver(yes).await.unwrap();
}

/// Two concurrent approvals wait at the same time, and their time counts once.
#[test]
fn waits_beside_each_other_count_once() {
    let mut desk = desk().tool(shout());
    desk.spec.approvals.insert("shout".to_owned(), Approval::Ask);
    desk.calls(&[("c1", "shout", json!({ "text": "x" })), ("c2", "shout", json!({ "text": "y" }))]);
    desk.calls(&[("c3", "sleepy", json!({ "text": "x" }))]);
    desk.calls(&[("c4", "sleepy", json!({ "text": "x" }))]);
    desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        for (id, minutes) in [("y1", 5), ("y2", 1)] {
            rested(&process, run).await;
            process.clock.advance(MINUTE * minutes);
            yes(&process, run, id).await;
        }
        let sentence = "I stopped: this turn may take 60 seconds and has taken 80.";
        assert_eq!(spoken(&ended(&process, run).await), sentence);
    });
}

/// The time that a user takes to choose a question does not count.
#[test]
fn the_time_to_say_which_does_not_count() {
    let desk = desk().workflow(asks("approve", Reason::InputRequired, yes_or_no()));
    desk.run(async |process| {
        dispatched(&process, &desk, "m1", "approve").await;
        let second = dispatched(&process, &desk, "m2", "approve").await;
        desk.says("The second it is.");
        let run = say(&process, "m3", "yes").await;
        assert_eq!(rested(&process, run).await.state, StateName::InputRequired);
        process.clock.advance(MINUTE * 2);
        let which = answer_to(run, "which", json!({ "taskId": second.to_string() }));
        process.deliver(which).await.unwrap();
        assert_eq!(spoken(&ended(&process, run).await), "The second it is.");
    });
}

/// A tool that itself takes 40 seconds and asks the user, as MCP servers do.
fn wonders(desk: &Desk) -> Arc<dyn Tool> {
    let clock = desk.world.clock.clone();
    tool("wonders", move |_, call| {
        let clock = clock.clone();
        Box::pin(async move {
            let answer = call.ask(vec![Part::text("Really?")], yes_or_no()).await?;
            clock.advance(Duration::from_secs(40));
            Ok(answer.into())
        })
    })
}

/// The time that people take for a tool's question does not count, although the step is running. This
/// is also true if the process ended before they answered and the question was found again.
#[test]
fn the_time_for_a_tools_question_does_not_count() {
    for restart in [false, true] {
        let desk = desk();
        let tool = wonders(&desk);
        let desk = desk.tool(tool);
        desk.calls(&[("c1", "wonders", json!({ "text": "x" }))]);
        desk.calls(&[("c2", "sleepy", json!({ "text": "x" }))]);
        let run = desk.run(async |process| {
            let run = say(&process, "m1", "Go.").await;
            rested(&process, run).await;
            process.clock.advance(MINUTE * 2);
            if !restart {
                yes(&process, run, "y1").await;
                ended(&process, run).await;
            }
            run
        });
        desk.run(async |process| {
            if restart {
                yes(&process, run, "y1").await;
            }
            let sentence = "I stopped: this turn may take 60 seconds and has taken 80.";
            assert_eq!(spoken(&ended(&process, run).await), sentence, "restart: {restart}");
        });
        assert_eq!(desk.server.asked().len(), 2);
    }
}

/// A workflow cannot use the sentence of a turn: the run fails with it, whichever budget is used up and
/// whether or not an output schema is required.
#[test]
fn work_that_is_cut_short_fails() {
    for output in [Value::Null, json!({ "type": "object" })] {
        for (budgets, why) in [
            (Budgets { calls: 1, ..Budgets::default() }, "make 1 model call"),
            (Budgets { seconds: Some(1), ..Budgets::default() }, "take 1 seconds"),
        ] {
            let mut desk = Desk::new().tool(shout());
            let stays = budgets.seconds.is_some();
            desk.spec.budgets = budgets;
            desk.server.queue(if stays {
                ChatReply::default().says("Well, ").unfinished().stay()
            } else {
                ChatReply::default().calls(&[("c1", "shout", r#"{"text":"x"}"#)]).into()
            });
            desk.run(async |process| {
                let input = json!({ "prompt": "Work.", "output": output });
                let run = submit(&process, input, None).await;
                let view = ended(&process, run).await;
                assert_eq!(view.state, StateName::Failed, "{why}, {output}");
                assert!(reason(&view).contains(why), "{}", reason(&view));
            });
            assert_eq!(desk.server.asked().len(), 1);
        }
    }
}

/// A summary does not run longer than the turn's time.
#[test]
fn a_summary_is_not_waited_for_for_ever() {
    let mut desk = Desk::new();
    let long = "All work and no play makes a long day. ".repeat(3_000);
    desk.spec.budgets = Budgets { seconds: Some(2), ..Budgets::default() };
    desk.says("Noted.");
    desk.says("Noted.");
    desk.run(async |process| {
        turn(&process, "m1", &long).await;
        turn(&process, "m2", &long).await;
        desk.server.queue(ChatReply::default().unfinished().stay());
        desk.says("I have forgotten the beginning.");
        let view = turn(&process, "m3", &long).await;
        assert_eq!(spoken(&view), "I have forgotten the beginning.");
        desk.server.dropped().await;
    });
    let asked = desk.server.asked();
    assert!(asked[3].body["messages"].to_string().contains("are left out here"));
}
