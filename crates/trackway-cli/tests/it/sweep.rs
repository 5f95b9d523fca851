//! A sweep of the bundled programs: a crash at every fault point changes nothing.

use std::path::Path;

use serde_json::{Value, json};
use trackway_cli::programs::bundled_server;
use trackway_runtime::ProgramRegistry;
use trackway_testkit::{ScriptedClient, StoreKind, SweepSubject, crash_sweep, seeded_crash_sweep};

fn programs(outside: &Path) -> ProgramRegistry {
    bundled_server(outside).workflow_registry().unwrap()
}

fn subject(workflow: &str, input: Value) -> SweepSubject {
    let answers = |workflow: &str, question: usize| match (workflow, question) {
        ("invest", 0) => vec![
            json!({"walletAddress": "0x1", "amount": -1}),
            json!({"walletAddress": "0x1", "amount": 7.5}),
        ],
        ("invest", 1) => vec![json!({"signature": "signed"})],
        ("approve", 0) => vec![json!({"approved": 1}), json!({"approved": true})],
        ("review", 0) => vec![json!({"confirmed": "maybe"}), json!({"confirmed": true})],
        _ => Vec::new(),
    };
    SweepSubject::new(ScriptedClient::new(workflow, input).with_answers(answers), programs)
}

/// Sweeps a program on both stores.
fn swept(subject: &SweepSubject) {
    crash_sweep(subject, StoreKind::Sqlite);
    crash_sweep(subject, StoreKind::Memory);
    seeded_crash_sweep(subject, StoreKind::Sqlite, 0..10);
}

/// Proves L4, L8, L13, X2.
#[test]
fn echo_survives_a_crash_anywhere() {
    swept(&subject("echo", json!({"text": "hello", "chunks": 3})));
}

/// Proves L5, L6, L8, L9, L13, L14, X2.
#[test]
fn invest_survives_a_crash_anywhere() {
    swept(&subject("invest", json!({"walletAddress": "0x1"})));
}

/// Proves L7, L8, L13, X2.
#[test]
fn an_early_reject_survives_a_crash_anywhere() {
    swept(&subject("invest", json!({"walletAddress": "0x1", "chainId": 1})));
}

/// Proves L6, L8, L13, L14, X2.
#[test]
fn approve_survives_a_crash_anywhere() {
    swept(&subject("approve", json!({"subject": "tea"})));
}

/// Proves L8, L13, L15, X2.
#[test]
fn review_survives_a_crash_anywhere() {
    swept(&subject("review", json!({"subject": "tea", "delayMs": 500})));
}

/// Proves L7, L8, L13, X2.
#[test]
fn a_reject_mid_way_survives_a_crash_anywhere() {
    let no = |_: &str, _: usize| vec![json!({"confirmed": false})];
    swept(&SweepSubject::new(
        ScriptedClient::new("review", json!({"subject": "tea"})).with_answers(no),
        programs,
    ));
}

/// Proves L8, L13, X2.
#[test]
fn ledger_survives_a_crash_anywhere() {
    swept(&subject("ledger", json!({"entries": 3, "delayMs": 10})));
}

/// Proves L8, L13, L17, X2.
#[test]
fn family_survives_a_crash_anywhere() {
    swept(&subject("family", json!({"children": 2})));
}

/// Proves L8, L13, L14, L17, X2.
#[test]
fn a_family_that_asks_survives_a_crash_anywhere() {
    let family = subject("family", json!({"children": 2, "workflow": "review"}));
    crash_sweep(&family, StoreKind::Sqlite);
    seeded_crash_sweep(&family, StoreKind::Memory, 0..20);
}

/// Proves L8, L10, L13, X2.
#[test]
fn fails_survives_a_crash_anywhere() {
    swept(&subject("fails", json!({"message": "no luck"})));
}
