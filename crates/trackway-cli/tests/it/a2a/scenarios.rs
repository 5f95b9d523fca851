//! The five scenarios of the lifecycle document, on a server that keeps running and on one that is killed
//! in the middle.

use serde_json::{Value, json};

use super::{
    patterns::{invest_form_question, invest_preview_artifact, invest_signature_question, invest_status},
    support::{
        DrivenTask, all_methods_and_crashes, data_message, expected_artifact, expected_end,
        expected_question, expected_resumed, expected_submitted_task, expected_working, normalize_events,
    },
};

const REVIEW: &str = "Review the analysis and confirm execution";

/// The events of `review` before its question.
pub(super) fn review_artifacts(subject: &str) -> [Value; 3] {
    let whole = |id, name, field: &str, value| {
        expected_artifact(id, name, json!({ "subject": subject, field: value }))
    };
    [
        whole("risk.json", "Risk analysis", "risk", "low"),
        whole("opportunity.json", "Opportunity analysis", "opportunity", "worth a try"),
        whole("recommendation.json", "Recommendation", "recommendation", "go on"),
    ]
}

/// The question of `review`.
pub(super) fn review_question(errors: Option<&Value>) -> Value {
    expected_question("input-required", REVIEW, &["confirmed"], errors)
}

/// All events of `review` up to its question.
pub(super) fn review_events_until_question(message: &super::support::Message, subject: &str) -> Vec<Value> {
    let [risk, opportunity, recommendation] = review_artifacts(subject);
    vec![
        expected_submitted_task(message),
        expected_working(),
        risk,
        opportunity,
        recommendation,
        review_question(None),
    ]
}

/// Proves L18, X2: times come from the runtime, are on every status and nowhere else, and a restart does
/// not change any of them.
#[tokio::test]
async fn scenario_1_every_status_has_its_time_and_keeps_it() {
    for way in all_methods_and_crashes() {
        let mut run =
            DrivenTask::start(way, "invest", &data_message(json!({ "walletAddress": "0x1" }))).await;
        let before = run.agent().get_task(&run.task).await;
        assert!(before["status"]["timestamp"].is_string());
        run.crash_if_planned().await;
        assert_eq!(run.agent().get_task(&run.task).await["status"], before["status"]);
        run.agent().cancel_task(&run.task).await.unwrap();
        // `normalize_events` checks each time, their order, and that no part contains a time.
        assert_eq!(run.follow_to_end().await.len(), 6);
    }
}

/// Proves L9, L13, L14, X2.
#[tokio::test]
async fn scenario_2_an_invalid_answer_repeats_the_question_and_a_valid_one_goes_on() {
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "walletAddress": "0x1" }));
        let mut run = DrivenTask::start(way, "invest", &message).await;
        let question = run.open_question_id().await;
        let answer = run.answer_and_wait(data_message(json!({ "walletAddress": "0x1", "amount": 0 }))).await;
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
            (&json!("/amount"), &json!("exclusiveMinimum"), &json!({ "exclusiveMinimum": 0 }), &json!(0))
        );
        assert!(error["message"].is_string());
        assert_eq!(run.open_question_id().await, question, "it is the same question");
        run.crash_if_planned().await;

        // The corrected answer continues the run, and the result reaches its caller.
        let answer = run.answer_and_wait(data_message(json!({ "walletAddress": "0x1", "amount": 5 }))).await;
        assert_eq!(
            answer["metadata"],
            json!({ "concurrentRequest": false, "requestOrder": 2, "primaryResume": true })
        );
        run.agent().cancel_task(&run.task).await.unwrap();
        let expected = [
            expected_submitted_task(&message),
            expected_working(),
            invest_status(),
            invest_preview_artifact("0x1"),
            invest_form_question(None),
            invest_form_question(Some(&errors)),
            expected_resumed(false, 2),
            invest_signature_question("5"),
            expected_end("canceled", None),
        ];
        assert_eq!(run.follow_to_end().await, expected);
    }
}

