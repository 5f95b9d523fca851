//! A client of a server's REST API.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use trackway::{
    Secret,
    api::{
        EventPage, ForkRequest, ListFilter, PinnedDefinition, ResumeRequest, Resumed, RunDetail,
        RunList, RunUpdate, StartRequest,
    },
};
use trackway_domain::{Pos, Problem, RunId};
use trackway_outgoing::sse::{BadStream, Parser};

use crate::{
    exit::Exit,
    failure::{Failure, Invalid},
};

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
pub(crate) struct Api {
    base: Url,
    client: Client,
    key: Option<Secret>,
}

impl Api {
    pub(crate) fn new(url: &str, key: Option<Secret>) -> Result<Self, Failure> {
        let bad = |why: &str| {
            Failure::new(format!("{url:?} is not the address of a server: {why}"))
                .hint("write for example --server http://127.0.0.1:7420")
                .exit(Exit::Usage)
        };
        let base = Url::parse(url).map_err(|error| bad(&error.to_string()))?;
        if base.scheme() != "http" || base.cannot_be_a_base() {
            return Err(bad("only http:// is supported"));
        }
        if key.as_ref().is_some_and(|key| !key.expose().bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(Failure::new("the key contains characters that no key can have")
                .hint("check --key and TRACKWAY_KEY: one line, without spaces")
                .exit(Exit::Usage));
        }
        Ok(Self { base, client: client()?, key })
    }

    /// The address, as the user wrote it.
    pub(crate) fn url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The agent at the address that names no agent.
    pub(crate) async fn default_agent(&self) -> Result<String, Failure> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend([".well-known", "agent-card.json"]);
        }
        let card: Card = self.ask(self.client.get(url)).await?;
        Ok(card.name)
    }

    pub(crate) async fn list(&self, filter: &ListFilter) -> Result<RunList, Failure> {
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        let mut query = vec![("limit", filter.limit.to_string())];
        query.extend(filter.workflow.clone().map(|name| ("workflow", name)));
        query.extend((!states.is_empty()).then(|| ("state", states.join(","))));
        query.extend(filter.session.as_ref().map(|id| ("session", id.to_string())));
        query.extend(filter.before.map(|run| ("before", run.to_string())));
        self.ask(self.request(Method::GET, &[], &query)).await
    }

    pub(crate) async fn start(&self, request: &StartRequest) -> Result<RunDetail, Failure> {
        self.ask(self.request(Method::POST, &[], &[]).json(request)).await
    }

    pub(crate) async fn detail(&self, run: RunId) -> Result<RunDetail, Failure> {
        self.ask(self.request(Method::GET, &[&run.to_string()], &[])).await
    }

    pub(crate) async fn events(&self, run: RunId, after: Pos) -> Result<EventPage, Failure> {
        let query = [("after", after.to_string())];
        self.ask(self.request(Method::GET, &[&run.to_string(), "events"], &query)).await
    }

    pub(crate) async fn definition(&self, run: RunId) -> Result<Option<String>, Failure> {
        let pinned: PinnedDefinition =
            self.ask(self.request(Method::GET, &[&run.to_string(), "definition"], &[])).await?;
        Ok(pinned.definition)
    }

    pub(crate) async fn adopt(&self, run: RunId) -> Result<RunDetail, Failure> {
        self.ask(self.request(Method::POST, &[&run.to_string(), "adopt"], &[])).await
    }

    pub(crate) async fn cancel(&self, run: RunId) -> Result<RunDetail, Failure> {
        self.ask(self.request(Method::POST, &[&run.to_string(), "cancel"], &[])).await
    }

    pub(crate) async fn fork(
        &self,
        run: RunId,
        request: &ForkRequest,
    ) -> Result<RunDetail, Failure> {
        self.ask(self.request(Method::POST, &[&run.to_string(), "fork"], &[]).json(request)).await
    }

    pub(crate) async fn resume(
        &self,
        run: RunId,
        request: &ResumeRequest,
    ) -> Result<Resumed, Failure> {
        self.ask(self.request(Method::POST, &[&run.to_string(), "resume"], &[]).json(request)).await
    }

    pub(crate) async fn updates(&self, run: RunId, after: Pos) -> Result<Stream, Failure> {
        let query = [("after", after.to_string())];
        let request = self.request(Method::GET, &[&run.to_string(), "stream"], &query);
        let response = self.accepted(request.send().await).await?;
        let parser = Parser::new(EVENT_BYTES_MAX);
        Ok(Stream { api: self.clone(), response, parser, received: Bytes::new() })
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "runs"]).extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.client.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        }
    }

    async fn ask<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let response = self.accepted(request.timeout(ANSWER_PATIENCE).send().await).await?;
        response.json().await.map_err(|error| {
            Failure::new(format!("the answer of {} cannot be read", self.url())).cause(&error)
        })
    }

    /// The response if it is a success; otherwise the failure.
    async fn accepted(&self, sent: reqwest::Result<Response>) -> Result<Response, Failure> {
        let response = sent.map_err(|error| {
            Failure::new(format!("the server at {} cannot be reached", self.url()))
                .cause(&error.without_url())
                .hint("is it running? `trackway serve` starts one")
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.bytes().await.unwrap_or_default();
        match serde_json::from_slice::<Refused>(&body) {
            Ok(refused) => Err(refused.into()),
            Err(_) => Err(Failure::new(format!("{} answered {status}", self.url()))
                .hint("is it a Trackway server of this version?")),
        }
    }
}

/// The fields that are read from an agent's card.
#[derive(Debug, Deserialize)]
struct Card {
    name: String,
}

/// The updates of a run, from the server.
#[derive(Debug)]
pub(crate) struct Stream {
    api: Api,
    response: Response,
    parser: Parser,
    /// Bytes that are received but not parsed yet.
    received: Bytes,
}

impl Stream {
    /// The next update; `None` when the run has ended. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<RunUpdate>, Failure> {
        loop {
            while let Some(event) = self.parser.next(&mut self.received).map_err(unreadable)? {
                let failed = |error| Failure::new("an update cannot be read").cause(&error);
                match event.kind.as_str() {
                    "" => return serde_json::from_str(&event.data).map(Some).map_err(failed),
                    "end" if event.data.contains("\"ended\"") => return Ok(None),
                    "end" => return Err(self.gone()),
                    _ => {}
                }
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.received = chunk,
                Ok(None) => return Err(self.gone()),
                Err(error) => return Err(self.gone().cause(&error.without_url())),
            }
        }
    }

    fn gone(&self) -> Failure {
        Failure::new(format!("the server at {} went away before the run's end", self.api.url()))
            .hint("the run continues when the server is started again")
    }
}

