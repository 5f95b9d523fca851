//! The five scenarios of the lifecycle document, on a server that lives and on one that is killed in
//! the middle.

use serde_json::{Value, json};

use super::{
    patterns::{form, opportunities, preview, signature},
    support::{
        Run, asked, data, ended, every_way, resumed, submitted, told, whole_artifact, working,
    },
};

const REVIEW: &str = "Review the analysis and confirm execution";

/// What `review` shows before its question.
pub(super) fn analyses(subject: &str) -> [Value; 3] {
    let whole = |id, name, field: &str, value| {
        whole_artifact(id, name, json!({ "subject": subject, field: value }))
    };
    [
        whole("risk.json", "Risk analysis", "risk", "low"),
        whole("opportunity.json", "Opportunity analysis", "opportunity", "worth a try"),
        whole("recommendation.json", "Recommendation", "recommendation", "go on"),
    ]
}

/// The question of `review`.
pub(super) fn confirmation(errors: Option<&Value>) -> Value {
    asked("input-required", REVIEW, &["confirmed"], errors)
}

/// Everything `review` tells up to its question.
pub(super) fn reviewed(message: &super::support::Message, subject: &str) -> Vec<Value> {
    let [risk, opportunity, recommendation] = analyses(subject);
    vec![submitted(message), working(), risk, opportunity, recommendation, confirmation(None)]
}

/// Proves L18, X2: times are the runtime's, stand on every status and nowhere else, and a restart
/// does not change one of them.
#[tokio::test]
async fn scenario_1_every_status_has_its_time_and_keeps_it() {
    for way in every_way() {
        let mut run = Run::start(way, "invest", &data(json!({ "walletAddress": "0x1" }))).await;
        let before = run.agent().get(&run.task).await;
        assert!(before["status"]["timestamp"].is_string());
        run.crash().await;
        assert_eq!(run.agent().get(&run.task).await["status"], before["status"]);
        run.agent().cancel(&run.task).await.unwrap();
        // `told` checks each time, their order, and that no part holds any.
        assert_eq!(run.finish().await.len(), 6);
    }
}

/// Proves L9, L13, L14, X2.
#[tokio::test]
async fn scenario_2_an_invalid_answer_repeats_the_question_and_a_valid_one_goes_on() {
    for way in every_way() {
        let message = data(json!({ "walletAddress": "0x1" }));
        let mut run = Run::start(way, "invest", &message).await;
        let question = run.question().await;
        let answer = run.answer(data(json!({ "walletAddress": "0x1", "amount": 0 }))).await;
        let errors = answer["metadata"]["validationErrors"].clone();
        assert_eq!(answer["status"]["state"], "input-required");
        assert_eq!(
            answer["metadata"],
            json!({ "concurrentRequest": false, "requestOrder": 1, "primaryResume": false,
                "validationErrors": errors })
        );
        assert_eq!(errors.as_array().unwrap().len(), 1);
        let error = &errors[0];
        assert_eq!(
            (&error["path"], &error["code"], &error["expected"], &error["got"]),
            (
                &json!("/amount"),
                &json!("exclusiveMinimum"),
                &json!({ "exclusiveMinimum": 0 }),
                &json!(0)
            )
        );
        assert!(error["message"].is_string());
        assert_eq!(run.question().await, question, "it is the same question");
        run.crash().await;

        // The corrected answer goes on, and reaches its caller.
        let answer = run.answer(data(json!({ "walletAddress": "0x1", "amount": 5 }))).await;
        assert_eq!(
            answer["metadata"],
            json!({ "concurrentRequest": false, "requestOrder": 2, "primaryResume": true })
        );
        run.agent().cancel(&run.task).await.unwrap();
        let expected = [
            submitted(&message),
            working(),
            opportunities(),
            preview("0x1"),
            form(None),
            form(Some(&errors)),
            resumed(false, 2),
            signature("5"),
            ended("canceled", None),
        ];
        assert_eq!(run.finish().await, expected);
    }
}

/// Proves L4, L5, L13, L15, X2.
#[tokio::test]
async fn scenario_3_several_artifacts_then_the_question() {
    for way in every_way() {
        let message = data(json!({ "subject": "tea", "delayMs": 400 }));
        let mut run = Run::start(way, "review", &message).await;
        let waiting = run.agent().get(&run.task).await;
        let kept: Vec<_> = waiting["artifacts"].as_array().unwrap().iter().collect();
        let shown = analyses("tea");
        assert_eq!(kept, shown.iter().map(|update| &update["artifact"]).collect::<Vec<_>>());
        assert!(
            !waiting["artifacts"].to_string().contains("schema"),
            "the schema is in the question only"
        );
        run.crash().await;

        // Killed again while it waits out its delay.
        let answer = data(json!({ "confirmed": true })).to(&run.task);
        run.agent().send(&answer).await.unwrap();
        run.crash_now();
        let mut expected = reviewed(&message, "tea");
        expected.extend([resumed(false, 1), ended("completed", None)]);
        assert_eq!(run.finish().await, expected);
        let task = run.agent().get(&run.task).await;
        assert_eq!(task["artifacts"], waiting["artifacts"], "a resume takes no artifact away");
    }
}

