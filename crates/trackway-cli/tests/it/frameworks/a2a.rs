//! Frameworks that call agents over A2A: the answers that their users get.

use std::process::Command;

use serde_json::{Value, json};

use super::{FrameworkServer, python, run_client, turn_text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framework {
    Adk,
    Microsoft,
    /// It keeps no conversation: each call is a separate message.
    Strands,
}

impl Framework {
    fn command(self) -> Command {
        match self {
            Self::Adk => python("TRACKWAY_TEST_FRAMEWORKS_A2A", "adk.py"),
            Self::Microsoft => python("TRACKWAY_TEST_FRAMEWORKS_A2A", "microsoft.py"),
            Self::Strands => python("TRACKWAY_TEST_STRANDS", "strands_agents.py"),
        }
    }

    /// Sends these messages to an agent, and returns the framework's result for each. Microsoft's is called
    /// twice, once as a stream: its result is here once for each run.
    async fn send_messages(self, site: &FrameworkServer, agent: &str, messages: &[&str]) -> Vec<Vec<Value>> {
        self.send_messages_as(site, agent, messages, "").await
    }

    /// As [`Framework::send_messages`], by a client that names the media types that it accepts.
    async fn send_messages_as(
        self,
        site: &FrameworkServer,
        agent: &str,
        messages: &[&str],
        modes: &str,
    ) -> Vec<Vec<Value>> {
        let mut command = self.command();
        command.arg(modes).arg(site.agent_url(agent)).args(messages);
        let (answers, errors) = run_client(command).await;
        assert!(!answers.is_empty() && answers.len() % messages.len() == 0, "{answers:?}\n{errors}");
        answers.chunks(messages.len()).map(<[Value]>::to_vec).collect()
    }
}

/// The answer is exactly the agent's text, also if the agent has called a tool, for clients that accept
/// only text.
async fn answers_are_what_was_said(framework: Framework) {
    let site = FrameworkServer::start(&[], &[]);
    for (message, modes) in [("hello", ""), ("/run echo text=hi", "text/plain")] {
        let before = site.list_runs("assistant").await.len();
        let answers = framework.send_messages_as(&site, "assistant", &[message], modes).await;
        let turns = site.list_runs("assistant").await;
        for (answer, turn) in answers.iter().zip(&turns[before..]) {
            let text = answer[0]["text"].as_str().unwrap();
            // Strands ends each part with a line.
            assert_eq!(text.trim_end_matches('\n'), turn_text(turn), "{message}: {answer:?}");
        }
        assert_eq!(answers.len(), turns.len() - before);
    }
}

/// A question can be answered; an answer that does not fit is refused in words that people can read.
async fn questions_are_answered(framework: Framework) {
    let site = FrameworkServer::start(&[], &[]);
    let answers = framework.send_messages(&site, "approve", &["tea", "maybe", "yes"]).await;
    let runs = site.list_runs("approve").await;
    assert_eq!(runs.len(), answers.len(), "{answers:?}");
    for (answers, run) in answers.iter().zip(&runs) {
        let asks = |at: usize| answers[at]["asks"].as_array().unwrap().last().unwrap().as_str().unwrap();
        assert_eq!(asks(0), "Do you approve of tea?");
        assert_eq!(run["state"], "completed");
        let refusals = site.answer_refusals(run).await;
        assert_eq!(refusals.len(), 1);
        assert!(asks(1).contains(&refusals[0]), "{:?} does not say {refusals:?}", asks(1));
    }
}

/// JSON in the text of a message is the input, with its integers and its optional fields.
async fn json_in_text_is_read(framework: Framework) {
    let site = FrameworkServer::start(&[], &[]);
    framework.send_messages(&site, "ledger", &[r#"{"entries": 2}"#]).await;
    for run in site.list_runs("ledger").await {
        assert_eq!((&run["state"], &run["input"]), (&json!("completed"), &json!({ "entries": 2 })));
    }
    let wallet = r#"{"walletAddress": "0x1", "chainId": 1}"#;
    framework.send_messages(&site, "invest", &[wallet]).await;
    for run in site.list_runs("invest").await {
        let input: Value = serde_json::from_str(wallet).unwrap();
        assert_eq!((&run["state"], &run["input"]), (&json!("rejected"), &input));
    }
}

#[tokio::test]
async fn adk_gets_what_was_said() {
    answers_are_what_was_said(Framework::Adk).await;
}

#[tokio::test]
async fn microsoft_gets_what_was_said() {
    answers_are_what_was_said(Framework::Microsoft).await;
}

#[tokio::test]
async fn strands_gets_what_was_said() {
    answers_are_what_was_said(Framework::Strands).await;
}

/// Proves L6, L14.
#[tokio::test]
async fn adk_answers_a_question() {
    questions_are_answered(Framework::Adk).await;
}

/// Proves L6, L14.
#[tokio::test]
async fn microsoft_answers_a_question() {
    questions_are_answered(Framework::Microsoft).await;
}

#[tokio::test]
async fn adk_sends_json_as_text() {
    json_in_text_is_read(Framework::Adk).await;
}

#[tokio::test]
async fn microsoft_sends_json_as_text() {
    json_in_text_is_read(Framework::Microsoft).await;
}

#[tokio::test]
async fn strands_sends_json_as_text() {
    json_in_text_is_read(Framework::Strands).await;
}

/// ADK requires every address of a card to have the card's origin: gRPC can be left out of it.
#[tokio::test]
async fn adk_takes_the_card_of_a_server_with_grpc() {
    let settings = ("trackway.toml", "[a2a]\ngrpc_in_card = false\n");
    let site = FrameworkServer::start(&[settings], &["--grpc-listen", "127.0.0.1:0"]);
    let answers = Framework::Adk.send_messages(&site, "echo", &["hi"]).await;
    assert_eq!(answers[0][0]["errors"], json!([]), "{answers:?}");
    assert_eq!(answers[0][0]["text"], "hi");
}
