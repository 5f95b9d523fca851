//! Runs that came from elsewhere: agents look at them, and go on once somebody has adopted them.

use std::fs;

use serde_json::{Value, json};

use super::{
    answer::Answer,
    bare::Bare,
    shop::{Shop, three},
};

fn advance(agent: &mut Bare, at: &Answer, notes: &str) -> Answer {
    let pair = json!({ "stateToken": at.state(), "ackToken": at.ack(), "notesMarkdown": notes });
    agent.call("workflow_advance", pair)
}

/// What an agent that has only the session's name sees of its run.
fn found(agent: &mut Bare) -> Answer {
    let items = agent.call("workflow_resume", json!({ "query": "s" })).json["items"].clone();
    agent.call("workflow_advance", json!({ "stateToken": items[0]["stateToken"] }))
}

/// The session `s` of this shop in another one, where tokens of the first are good: as if the session had
/// been removed and imported again.
fn carried(shop: &Shop) -> Shop {
    let (other, file) = (shop.neighbour(), shop.path().join("bundle"));
    fs::create_dir(other.data()).unwrap();
    let keys = "token-keys.json";
    fs::copy(shop.data().join(keys), other.data().join(keys)).unwrap();
    let file = file.to_str().unwrap();
    shop.cli(&["sessions", "export", "s", "--force", "--out", file]).expect(0);
    other.cli(&["sessions", "import", file]).expect(0);
    other.cli(&["sessions", "import", file]).expect(0);
    other
}

/// Issue 11, S-M5: an imported run that an agent drives is not gone on with until somebody adopts it, under
/// way or complete.
#[test]
fn an_imported_guided_run_waits_to_be_adopted() {
    for steps_done in [1, 3] {
        let shop = Shop::with(&[three()]);
        let mut agent = Bare::greeted(&shop);
        let context = json!({ "sessionId": "s" });
        let start =
            agent.call("workflow_start", json!({ "workflowId": "three", "context": context }));
        let mut at = start.clone();
        for _ in 0..steps_done {
            at = advance(&mut agent, &at, "done");
        }
        assert_eq!(at.is_complete(), steps_done == 3);
        drop(agent);

        let other = carried(&shop);
        let run = start.run();
        let args = ["--workflows", other.workflows(), "--checkpoints", "on"];
        let mut agent = Bare::greeted_with(&other, &args);
        assert_eq!(other.json(&["runs", "show", run])["imported"], true);
        let look = found(&mut agent);
        assert_eq!(look.blocked(), "not-adopted", "{look:#?}");
        let notes = json!({ "stateToken": look.state(), "notesMarkdown": "n" });
        assert_eq!(agent.call("workflow_checkpoint", notes.clone()).error(), "not-adopted");
        let refused = advance(&mut agent, &start, "another way");
        assert_eq!(refused.error(), "not-adopted");
        assert!(refused.text.contains(&format!("trackway runs adopt {run}")), "{refused:#?}");
        // What was recorded is told again all the same.
        assert_eq!(advance(&mut agent, &start, "done").step(), "second");
        let migrate = ["runs", "migrate", run, "--workflows", other.workflows()];
        let refused = other.cli(&migrate).expect(1);
        assert!(refused.stderr.contains("docs/errors/not-adopted.md"), "{refused:?}");

        other.cli(&["runs", "adopt", run]).expect(0);
        assert_eq!(other.json(&["runs", "show", run])["imported"], Value::Null);
        let look = found(&mut agent);
        assert_eq!(look.json["blocked"], Value::Null, "{look:#?}");
        assert!(!agent.call("workflow_checkpoint", notes).is_error);
        let other_way = advance(&mut agent, &start, "another way");
        assert_eq!(other_way.json["branch"]["forked"], true, "{other_way:#?}");
    }
}