/// Proves L9, L14, L16, X2.
#[tokio::test]
async fn scenario_4_every_request_at_a_question_is_told_its_place() {
    for way in every_way() {
        let message = data(json!({ "subject": "tea", "delayMs": 1500 }));
        let mut run = Run::start(way, "review", &message).await;
        let invalid = run.answer(data(json!({ "confirmed": "yes" }))).await;
        let errors = invalid["metadata"]["validationErrors"].clone();
        run.crash().await;
        let agent = run.agent();
        let valid = agent.send(&data(json!({ "confirmed": true })).to(&run.task)).await.unwrap();
        assert_eq!(valid["status"]["state"], "working");
        let late = agent.send(&data(json!({ "confirmed": false })).to(&run.task)).await.unwrap();
        run.crash_now();
        let agent = run.agent();
        let wrong = agent.send(&data(json!({ "confirmed": 7 })).to(&run.task)).await.unwrap();

        let place = |task: &Value| {
            let metadata = &task["metadata"];
            json!([
                metadata["requestOrder"],
                metadata["concurrentRequest"],
                metadata["primaryResume"],
                metadata["validationErrors"][0]["path"]
            ])
        };
        assert_eq!(place(&invalid), json!([1, false, false, "/confirmed"]));
        assert_eq!(place(&valid), json!([2, false, true, null]));
        assert_eq!(place(&late), json!([3, true, false, null]));
        assert_eq!(place(&wrong), json!([4, true, false, "/confirmed"]));
        let mut expected = reviewed(&message, "tea");
        expected.extend([confirmation(Some(&errors)), resumed(false, 2), ended("completed", None)]);
        assert_eq!(run.finish().await, expected);
    }
}

/// Proves L17, X2.
#[tokio::test]
async fn scenario_5_children_are_runs_of_their_own_and_their_parent_waits_for_them() {
    for way in every_way() {
        let message = data(json!({ "children": 2, "workflow": "review" }));
        let second = |event: &Value| event.to_string().contains("referenceTaskIds");
        let mut run = Run::start_until(way, "family", &message, second).await;
        let agent = run.agent();
        let mut stream = agent.subscribe(&run.task, Some(0)).await;
        let mut events = Vec::new();
        while events.len() < 2 {
            let next = stream.next().await.unwrap();
            if next.result.to_string().contains("referencedWorkflow") {
                events.push(next);
            }
        }
        let children = [&events[0], &events[1]]
            .map(|event| json!({ "id": event.result["status"]["message"]["referenceTaskIds"][0] }));
        let reviews = run.server.agent("review");
        for child in &children {
            let waits = |event: &Value| event["status"]["state"] == "input-required";
            let waiting = reviews.subscribe(child, Some(0)).await.until(waits).await;
            assert_eq!(waiting.len(), 6);
        }
        run.crash().await;
        let reviews = run.server.agent("review");
        for (child, confirmed) in children.iter().zip([true, false]) {
            reviews.settle(&data(json!({ "confirmed": confirmed })).to(child)).await.unwrap();
        }

        let started = |child: &Value| {
            let id = child["id"].as_str().unwrap();
            let mut update = super::support::says(json!([{ "kind": "text",
                "text": format!("Started review as {id}") }]));
            let message = &mut update["status"]["message"];
            message["referenceTaskIds"] = json!([id]);
            message["metadata"] = json!({ "referencedWorkflow": { "workflowName": "review",
                "description": "Analyses a subject and asks a person to confirm the recommendation." } });
            update
        };
        let results = json!({ "workflow": "review", "results": [
            { "taskId": children[0]["id"], "state": "completed", "message": null },
            { "taskId": children[1]["id"], "state": "rejected", "message": "The reviewer did not confirm" },
        ] });
        let expected = [
            submitted(&message),
            working(),
            started(&children[0]),
            started(&children[1]),
            whole_artifact("family.json", "Results", results),
            ended("completed", None),
        ];
        // Each child also says that it waits, whenever that is.
        let waits =
            |update: &Value| update.pointer("/status/message/metadata/waitingTask").is_some();
        let (waiting, others): (Vec<_>, Vec<_>) = run.finish().await.into_iter().partition(waits);
        assert_eq!((waiting.len(), others), (2, expected.to_vec()));
        let parent = run.agent().get(&run.task).await;
        let child = run.server.agent("review").replay(&children[1]).await;
        assert_eq!(child[0].result["contextId"], parent["contextId"], "one context for the family");
        let tail = [resumed(false, 1), ended("rejected", Some("The reviewer did not confirm"))];
        assert_eq!(told(&child)[6..], tail);
    }
}
