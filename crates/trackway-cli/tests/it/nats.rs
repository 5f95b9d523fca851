//! Real processes that find and call each other over a real NATS server.

mod caller_node;
#[path = "../../../trackway-nats/tests/it/nats_server.rs"]
pub(crate) mod nats_server;

use serde_json::{Value, json};
use trackway_a2a_client::{AddressedMessage, MessageId, Part, SendOptions, SendReply, Task, TaskState};

use self::{caller_node::CallerNode, nats_server::NatsServer};
use crate::{
    a2a::support::with_test_timeout,
    support::{ServerUnderTest, TestFolder, trackway_command},
};

/// How often a process dies during one call.
const KILLS: u32 = 3;

fn start_node(folder: &TestFolder, nats: &NatsServer) -> ServerUnderTest {
    ServerUnderTest::start_with_env(&folder.data_path(), &[("TRACKWAY_NATS", &nats.url)])
}

/// Asks until the peers of a node are as they should be.
async fn wait_for_peer(node: &ServerUnderTest, name: &str, is_there: bool) {
    let reached = async {
        loop {
            let (status, peers) = node.get("/api/peers?limit=100").await;
            let items = peers["items"].as_array().unwrap_or_else(|| panic!("{status}: {peers}"));
            if items.iter().any(|peer| peer["name"] == name && peer["health"] == "up") == is_there {
                return;
            }
        }
    };
    with_test_timeout(name, reached).await;
}

async fn wait_for_readiness(node: &ServerUnderTest, expected: u16) -> Value {
    let reached = async {
        loop {
            let (status, said) = node.get("/readyz").await;
            if status == expected {
                return said;
            }
        }
    };
    with_test_timeout("readiness", reached).await
}

fn message(id: &str, data: Value, task: Option<&Task>) -> AddressedMessage {
    let mut message = AddressedMessage::from_user(MessageId::new(id).unwrap(), vec![Part::data(data)]);
    message.task = task.map(|task| task.id.clone());
    message
}

fn task_of(reply: SendReply) -> Task {
    match reply {
        SendReply::Task(task) => task,
        SendReply::Message(message) => panic!("{message:?}"),
    }
}

/// Proves X6: peers come and go with their processes; the server serves while NATS is away, and says so.
#[tokio::test]
async fn peers_come_and_go_and_the_server_serves_without_nats() {
    let mut nats = NatsServer::start().await;
    nats.kill();
    let (here, there) = (TestFolder::new(), TestFolder::new());
    let node = start_node(&here, &nats);
    let said = wait_for_readiness(&node, 503).await;
    assert_eq!(said["failing"], json!(["nats"]), "{said}");
    let run = node.start_run("echo", json!({ "text": "hello" })).await;
    node.wait_for_end(&run).await;
    nats.start_again().await;
    wait_for_readiness(&node, 200).await;
    let mut other = start_node(&there, &nats);
    wait_for_peer(&node, "approve", true).await;
    wait_for_peer(&other, "approve", true).await;
    assert_eq!(other.terminate(), 0);
    wait_for_peer(&node, "approve", false).await;
}

/// Proves X2 and X6: a process is killed three times during one call; there is one task and one result.
#[tokio::test]
async fn a_process_that_is_killed_three_times_has_one_task_and_one_result() {
    let nats = NatsServer::start().await;
    let folder = TestFolder::new();
    let mut node = start_node(&folder, &nats);
    let caller = CallerNode::start(&nats).await;
    let client = caller.client_of("approve").await;
    let question = message("m-1", json!({ "subject": "tea" }), None);
    let asked = task_of(client.send_message(&question, &SendOptions::default()).await.unwrap());
    assert_eq!(asked.status.state, TaskState::InputRequired);
    for _ in 0..KILLS {
        node.kill();
        node = start_node(&folder, &nats);
        let read = client.get_task(&asked.id, None).await.unwrap();
        assert_eq!(read.status.state, TaskState::InputRequired, "the same task");
    }
    let again = task_of(client.send_message(&question, &SendOptions::default()).await.unwrap());
    assert_eq!(again.id, asked.id, "the message is recognised");
    // The answer is given while nobody is there.
    node.kill();
    let answer = message("m-2", json!({ "approved": true }), Some(&asked));
    let sent = {
        let client = client.clone();
        tokio::spawn(async move { client.send_message(&answer, &SendOptions::default()).await })
    };
    let node = start_node(&folder, &nats);
    let done = task_of(with_test_timeout("the result", sent).await.unwrap().unwrap());
    assert_eq!((done.id, done.status.state), (asked.id, TaskState::Completed));
    let (_, runs) = node.get("/api/runs?workflow=approve").await;
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(1), "{runs}");
    caller.stop().await;
}

#[test]
fn an_address_that_cannot_work_is_a_mistake_of_the_command() {
    for (url, expected) in [
        ("http://127.0.0.1", "nats:// or tls://"),
        ("nats://ann:hush@nats.example", "not on this machine"),
        ("", "nats:// or tls://"),
    ] {
        let folder = TestFolder::new();
        let said = trackway_command(&["serve", "--listen", "127.0.0.1:0", "--nats", url])
            .env("TRACKWAY_DATA", folder.data_path())
            .run_to_end("");
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(expected) && !said.stderr.contains("hush"), "{said:?}");
    }
}
