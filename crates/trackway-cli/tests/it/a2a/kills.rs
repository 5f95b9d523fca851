//! A server that is killed again and again under load loses nothing and does nothing twice.

use std::{
    collections::{HashMap, HashSet},
    fs,
};

use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};

use super::support::{
    A2aClient, CrashableServer, Message, StreamEvent, data_message, expected_end, expected_status_message,
    expected_submitted_task, expected_working, normalize_events, text_part,
};

const RUNS: usize = 20;
const ENTRIES: usize = 40;
/// After how many new events the server is killed, round by round: early, late, and in between.
const KILLS: [usize; 8] = [5, 40, 17, 90, 60, 3, 120, 75];

/// One run as its client knows it: acknowledged or not, and every received event.
#[derive(Debug, Clone)]
struct Client {
    message: Message,
    task: Option<Value>,
    seen: Vec<StreamEvent>,
}

impl Client {
    fn is_done(&self) -> bool {
        self.seen.last().is_some_and(|event| event.result["final"] == true)
    }

    fn id(&self) -> &str {
        self.task.as_ref().and_then(|task| task["id"].as_str()).unwrap()
    }

    /// How many entries the events report as done.
    fn entries_told(&self) -> usize {
        self.seen.iter().filter(|event| event.result["status"]["message"].is_object()).count()
    }

    /// Starts the run, or continues after a lost connection, until the end of the run or of the server.
    async fn go_on(mut self, agent: A2aClient, heard: mpsc::UnboundedSender<()>) -> Self {
        if self.task.is_none() {
            let params = json!({ "message": self.message.json() });
            match agent.try_call("message/send", params).await {
                Ok(task) => self.task = Some(task.unwrap()),
                Err(_) => return self,
            }
        }
        let task = self.task.clone().unwrap();
        let after = self.seen.last().map_or(0, |event| event.pos);
        let Ok(mut stream) = agent.try_subscribe(&task, after).await else { return self };
        while let Ok(Some(event)) = stream.try_next().await {
            self.seen.push(event);
            let _ = heard.send(());
        }
        self
    }
}

/// The lines of each run, by entry number and key.
fn ledger(server: &CrashableServer) -> HashMap<String, Vec<(usize, String)>> {
    let mut runs: HashMap<_, Vec<_>> = HashMap::new();
    for line in fs::read_to_string(server.data_path().join("ledger.txt")).unwrap_or_default().lines() {
        let [run, number, key] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("a line: {line:?}") };
        runs.entry(run.to_owned()).or_default().push((number.parse().unwrap(), key.to_owned()));
    }
    runs
}

/// Every entry is present, in order. An entry may appear twice only if it was under way at a kill, and then
/// under the same key.
fn once(lines: &[(usize, String)], under_way: &[usize]) {
    for [one, two] in lines.array_windows() {
        if one.0 == two.0 {
            assert_eq!(one.1, two.1, "entry {} has one key", one.0);
            assert!(under_way.contains(&one.0), "entry {} was recorded, and done again", one.0);
        }
    }
    let mut lines = lines.to_vec();
    lines.dedup();
    let numbers: Vec<_> = lines.iter().map(|line| line.0).collect();
    assert_eq!(numbers, (1..=ENTRIES).collect::<Vec<_>>());
    let keys: HashSet<_> = lines.iter().map(|line| &line.1).collect();
    assert_eq!(keys.len(), ENTRIES, "each entry has a key of its own");
}

/// Proves L8, L10, L13, X2.
#[tokio::test(flavor = "multi_thread")]
async fn heavy_kill_loop() {
    let mut server = CrashableServer::start();
    let input = json!({ "entries": ENTRIES, "delayMs": 5 });
    let fresh = |_| Client { message: data_message(input.clone()), task: None, seen: Vec::new() };
    let mut clients: Vec<Client> = (0..RUNS).map(fresh).collect();
    let mut under_way: HashMap<String, Vec<usize>> = HashMap::new();
    for kill_after in KILLS.into_iter().map(Some).chain([None]) {
        let (heard, mut hearing) = mpsc::unbounded_channel();
        let mut going = JoinSet::new();
        for client in clients.drain(..) {
            going.spawn(client.go_on(server.agent("ledger"), heard.clone()));
        }
        drop(heard);
        let mut written: HashMap<String, Vec<(usize, String)>> = HashMap::new();
        if let Some(count) = kill_after {
            for _ in 0..count {
                hearing.recv().await;
            }
            server.crash_and_inspect(|server| written = ledger(server));
        }
        clients = going.join_all().await;
        for (id, lines) in written {
            // The last line in the file was under way, unless its end was reported before the kill. A client
            // that has not received its task yet has no report of it.
            let client = clients.iter().find(|client| client.task.is_some() && client.id() == id);
            let told = client.map_or(0, Client::entries_told);
            let last = lines.last().map(|line| line.0).filter(|number| *number > told);
            under_way.entry(id).or_default().extend(last);
        }
    }
    let lines = ledger(&server);
    for client in &clients {
        assert!(client.is_done(), "every run comes to its end: {:?}", client.seen.last());
        let mut expected = vec![expected_submitted_task(&client.message), expected_working()];
        let entry =
            |number| expected_status_message(json!([text_part(&format!("Entry {number} of {ENTRIES}"))]));
        expected.extend((1..=ENTRIES).map(entry));
        expected.push(expected_end("completed", None));
        assert_eq!(normalize_events(&client.seen), expected);
        let task = client.task.as_ref().unwrap();
        assert_eq!(server.agent("ledger").replay(task).await, client.seen, "nothing was taken back");
        once(&lines[client.id()], under_way.get(client.id()).map_or(&[], Vec::as_slice));
    }
    let twice: usize = lines.values().map(|lines| lines.len() - ENTRIES).sum();
    eprintln!("{} kills, {RUNS} runs, {twice} lines of steps under way written again", KILLS.len());
    assert_eq!(lines.len(), RUNS, "a start that was sent again after a kill started once");
}