fn unreadable(bad: BadStream) -> Failure {
    match bad {
        BadStream::TooLarge { .. } => Failure::new("the server sent an update that is too long"),
        BadStream::NotUtf8 => Failure::new("an update cannot be read").cause(&bad),
    }
}

/// A problem (RFC 9457) with the members that our server adds.
#[derive(Debug, Deserialize)]
struct Refused {
    code: String,
    detail: String,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    errors: Vec<Problem>,
    #[serde(default)]
    schema: Value,
    #[serde(default)]
    known: Vec<String>,
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let Refused { code, detail, hint, errors, schema, known } = refused;
        let failure = match code.as_str() {
            "invalid-input" => Self::invalid(detail, Invalid { problems: errors, schema }),
            "unknown-workflow" => {
                // The detail quotes the requested name.
                let name = detail.split('"').nth(1).unwrap_or_default().to_owned();
                Self::unknown_workflow(detail, &name, &known)
            }
            // The server's hint names a header; at the terminal it is an option.
            "unauthenticated" => {
                return Self::new(detail).code(&code).hint(
                    "give a key with --key or TRACKWAY_KEY; `trackway keys create` makes one",
                );
            }
            _ => Self::new(detail).code(&code),
        };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one builder of HTTP clients")]
fn client() -> Result<Client, Failure> {
    trackway_outgoing::install_tls();
    Client::builder()
        .connect_timeout(CONNECT_PATIENCE)
        .read_timeout(SILENCE_MAX)
        // Most servers are on this machine, where no proxy can reach them.
        .no_proxy()
        .build()
        .map_err(|error| Failure::new("the HTTP client cannot be created").cause(&error))
}
