//! A front door with an artifact service, callers of two tenants, and programs that return their input.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trackway_a2a::{AddressPolicy, FileFetcher, Options};
use trackway_artifacts::{ArtifactLimits, ArtifactService, ArtifactServiceOptions, NewArtifact};
use trackway_domain::{Access, ArtifactFilename, ArtifactScope, CallChain, Caller, Scopes};
use trackway_ports::{
    AuditRecorder, Authenticator, CALL_TOKEN_HEADER, Credentials, Identity, NoFaultInjection, PortFuture,
    RefusedAction, SharedAuditRecorder, StoreOpener as _, Unauthenticated,
};
use trackway_runtime::{Program, ProgramFuture, ProgramInfo, ProgramKind, Stage, SystemClock};
use trackway_sqlite::SqliteStore;

use crate::test_server::{ScriptedProgram, TestResponse, TestServer, rpc_request};

/// A server with artifacts.
pub(super) struct TestDesk {
    pub(super) server: TestServer,
    pub(super) artifacts: Arc<ArtifactService>,
    pub(super) audit: Arc<AuditNotes>,
}

/// Who was refused what, in the order of the refusals: user, action, object.
#[derive(Debug, Default)]
pub(super) struct AuditNotes(Mutex<Vec<(String, String, String)>>);

impl AuditNotes {
    pub(super) fn take(&self) -> Vec<(String, String, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl AuditRecorder for AuditNotes {
    fn record_refusal(&self, caller: &Caller, refused: RefusedAction<'_>) {
        let noted = (caller.user.to_string(), refused.action.to_owned(), refused.object.to_owned());
        self.0.lock().unwrap().push(noted);
    }

    fn wait_until_recorded(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Callers by their names: `acme/ann`, and `acme/ann/workflow:*` for one with only that scope. A call token
/// is the depth of the chain.
#[derive(Debug)]
struct NamedCallers(SharedAuditRecorder);

impl Authenticator for NamedCallers {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        let mut words = credentials.bearer.unwrap_or_default().splitn(3, '/');
        let (tenant, user) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let scopes = Scopes::new([words.next().unwrap_or("*")]).unwrap();
        let depth = credentials.call_token.map_or(0, |depth| depth.parse().unwrap());
        let identity = Identity::new(Caller::new(tenant, user), scopes)
            .with_audit(self.0.clone())
            .with_call_chain(CallChain::new(depth, Vec::new()).unwrap());
        Box::pin(std::future::ready(Ok(identity)))
    }
}

/// Returns its input.
#[derive(Debug)]
struct InputReturner(ProgramInfo);

impl Program for InputReturner {
    fn info(&self) -> &ProgramInfo {
        &self.0
    }

    fn run(&self, _: Stage, input: Value) -> ProgramFuture {
        Box::pin(std::future::ready(Ok(input)))
    }
}

fn returner(name: &str, kind: ProgramKind, input_schema: Value, output_schema: Value) -> Arc<dyn Program> {
    let info = ScriptedProgram::new(name).info().clone();
    Arc::new(InputReturner(ProgramInfo { kind, input_schema, output_schema, ..info }))
}

/// One name, or rows of names.
pub(super) fn intake_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "seats": { "type": "integer" },
            "rows": { "type": "array", "items": {
                "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } } },
        },
        "anyOf": [{ "required": ["name"] }, { "required": ["rows"] }],
    })
}

impl TestDesk {
    pub(super) async fn open() -> Self {
        Self::open_with_policy(AddressPolicy { allow_loopback: true, ..AddressPolicy::default() }).await
    }

