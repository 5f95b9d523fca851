//! A store in a folder, with or without a session in it.

use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use trackway_domain::{Caller, DocumentKind, Inputs, SessionId, Timestamp};
use trackway_mcp::{BundleSigner, KeyRing};
use trackway_ports::Journal;
use trackway_sqlite::SqliteJournal;
use trackway_testkit::{Trail, document, noted};

use crate::SessionsReader;

pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) journal: Arc<dyn Journal>,
}

impl Place {
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
        Self { folder, journal }
    }

    /// With the session `ticket-7`: a forked run, a finished one, and notes of its own.
    pub(super) async fn with_session() -> Self {
        let place = Self::empty();
        for trail in trails() {
            trail.write(&*place.journal).await;
        }
        place
    }

    /// The same, where the branch that was left has come to its end too.
    pub(super) async fn with_finished_session() -> Self {
        let place = Self::empty();
        let [forked, finished, notes] = trails();
        for trail in [forked.advance("b", "end-of-left"), finished, notes] {
            trail.write(&*place.journal).await;
        }
        place
    }

    pub(super) fn sessions(&self) -> SessionsReader {
        SessionsReader::local(self.journal.clone())
    }

    pub(super) fn of(&self, caller: Caller) -> SessionsReader {
        SessionsReader::of(self.journal.clone(), trackway_domain::Access::own(caller))
    }

    fn signer(&self) -> BundleSigner {
        KeyRing::open(self.folder.path(), Timestamp(0)).unwrap().bundle_signer()
    }

    pub(super) fn public_key(&self) -> [u8; 32] {
        self.signer().public_key()
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.signer().sign(bytes)
    }

    pub(super) async fn bundle(&self) -> String {
        let sign = |bytes: &[u8]| self.sign(bytes);
        self.sessions().bundle(&ticket(), self.public_key(), sign).await.unwrap()
    }
}

pub(super) fn ticket() -> SessionId {
    SessionId::new("ticket-7").unwrap()
}

pub(super) fn trails() -> [Trail; 3] {
    let row = |id: u32, text: &str| json!([{ "id": id, "finding": text }]);
    let table = |value| vec![document("findings", DocumentKind::Table, Some("/id"), value)];
    let output = Inputs { output: Some(json!({ "verdict": "good" })), ..noted("# Review\n\nfine") };
    [
        Trail::guided(1, "ticket-7", "review")
            .open("a")
            .blocked("a")
            .answer("a", "b", noted("first way"), table(row(1, "left | behind")))
            .checkpoint(Some("b"), "half way")
            .answer("a", "c", noted("second way"), table(row(2, "kept")))
            .answer("c", "end", output, table(row(2, "kept, and mended")))
            .completed(),
        Trail::guided(2, "ticket-7", "deploy").open("a").advance("a", "end").completed(),
        Trail::session_notes(3, "ticket-7").checkpoint(None, "ask *Ada* first"),
    ]
}
