//! Conversations of two callers on one server, who use the same context.

use serde_json::{Value, json};

use super::desk::{Desk, child, references, spoken, state};
use crate::a2a::support::{Agent, Event, Refused, data, text};

const CONTEXT: &str = "shared";
const FILES: [(&str, &str); 2] = [
    ("trackway.toml", "[auth]\nrequired = true\n[defaults]\nagent = \"helper\"\n"),
    ("agents/helper.md", "---\nname: helper\ntools: [\"artifact_*\"]\n---\nYou help.\n"),
];
/// Somebody of another tenant, and somebody else of the same one.
const OTHERS: [(&str, &str); 2] = [("bolt", "ann"), ("acme", "bob")];
const NOT_FOUND: i64 = -32_001;

/// Two callers who talk to `helper`; the first has a review that waits, and has written something.
struct Case {
    desk: Desk,
    /// Keys of the first and of the second.
    keys: [String; 2],
    turn: Vec<Event>,
    review: Value,
}

impl Case {
    /// With this one as the second; the first is `ann` of `acme`.
    async fn with(tenant: &str, user: &str) -> Self {
        let desk = Desk::open(&FILES).await;
        let keys = [desk.key("acme", "ann"), desk.key(tenant, user)];
        desk.calls(&[
            ("c1", "dispatch_workflow_review", json!({ "subject": "the secret" })),
            ("c2", "artifact_write", json!({ "name": "plan.md", "text": "The secret plan." })),
        ]);
        desk.says("It waits for you.");
        let helper = desk.server.agent_for("helper", &keys[0]);
        let turn = helper.stream(&text("Review it.").within(&json!(CONTEXT))).await;
        assert_eq!(state(&turn), "completed");
        let review = child(&turn, 0);
        let case = Self { desk, keys, turn, review };
        let mut waiting = case.reviews(0).subscribe(&case.review, Some(0)).await;
        waiting.until(|event| event["status"]["state"] == "input-required").await;
        case
    }

    fn helper(&self, caller: usize) -> Agent {
        self.desk.server.agent_for("helper", &self.keys[caller])
    }

    fn reviews(&self, caller: usize) -> Agent {
        self.desk.server.agent_for("review", &self.keys[caller])
    }

    /// All runs that the caller sees.
    async fn runs(&self, caller: usize) -> Vec<Value> {
        let server = &self.desk.server;
        let request = server.http().get(server.url("/api/runs")).bearer_auth(&self.keys[caller]);
        let list: Value = request.send().await.unwrap().json().await.unwrap();
        list["runs"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
    }

    /// The review still waits.
    async fn assert_open(&self) {
        let review = self.reviews(0).get(&self.review).await;
        assert_eq!(review["status"]["state"], "input-required", "{review}");
    }
}

fn not_found(answer: Result<Value, Refused>) {
    let refused = answer.expect_err("it is somebody else's");
    assert_eq!(refused.code, NOT_FOUND, "{refused:?}");
    assert!(!format!("{refused:?}").contains("secret"), "{refused:?}");
}

/// Proves X6: turn, child and context of one caller do not exist for another.
#[tokio::test]
async fn a_turn_of_another_caller_does_not_exist() {
    for (tenant, user) in OTHERS {
        let case = Case::with(tenant, user).await;
        let turn = json!({ "id": case.turn[0].result["id"] });
        for (agent, task) in [(case.helper(1), &turn), (case.reviews(1), &case.review)] {
            for method in ["tasks/get", "tasks/cancel", "GetTask", "CancelTask"] {
                not_found(agent.call(method, task.clone()).await);
            }
            let list = agent.call("ListTasks", json!({ "contextId": CONTEXT })).await.unwrap();
            assert_eq!(list["tasks"], json!([]), "{list}");
        }
        assert_eq!(case.runs(1).await, [] as [Value; 0]);
        assert_eq!(case.runs(0).await.len(), 2, "the turn and its child");
        case.assert_open().await;
    }
}

/// Proves X6: in the same context another caller begins a conversation: the model is told nothing of what was
/// said there, and its tools find nothing.
#[tokio::test]
async fn the_same_context_of_another_caller_is_another_conversation() {
    for (tenant, user) in OTHERS {
        let case = Case::with(tenant, user).await;
        let asked = case.desk.model.asked().len();
        case.desk.calls(&[
            ("c1", "artifact_list", json!({})),
            ("c2", "artifact_read", json!({ "name": "plan.md" })),
            ("c3", "artifact_read", json!({ "name": "risk.json", "taskId": case.review["id"] })),
            (
                "c4",
                "answer_task",
                json!({ "taskId": case.review["id"], "input": { "confirmed": true } }),
            ),
        ]);
        case.desk.says("There is nothing.");
        let events = case.helper(1).stream(&text("What is there?").within(&json!(CONTEXT))).await;
        assert_eq!(
            (state(&events).as_str(), spoken(&events).as_str()),
            ("completed", "There is nothing.")
        );
        let told = case.desk.told(asked);
        assert_eq!(told.len(), 2, "the prompt and the question: {told:#?}");
        let first = case.desk.model.asked()[asked].body.to_string();
        let known = [case.review["id"].as_str().unwrap(), "secret", "It waits for you."];
        assert!(known.iter().all(|word| !first.contains(word)), "{first}");
        assert_eq!(case.desk.result(asked + 1, "c1")["artifacts"], json!([]));
        for call in ["c2", "c3", "c4"] {
            let result = case.desk.result(asked + 1, call).to_string();
            assert!(!result.contains("secret") && !result.contains("recommend"), "{result}");
        }
        assert_eq!(references(&events), [] as [Value; 0]);
        case.assert_open().await;

        // To whom it belongs, everything is still there.
        case.desk.calls(&[("c1", "artifact_list", json!({}))]);
        case.desk.says("A plan.");
        case.helper(0).stream(&text("Which artifacts are there?").within(&json!(CONTEXT))).await;
        let listed = case.desk.result(asked + 3, "c1").to_string();
        assert!(listed.contains("plan.md") && listed.contains("risk.json"), "{listed}");
        let told = case.desk.told(asked + 2);
        assert!(!format!("{told:?}").contains("What is there?"), "{told:#?}");
    }
}

/// Proves X6, D5: an open question of one caller is not answered by another in the same context, neither
/// by a plain yes, nor by data that fits, nor by naming its task.
#[tokio::test]
async fn another_caller_does_not_answer_an_open_question() {
    for (tenant, user) in OTHERS {
        let case = Case::with(tenant, user).await;
        let names = json!([case.review["id"]]);
        for reply in [
            text("yes"),
            data(json!({ "confirmed": true })),
            text("yes").with("referenceTaskIds", names),
        ] {
            case.desk.says("I do not know what you mean.");
            let events = case.helper(1).stream(&reply.within(&json!(CONTEXT))).await;
            assert_eq!(spoken(&events), "I do not know what you mean.");
            assert_eq!(references(&events), [] as [Value; 0]);
            case.assert_open().await;
        }
        let direct = data(json!({ "confirmed": true })).to(&case.review);
        not_found(case.reviews(1).settle(&direct).await);
        case.assert_open().await;

        case.desk.says("Confirmed.");
        let events = case.helper(0).stream(&text("yes").within(&json!(CONTEXT))).await;
        assert_eq!(spoken(&events), "Confirmed.");
        let review = case.reviews(0).subscribe(&case.review, Some(0)).await.rest().await;
        assert_eq!(state(&review), "completed");
    }
}