/// Proves L4, L5, L13, L15, X2.
#[tokio::test]
async fn scenario_3_several_artifacts_then_the_question() {
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "subject": "tea", "delayMs": 400 }));
        let mut run = DrivenTask::start(way, "review", &message).await;
        let waiting = run.agent().get_task(&run.task).await;
        let kept: Vec<_> = waiting["artifacts"].as_array().unwrap().iter().collect();
        let shown = review_artifacts("tea");
        assert_eq!(kept, shown.iter().map(|update| &update["artifact"]).collect::<Vec<_>>());
        assert!(!waiting["artifacts"].to_string().contains("schema"), "the schema is in the question only");
        run.crash_if_planned().await;

        // Killed again during its delay.
        let answer = data_message(json!({ "confirmed": true })).for_task(&run.task);
        run.agent().send(&answer).await.unwrap();
        run.crash_if_planned_without_check();
        let mut expected = review_events_until_question(&message, "tea");
        expected.extend([expected_resumed(false, 1), expected_end("completed", None)]);
        assert_eq!(run.follow_to_end().await, expected);
        let task = run.agent().get_task(&run.task).await;
        assert_eq!(task["artifacts"], waiting["artifacts"], "a resume takes no artifact away");
    }
}

/// Proves L9, L14, L16, X2.
#[tokio::test]
async fn scenario_4_every_answer_reports_its_order() {
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "subject": "tea", "delayMs": 1500 }));
        let mut run = DrivenTask::start(way, "review", &message).await;
        let invalid = run.answer_and_wait(data_message(json!({ "confirmed": "yes" }))).await;
        let errors = invalid["metadata"]["validationErrors"].clone();
        run.crash_if_planned().await;
        let agent = run.agent();
        let valid =
            agent.send(&data_message(json!({ "confirmed": true })).for_task(&run.task)).await.unwrap();
        assert_eq!(valid["status"]["state"], "working");
        let late =
            agent.send(&data_message(json!({ "confirmed": false })).for_task(&run.task)).await.unwrap();
        run.crash_if_planned_without_check();
        let agent = run.agent();
        let wrong = agent.send(&data_message(json!({ "confirmed": 7 })).for_task(&run.task)).await.unwrap();

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
        let mut expected = review_events_until_question(&message, "tea");
        expected.extend([
            review_question(Some(&errors)),
            expected_resumed(false, 2),
            expected_end("completed", None),
        ]);
        assert_eq!(run.follow_to_end().await, expected);
    }
}

/// Proves L17, X2.
#[tokio::test]
async fn scenario_5_children_are_runs_of_their_own_and_their_parent_waits_for_them() {
    for way in all_methods_and_crashes() {
        let message = data_message(json!({ "children": 2, "workflow": "review" }));
        let second = |event: &Value| event.to_string().contains("referenceTaskIds");
        let mut run = DrivenTask::start_until(way, "family", &message, second).await;
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
            let waiting = reviews.subscribe(child, Some(0)).await.read_until(waits).await;
            assert_eq!(waiting.len(), 6);
        }
        run.crash_if_planned().await;
        let reviews = run.server.agent("review");
        for (child, confirmed) in children.iter().zip([true, false]) {
            reviews
                .send_and_wait(&data_message(json!({ "confirmed": confirmed })).for_task(child))
                .await
                .unwrap();
        }

        let started = |child: &Value| {
            let id = child["id"].as_str().unwrap();
            let mut update = super::support::expected_status_message(json!([{ "kind": "text",
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
            expected_submitted_task(&message),
            expected_working(),
            started(&children[0]),
            started(&children[1]),
            expected_artifact("family.json", "Results", results),
            expected_end("completed", None),
        ];
        // Each child also reports that it waits, at any point.
        let waits = |update: &Value| update.pointer("/status/message/metadata/waitingTask").is_some();
        let (waiting, others): (Vec<_>, Vec<_>) = run.follow_to_end().await.into_iter().partition(waits);
        assert_eq!((waiting.len(), others), (2, expected.to_vec()));
        let parent = run.agent().get_task(&run.task).await;
        let child = run.server.agent("review").replay(&children[1]).await;
        assert_eq!(child[0].result["contextId"], parent["contextId"], "one context for the family");
        let tail =
            [expected_resumed(false, 1), expected_end("rejected", Some("The reviewer did not confirm"))];
        assert_eq!(normalize_events(&child)[6..], tail);
    }
}
