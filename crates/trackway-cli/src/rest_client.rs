//! A client of a server's REST API.

mod artifact_requests;
mod peer_requests;

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use trackway::{
    Secret,
    api::{
        EventPage, ForkRequest, PinnedDefinition, ResumeRequest, ResumeResponse, RunDetail, RunList,
        RunListFilter, RunUpdate, StartRequest,
    },
};
use trackway_domain::{Position, RunId, ValidationError};
use trackway_outgoing::sse::{SseError, SseParser};

use crate::{
    cli_error::{CliError, InvalidInputDetails},
    exit_status::ExitStatus,
};

pub(crate) use artifact_requests::ArtifactDownload;

/// A server on this machine answers immediately or does not run.
/// Limit (CLI): time to connect to a server.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// A stream is never silent for longer than its heartbeat, which is 15 seconds.
/// Limit (CLI): silence of a server's stream.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Answers come with the commit, which takes milliseconds.
/// Limit (CLI): time of a server's answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// Longest event that is read: the largest artifact of a run, and some room.
/// Limit (CLI): one event of a server's stream.
const EVENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A connection to a server. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct RestClient {
    base: Url,
    client: Client,
    key: Option<Secret>,
}

impl RestClient {
    pub(crate) fn new(url: &str, key: Option<Secret>) -> Result<Self, CliError> {
        let bad = |why: &str| {
            CliError::new(format!("{url:?} is not the address of a server: {why}"))
                .with_hint("write for example --server http://127.0.0.1:7420")
                .with_exit_status(ExitStatus::Usage)
        };
        let base = Url::parse(url).map_err(|error| bad(&error.to_string()))?;
        if base.scheme() != "http" || base.cannot_be_a_base() {
            return Err(bad("only http:// is supported"));
        }
        if key.as_ref().is_some_and(|key| !key.expose_secret().bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(CliError::new("the key contains characters that no key can have")
                .with_hint("check --key and TRACKWAY_KEY: one line, without spaces")
                .with_exit_status(ExitStatus::Usage));
        }
        Ok(Self { base, client: build_http_client()?, key })
    }