    pub(super) async fn open_with_policy(policy: AddressPolicy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::new(folder.path()).open_store(Arc::new(NoFaultInjection)).await.unwrap();
        let audit = Arc::new(AuditNotes::default());
        let artifacts = Arc::new(ArtifactService::new(ArtifactServiceOptions {
            store: store.artifacts,
            blobs: store.blobs,
            journal: store.journal.clone(),
            clock: Arc::new(SystemClock),
            limits: ArtifactLimits::default(),
            audit: audit.clone(),
        }));
        let options = Options {
            gatekeeper: Some(Arc::new(NamedCallers(audit.clone()))),
            artifacts: Some(artifacts.clone()),
            files: Some(FileFetcher::new(policy)),
            ..Options::default()
        };
        let strict_output = json!({ "type": "object", "required": ["count"] });
        let programs = vec![
            returner("intake", ProgramKind::Workflow, intake_schema(), Value::Null),
            returner("anything", ProgramKind::Workflow, json!({}), Value::Null),
            returner("helper", ProgramKind::Agent, json!({ "description": "Any message." }), Value::Null),
            returner("broken", ProgramKind::Workflow, json!({ "type": "object" }), strict_output),
        ];
        let server = TestServer::on_journal(store.journal, folder, options, programs);
        Self { server, artifacts, audit }
    }

    /// Saves a file for a caller such as `acme/ann`.
    pub(super) async fn save(&self, caller: &str, scope: ArtifactScope, name: &str, content: &str) {
        let (tenant, user) = caller.split_once('/').unwrap();
        let access = Access::own_only(Caller::new(tenant, user));
        let filename = ArtifactFilename::new(name).unwrap();
        self.artifacts.save(&access, NewArtifact::new(filename, scope, content.to_owned())).await.unwrap();
    }

    /// The finished task, or the code and the data of the refusal and its message.
    pub(super) async fn send(
        &self,
        caller: &str,
        agent: &str,
        message: Value,
    ) -> Result<Value, (i64, Value, String)> {
        self.send_at_depth(caller, agent, message, "0").await
    }

    /// The same for a call that this many calls of agents led to.
    pub(super) async fn send_at_depth(
        &self,
        caller: &str,
        agent: &str,
        message: Value,
        depth: &str,
    ) -> Result<Value, (i64, Value, String)> {
        let params = json!({ "message": message, "configuration": { "blocking": true } });
        let bearer = format!("Bearer {caller}");
        let headers = [("authorization", bearer.as_str()), (CALL_TOKEN_HEADER, depth)];
        let request = rpc_request(agent, "message/send", &params, &headers);
        let TestResponse { status, mut body, .. } = self.server.send_for_json(request).await;
        let may_succeed_later = body["error"]["code"] == -32603;
        let expected = if may_succeed_later { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        assert_eq!(status, expected, "{body}");
        match body.get_mut("error") {
            None => Ok(body["result"].take()),
            Some(error) => Err((
                error["code"].as_i64().unwrap(),
                error["data"].take(),
                error["message"].as_str().unwrap().to_owned(),
            )),
        }
    }

    /// Sends a message of Ann's with one artifact reference and one part, and returns the input of the run.
    pub(super) async fn input_from(&self, agent: &str, reference: Value, part: Value) -> Value {
        let message = invocation(&uuid(), &[reference], &[part]);
        let task = self.send("acme/ann", agent, message).await.unwrap();
        assert_eq!(task["status"]["state"], "completed", "{task}");
        task["metadata"]["output"].clone()
    }
}

/// A fresh message id.
pub(super) fn uuid() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("m-{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A message that is invoked with artifacts.
pub(super) fn invocation(id: &str, references: &[Value], parts: &[Value]) -> Value {
    json!({ "kind": "message", "messageId": id, "role": "user", "parts": parts,
        "metadata": { "invoked_with_artifacts": references } })
}

pub(super) fn text_part(text: &str) -> Value {
    json!({ "kind": "text", "text": text })
}

pub(super) fn bytes_part(name: &str, media_type: Option<&str>, content: &[u8]) -> Value {
    let mut file = json!({ "name": name, "bytes": BASE64_STANDARD.encode(content) });
    if let Some(media_type) = media_type {
        file["mimeType"] = json!(media_type);
    }
    json!({ "kind": "file", "file": file })
}

pub(super) fn uri_part(name: &str, uri: &str) -> Value {
    json!({ "kind": "file", "file": { "name": name, "uri": uri } })
}
