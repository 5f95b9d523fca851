//! A store in a folder, with or without a session in it.

use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use trackway_domain::{AttemptInputs, Caller, DocumentKind, SessionId, Timestamp};
use trackway_mcp::{BundleSigner, KeyRing};
use trackway_ports::Journal;
use trackway_sqlite::{FolderKeys, SqliteJournal};
use trackway_testkit::{GuidedRunBuilder, document_change, inputs_with_notes};

use crate::SessionsReader;

pub(super) struct SessionStore {
    pub(super) folder: TempDir,
    pub(super) journal: Arc<dyn Journal>,
    signer: BundleSigner,
}

impl SessionStore {
    pub(super) async fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
        let keys = Arc::new(FolderKeys::in_folder(folder.path()));
        let signer = KeyRing::open(keys, Timestamp(0)).await.unwrap().bundle_signer();
        Self { folder, journal, signer }
    }

    /// With the session `ticket-7`: a forked run, a finished one, and session notes.
    pub(super) async fn with_session() -> Self {
        let place = Self::empty().await;
        for trail in sample_histories() {
            trail.append_to_journal(&*place.journal).await;
        }
        place
    }

    /// The same, but the branch that was left has also reached its end.
    pub(super) async fn with_finished_session() -> Self {
        let place = Self::empty().await;
        let [forked, finished, notes] = sample_histories();
        for trail in [forked.advance_node("b", "end-of-left"), finished, notes] {
            trail.append_to_journal(&*place.journal).await;
        }
        place
    }

    pub(super) fn sessions(&self) -> SessionsReader {
        SessionsReader::for_local_caller(self.journal.clone())
    }

    pub(super) fn reader_for(&self, caller: Caller) -> SessionsReader {
        SessionsReader::for_access(self.journal.clone(), trackway_domain::Access::own_only(caller))
    }

    pub(super) fn public_key(&self) -> [u8; 32] {
        self.signer.bundle_public_key()
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.signer.sign_bundle_bytes(bytes)
    }

    pub(super) async fn bundle(&self) -> String {
        let sign = |bytes: &[u8]| self.sign(bytes);
        self.sessions().export_bundle(&ticket_session(), self.public_key(), sign).await.unwrap()
    }
}

pub(super) fn ticket_session() -> SessionId {
    SessionId::new("ticket-7").unwrap()
}

pub(super) fn sample_histories() -> [GuidedRunBuilder; 3] {
    let row = |id: u32, text: &str| json!([{ "id": id, "finding": text }]);
    let table = |value| vec![document_change("findings", DocumentKind::Table, Some("/id"), value)];
    let output =
        AttemptInputs { output: Some(json!({ "verdict": "good" })), ..inputs_with_notes("# Review\n\nfine") };
    [
        GuidedRunBuilder::new_guided_run(1, "ticket-7", "review")
            .open_node("a")
            .block_attempt("a")
            .answer_node("a", "b", inputs_with_notes("first way"), table(row(1, "left | behind")))
            .add_checkpoint(Some("b"), "half way")
            .answer_node("a", "c", inputs_with_notes("second way"), table(row(2, "kept")))
            .answer_node("c", "end", output, table(row(2, "kept, and mended")))
            .complete_run(),
        GuidedRunBuilder::new_guided_run(2, "ticket-7", "deploy")
            .open_node("a")
            .advance_node("a", "end")
            .complete_run(),
        GuidedRunBuilder::new_session_notes(3, "ticket-7").add_checkpoint(None, "ask *Ada* first"),
    ]
}