    /// The address, as the user wrote it.
    pub(crate) fn server_url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The agent at the address that names no agent.
    pub(crate) async fn default_agent_name(&self) -> Result<String, CliError> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend([".well-known", "agent-card.json"]);
        }
        let card: AgentCardName = self.send_and_parse_json(self.client.get(url)).await?;
        Ok(card.name)
    }

    pub(crate) async fn list_runs(&self, filter: &RunListFilter) -> Result<RunList, CliError> {
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        let mut query = vec![("limit", filter.limit.to_string())];
        query.extend(filter.workflow.clone().map(|name| ("workflow", name)));
        query.extend((!states.is_empty()).then(|| ("state", states.join(","))));
        query.extend(filter.session.as_ref().map(|id| ("session", id.to_string())));
        query.extend(filter.before.map(|run| ("before", run.to_string())));
        self.send_and_parse_json(self.build_runs_request(Method::GET, &[], &query)).await
    }

    pub(crate) async fn start_run(&self, request: &StartRequest) -> Result<RunDetail, CliError> {
        self.send_and_parse_json(self.build_runs_request(Method::POST, &[], &[]).json(request)).await
    }

    pub(crate) async fn load_run_detail(&self, run: RunId) -> Result<RunDetail, CliError> {
        self.send_and_parse_json(self.build_runs_request(Method::GET, &[&run.to_string()], &[])).await
    }

    pub(crate) async fn list_run_events(&self, run: RunId, after: Position) -> Result<EventPage, CliError> {
        let query = [("after", after.to_string())];
        self.send_and_parse_json(self.build_runs_request(Method::GET, &[&run.to_string(), "events"], &query))
            .await
    }

    pub(crate) async fn load_pinned_definition(&self, run: RunId) -> Result<Option<String>, CliError> {
        let pinned: PinnedDefinition = self
            .send_and_parse_json(self.build_runs_request(Method::GET, &[&run.to_string(), "definition"], &[]))
            .await?;
        Ok(pinned.definition)
    }

    pub(crate) async fn adopt_run(&self, run: RunId) -> Result<RunDetail, CliError> {
        self.send_and_parse_json(self.build_runs_request(Method::POST, &[&run.to_string(), "adopt"], &[]))
            .await
    }

    pub(crate) async fn cancel_run(&self, run: RunId) -> Result<RunDetail, CliError> {
        self.send_and_parse_json(self.build_runs_request(Method::POST, &[&run.to_string(), "cancel"], &[]))
            .await
    }

    pub(crate) async fn fork_run(&self, run: RunId, request: &ForkRequest) -> Result<RunDetail, CliError> {
        self.send_and_parse_json(
            self.build_runs_request(Method::POST, &[&run.to_string(), "fork"], &[]).json(request),
        )
        .await
    }

    pub(crate) async fn resume_run(
        &self,
        run: RunId,
        request: &ResumeRequest,
    ) -> Result<ResumeResponse, CliError> {
        self.send_and_parse_json(
            self.build_runs_request(Method::POST, &[&run.to_string(), "resume"], &[]).json(request),
        )
        .await
    }

    pub(crate) async fn open_run_update_stream(
        &self,
        run: RunId,
        after: Position,
    ) -> Result<RunUpdateStream, CliError> {
        let query = [("after", after.to_string())];
        let request = self.build_runs_request(Method::GET, &[&run.to_string(), "stream"], &query);
        let response = self.require_success_response(request.send().await).await?;
        let parser = SseParser::new(EVENT_BYTES_MAX);
        Ok(RunUpdateStream { api: self.clone(), response, parser, received: Bytes::new() })
    }

    fn build_runs_request(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> RequestBuilder {
        self.build_request(method, &[&["api", "runs"], path].concat(), query)
    }

    fn build_request(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.client.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key.expose_secret()),
            None => request,
        }
    }

    async fn send_and_parse_json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, CliError> {
        let response = self.require_success_response(request.timeout(ANSWER_PATIENCE).send().await).await?;
        response.json().await.map_err(|error| {
            CliError::new(format!("the answer of {} cannot be read", self.server_url())).with_cause(&error)
        })
    }

    /// The response if it is a success; otherwise the failure.
    async fn require_success_response(&self, sent: reqwest::Result<Response>) -> Result<Response, CliError> {
        let response = sent.map_err(|error| {
            CliError::new(format!("the server at {} cannot be reached", self.server_url()))
                .with_cause(&error.without_url())
                .with_hint("is it running? `trackway serve` starts one")
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.bytes().await.unwrap_or_default();
        match serde_json::from_slice::<ProblemResponse>(&body) {
            Ok(refused) => Err(refused.into()),
            Err(_) => Err(CliError::new(format!("{} answered {status}", self.server_url()))
                .with_hint("is it a Trackway server of this version?")),
        }
    }
}

/// The fields that are read from an agent's card.
#[derive(Debug, Deserialize)]
struct AgentCardName {
    name: String,
}

/// The updates of a run, from the server.
#[derive(Debug)]
pub(crate) struct RunUpdateStream {
    api: RestClient,
    response: Response,
    parser: SseParser,
    /// Bytes that are received but not parsed yet.
    received: Bytes,
}

impl RunUpdateStream {
    /// The next update; `None` when the run has ended. Dropping the future loses nothing.
    pub(crate) async fn next_run_update(&mut self) -> Result<Option<RunUpdate>, CliError> {
        loop {
            while let Some(event) =
                self.parser.next_event(&mut self.received).map_err(sse_error_to_cli_error)?
            {
                let failed = |error| CliError::new("an update cannot be read").with_cause(&error);
                match event.kind.as_str() {
                    "" => return serde_json::from_str(&event.data).map(Some).map_err(failed),
                    "end" if event.data.contains("\"ended\"") => return Ok(None),
                    "end" => return Err(self.update_connection_lost_error()),
                    _ => {}
                }
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.received = chunk,
                Ok(None) => return Err(self.update_connection_lost_error()),
                Err(error) => {
                    return Err(self.update_connection_lost_error().with_cause(&error.without_url()));
                }
            }
        }
    }

    fn update_connection_lost_error(&self) -> CliError {
        CliError::new(format!("the server at {} went away before the run's end", self.api.server_url()))
            .with_hint("the run continues when the server is started again")
    }
}

fn sse_error_to_cli_error(sse_error: SseError) -> CliError {
    match sse_error {
        SseError::TooLarge { .. } => CliError::new("the server sent an update that is too long"),
        SseError::NotUtf8 => CliError::new("an update cannot be read").with_cause(&sse_error),
    }
}

/// A problem (RFC 9457) with the members that our server adds.
#[derive(Debug, Deserialize)]
struct ProblemResponse {
    code: String,
    detail: String,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    errors: Vec<ValidationError>,
    #[serde(default)]
    schema: Value,
    #[serde(default)]
    known: Vec<String>,
}

impl From<ProblemResponse> for CliError {
    fn from(refused: ProblemResponse) -> Self {
        let ProblemResponse { code, detail, hint, errors, schema, known } = refused;
        let failure = match code.as_str() {
            "invalid-input" => Self::invalid_input(detail, InvalidInputDetails { problems: errors, schema }),
            "unknown-workflow" => {
                // The detail quotes the requested name.
                let name = detail.split('"').nth(1).unwrap_or_default().to_owned();
                Self::unknown_workflow(detail, &name, &known)
            }
            "unknown-peer" => {
                let name = detail.split('"').nth(1).unwrap_or_default();
                return Self::unknown_peer(detail.as_str(), name, &known);
            }
            // The server's hint names a header; at the terminal it is an option.
            "unauthenticated" => {
                return Self::new(detail)
                    .with_error_code(&code)
                    .with_hint("give a key with --key or TRACKWAY_KEY; `trackway keys create` makes one");
            }
            _ => Self::new(detail).with_error_code(&code),
        };
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one builder of HTTP clients")]
fn build_http_client() -> Result<Client, CliError> {
    trackway_outgoing::install_tls_provider();
    Client::builder()
        .connect_timeout(CONNECT_PATIENCE)
        .read_timeout(SILENCE_MAX)
        // Most servers are on this machine, where no proxy can reach them.
        .no_proxy()
        .build()
        .map_err(|error| CliError::new("the HTTP client cannot be created").with_cause(&error))
}
