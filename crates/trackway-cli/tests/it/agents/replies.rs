//! What a user says in a conversation may answer a question of a task that it has started.

use serde_json::{Value, json};

use super::desk::{Desk, after, child, references, spoken, state, why};
use crate::a2a::support::{Event, data, text};

/// A turn that leaves a review waiting in the context, if there is one already.
async fn asking(desk: &Desk, subject: &str, context: Option<&Value>) -> (Vec<Event>, Value) {
    desk.calls(&[("c", "dispatch_workflow_review", json!({ "subject": subject }))]);
    desk.says("It waits for you.");
    let message = text("Review it.");
    let message = match context {
        Some(context) => message.within(context),
        None => message,
    };
    let events = desk.turn(&message).await;
    let task = child(&events, 0);
    let mut waiting = desk.server.agent("review").subscribe(&task, Some(0)).await;
    waiting.until(|event| event["status"]["state"] == "input-required").await;
    (events, task)
}

/// Proves D2, D5: a reply in the context resumes the one open question; data or a plain yes.
#[tokio::test]
async fn a_reply_resumes_the_one_open_question() {
    for answer in [data(json!({ "confirmed": true })), text("Yes.")] {
        let desk = Desk::open(&[]).await;
        let (first, task) = asking(&desk, "tea", None).await;
        desk.says("Confirmed.");
        let events = desk.turn(&answer.within(&first[0].result["contextId"])).await;
        assert_eq!(
            (state(&events).as_str(), spoken(&events).as_str()),
            ("completed", "Confirmed.")
        );
        let reviewed = desk.server.agent("review").subscribe(&task, Some(0)).await.rest().await;
        assert_eq!(state(&reviewed), "completed");
        assert_eq!(references(&events)[0]["message"]["referenceTaskIds"], json!([task["id"]]));
        assert_eq!(desk.result(2, "reply")["taskId"], task["id"]);
    }
}

/// Proves D5: a client that knows the agent alone finds its child there, and answers it there.
#[tokio::test]
async fn a_child_is_found_where_its_parent_is() {
    let desk = Desk::open(&[]).await;
    let (_, task) = asking(&desk, "tea", None).await;
    assert_eq!(desk.front().get(&task).await["status"]["state"], "input-required");
    let answered = desk.turn(&data(json!({ "confirmed": true })).to(&task)).await;
    assert_eq!(state(&answered), "completed");
    assert_eq!(answered[0].result["id"], task["id"]);
    let elsewhere = desk.server.agent("echo").call("tasks/get", json!({ "id": task["id"] })).await;
    assert_eq!(elsewhere.unwrap_err().code, -32001);
}

/// Proves D5: what answers no question goes to the model, which is told what is open. What it makes of the
/// user's words is put to the user before it is an answer (issue 11, S-H5).
#[tokio::test]
async fn what_does_not_fit_goes_to_the_model() {
    let desk = Desk::open(&[]).await;
    let (first, task) = asking(&desk, "tea", None).await;
    let input = json!({ "taskId": task["id"], "input": { "confirmed": false } });
    desk.calls(&[("c9", "answer_task", input)]);
    desk.says("I declined it for you.");
    let asked = desk.turn(&after(&first[0].result, "I would rather not, thank you")).await;
    assert_eq!(state(&asked), "input-required");
    let events = desk.turn(&data(json!({ "approved": true })).to(&asked[0].result)).await;
    assert_eq!(spoken(&events), "I declined it for you.");
    let system = desk.told(2)[0]["content"].to_string();
    assert!(system.contains(task["id"].as_str().unwrap()), "{system}");
    let told = desk.result(3, "c9");
    assert_eq!((&told["outcome"], &told["taskId"]), (&json!("rejected"), &task["id"]));
    assert_eq!(desk.server.agent("review").get(&task).await["status"]["state"], "rejected");
}

/// Proves D5: with two questions open it asks which one is meant.
#[tokio::test]
async fn with_two_open_questions_it_asks_which() {
    let desk = Desk::open(&[]).await;
    let (first, tea) = asking(&desk, "tea", None).await;
    let context = &first[0].result["contextId"];
    let (_, coffee) = asking(&desk, "coffee", Some(context)).await;
    let asked = desk.turn(&text("yes").within(context)).await;
    assert_eq!(state(&asked), "input-required");
    assert_eq!(desk.model.asked().len(), 4, "no model has to find out");
    let question = why(&asked.last().unwrap().result["status"]);
    for task in [&tea, &coffee] {
        assert!(question.contains(task["id"].as_str().unwrap()), "{question}");
    }
    desk.says("Coffee it is.");
    let which = data(json!({ "taskId": coffee["id"] })).to(&asked[0].result);
    let events = desk.turn(&which).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "Coffee it is."));
    let reviews = desk.server.agent("review");
    let done = reviews.subscribe(&coffee, Some(0)).await.rest().await;
    assert_eq!(state(&done), "completed");
    assert_eq!(reviews.get(&tea).await["status"]["state"], "input-required");
}

/// Proves D5: a reply that names its task is for that one, however many are open.
#[tokio::test]
async fn a_reply_may_name_its_task() {
    let desk = Desk::open(&[]).await;
    let (first, tea) = asking(&desk, "tea", None).await;
    let context = &first[0].result["contextId"];
    let (_, coffee) = asking(&desk, "coffee", Some(context)).await;
    desk.says("Tea it is.");
    let reply = text("yes").within(context).with("referenceTaskIds", json!([tea["id"]]));
    let events = desk.turn(&reply).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "Tea it is."));
    let reviews = desk.server.agent("review");
    assert_eq!(state(&reviews.subscribe(&tea, Some(0)).await.rest().await), "completed");
    assert_eq!(reviews.get(&coffee).await["status"]["state"], "input-required");
}

/// Proves X2, D6: a fork of a turn that brought a reply has what was said to it, and asks nobody again.
#[tokio::test]
async fn a_fork_of_a_reply_has_its_answer() {
    let desk = Desk::open(&[]).await;
    let (first, _) = asking(&desk, "tea", None).await;
    desk.says("Confirmed.");
    let events = desk.turn(&text("Yes.").within(&first[0].result["contextId"])).await;
    let turn = events[0].result["id"].as_str().unwrap().to_owned();
    let fork = desk.server.http().post(desk.server.url(&format!("/api/runs/{turn}/fork")));
    let fork: Value = fork.json(&json!({})).send().await.unwrap().json().await.unwrap();
    let whole = desk.front().subscribe(&fork, Some(0)).await.rest().await;
    assert_eq!((state(&whole).as_str(), spoken(&whole).as_str()), ("completed", "Confirmed."));
    assert_eq!(desk.model.asked().len(), 3, "what was answered is not asked for again");
}
