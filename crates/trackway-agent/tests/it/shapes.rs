//! The forms in which answers arrive, the same for every format.
//!
//! A format is a [`Wire`]: it writes the events. `ten_shapes!` creates a test of each form for it. The
//! result must be the same for every format.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use trackway_agent::{
    Answer, Arguments, Endpoint, Finish, Gather, ModelError, Provider, Request, Usage,
    provider::{Delta, HttpProvider, open},
};
use trackway_testkit::{Latch, ModelServer, Reply};

use crate::sample;

/// The key of every provider here. No error may contain it.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// How one format writes a model's output. Every string is one event with its empty line.
pub(crate) trait Wire {
    const KIND: &'static str;
    /// Whether the provider gives ids to calls.
    const IDS: bool = true;
    /// Whether arguments are text inside an event, which may be invalid while the event is valid.
    const ARGUMENTS_ARE_TEXT: bool = true;

    /// Whether a marker after the end says that nothing follows.
    const TERMINATED: bool = true;

    /// The start of an answer of the model `m-1`, and these pieces of text.
    fn says(pieces: &[&str]) -> Vec<String>;

    /// After the start: the calls `c1` of `look_up` with `{"q":"ü"}` and `c2` of `book` with `{"n":2}`,
    /// the second after the first. Pieces alternate if the numbering allows it.
    fn two_calls(numbers: Numbers) -> Vec<String>;

    /// After the start: the call `c1` of `look_up` with this text as arguments.
    fn call(arguments: &str) -> Vec<String>;

    /// The end: the finish reason, 11 tokens in and 7 out, and the final marker.
    fn ends(finish: Finish) -> Vec<String>;

    /// An end without the final marker, and whether the answer is still complete.
    fn unterminated() -> (Vec<String>, bool);

    /// A transient error inside the stream, with the message `out of memory`.
    fn error() -> Vec<String>;
}

/// How calls are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Given,
    AllZero,
    Missing,
}

impl Numbers {
    pub(crate) fn index(self, given: u64) -> Value {
        match self {
            Self::Given => json!(given),
            Self::AllZero => json!(0),
            Self::Missing => Value::Null,
        }
    }

    /// The pieces of two calls: alternating if their numbers distinguish them.
    pub(crate) fn order<T>(self, first: Vec<T>, second: Vec<T>) -> Vec<T> {
        match self {
            Self::Given => first.into_iter().zip(second).flat_map(|(a, b)| [a, b]).collect(),
            Self::AllZero | Self::Missing => first.into_iter().chain(second).collect(),
        }
    }
}

/// Creates the tests of the forms for a format.
macro_rules! ten_shapes {
    ($wire:ty) => {
        crate::shapes::ten_shapes!(
            $wire:
            letters_are_cut_in_the_middle,
            calls_alternate,
            indexes_are_zero_or_missing,
            an_error_comes_in_the_middle,
            the_connection_is_cut,
            the_terminator_is_missing,
            usage_comes_last,
            a_busy_server_says_when,
            arguments_are_not_json,
            arguments_are_empty,
            a_dropped_answer_drops_the_connection,
            a_refusal_hides_the_key,
        );
    };
    ($wire:ty: $($shape:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $shape() {
                crate::shapes::$shape::<$wire>().await;
            }
        )*
    };
}
pub(crate) use ten_shapes;

pub(crate) fn provider<W: Wire>(server: &ModelServer) -> HttpProvider {
    let endpoint = Endpoint {
        base_url: Some(server.base_url()),
        key: Some(KEY.into()),
        ..Endpoint::new("m-1")
    };
    open(W::KIND, &endpoint).unwrap()
}

pub(crate) fn stream(events: impl IntoIterator<Item = String>) -> Reply {
    events.into_iter().fold(Reply::stream(), Reply::send)
}

/// The outcome of an answer: the complete answer, or its part and the error.
pub(crate) type Outcome = Result<Answer, (Answer, ModelError)>;

/// Calls a provider and checks its contract: one end, and nothing after it.
pub(crate) async fn ask(provider: &dyn Provider, request: Request) -> Outcome {
    let mut gather = Gather::new();
    let mut deltas = provider.ask(&request);
    while let Some(item) = deltas.next().await {
        match item {
            Ok(Delta::Done) => {
                assert_eq!(deltas.next().await, None, "something behind the end");
                return Ok(gather.finish());
            }
            Ok(delta) => gather.push(&delta),
            Err(error) => {
                assert_eq!(deltas.next().await, None, "something behind an error");
                return Err((gather.finish(), error));
            }
        }
    }
    panic!("a stream without an end: {gather:?}");
}

pub(crate) async fn outcome<W: Wire>(reply: Reply) -> Outcome {
    let server = ModelServer::start().await;
    server.queue(reply);
    ask(&provider::<W>(&server), sample::question()).await
}

/// The HTTP request for `request`.
pub(crate) async fn asked<W: Wire>(request: Request) -> trackway_testkit::Asked {
    let server = ModelServer::start().await;
    server.queue(Reply::refusal(400, "only listening"));
    let _ = ask(&provider::<W>(&server), request).await;
    server.until_asked(1).await
}

pub(crate) async fn letters_are_cut_in_the_middle<W: Wire>() {
    let events = [W::says(&["Grüße ", "→ 🦀"]), W::ends(Finish::Stop)].concat();
    let answer = outcome::<W>(stream(events).bytewise()).await.unwrap();
    assert_eq!(answer.text, "Grüße → 🦀");
    assert_eq!(answer.finish, Finish::Stop);
    assert_eq!(answer.model.as_deref(), Some("m-1"));
}

pub(crate) async fn calls_alternate<W: Wire>() {
    two_calls::<W>(Numbers::Given).await;
}

pub(crate) async fn indexes_are_zero_or_missing<W: Wire>() {
    two_calls::<W>(Numbers::AllZero).await;
    two_calls::<W>(Numbers::Missing).await;
}

/// Proves D7: several calls in one answer, each with its own arguments.
async fn two_calls<W: Wire>(numbers: Numbers) {
    // Some servers report `stop` although there are calls.
    for finish in [Finish::Calls, Finish::Stop] {
        let events = [W::says(&["Looking."]), W::two_calls(numbers), W::ends(finish)].concat();
        let answer = outcome::<W>(stream(events)).await.unwrap();
        let calls = answer.calls.iter();
        let calls: Vec<_> = calls.map(|call| (call.tool.as_str(), &call.arguments)).collect();
        let first = Arguments::Json(json!({"q": "ü"}));
        let second = Arguments::Json(json!({"n": 2}));
        assert_eq!(calls, [("look_up", &first), ("book", &second)], "{numbers:?}");
        let ids: Vec<&str> = answer.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, if W::IDS { ["c1", "c2"] } else { ["call_0", "call_1"] });
        assert_eq!((answer.text.as_str(), answer.finish), ("Looking.", Finish::Calls));
    }
}

pub(crate) async fn an_error_comes_in_the_middle<W: Wire>() {
    let events = [W::says(&["Hal"]), W::error()].concat();
    let (answer, error) = outcome::<W>(stream(events)).await.unwrap_err();
    assert_eq!(answer.text, "Hal");
    let ModelError::Failed { reason, retryable: true } = &error else { panic!("{error:?}") };
    assert!(reason.contains("out of memory"), "{reason}");
}

pub(crate) async fn the_connection_is_cut<W: Wire>() {
    let (answer, error) = outcome::<W>(stream(W::says(&["Hal"])).cut()).await.unwrap_err();
    assert_eq!((answer.text.as_str(), error), ("Hal", ModelError::Truncated));
    // In the middle of an event.
    let mut bytes = W::says(&["Hal", "lo"]).concat().into_bytes();
    bytes.truncate(bytes.len() - 6);
    let (answer, error) = outcome::<W>(Reply::stream().send(bytes).cut()).await.unwrap_err();
    assert_eq!((answer.text.as_str(), error), ("Hal", ModelError::Truncated));
    // Before any text arrived.
    let (_, error) = outcome::<W>(Reply::hang()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
}

/// An answer is complete once its end arrived, however the connection ends.
pub(crate) async fn the_terminator_is_missing<W: Wire>() {
    for cut in [false, true] {
        let with_end = |events: Vec<String>| {
            let reply = stream([W::says(&["All"]), events].concat());
            if cut { reply.cut() } else { reply }
        };
        let (events, whole) = W::unterminated();
        let told = outcome::<W>(with_end(events)).await;
        match told {
            Ok(answer) => assert_eq!((whole, answer.text.as_str()), (true, "All")),
            Err((_, error)) => assert_eq!((whole, error), (false, ModelError::Truncated)),
        }
        let (_, error) = outcome::<W>(with_end(Vec::new())).await.unwrap_err();
        assert_eq!(error, ModelError::Truncated, "neither an end nor a terminator");
    }
    if !W::TERMINATED {
        return;
    }
    // The client does not wait for a server that keeps the connection open after its terminator.
    let events = [W::says(&["All"]), W::ends(Finish::Stop)].concat();
    assert_eq!(outcome::<W>(stream(events).stay()).await.unwrap().text, "All");
}

pub(crate) async fn usage_comes_last<W: Wire>() {
    for finish in [Finish::Stop, Finish::Length, Finish::Filtered] {
        let events = [W::says(&["Hallo"]), W::ends(finish)].concat();
        let answer = outcome::<W>(stream(events)).await.unwrap();
        let usage = answer
            .usage
            .map(|Usage { input_tokens, output_tokens, .. }| (input_tokens, output_tokens));
        assert_eq!((usage, answer.finish), (Some((11, 7)), finish));
    }
}

pub(crate) async fn a_busy_server_says_when<W: Wire>() {
    for status in [429, 503, 529] {
        let reply = Reply::refusal(status, "come back").header("retry-after", "2");
        let (_, error) = outcome::<W>(reply).await.unwrap_err();
        let retry_after = Some(Duration::from_secs(2));
        assert_eq!(error, ModelError::Busy { status, reason: "come back".into(), retry_after });
    }
}

pub(crate) async fn arguments_are_not_json<W: Wire>() {
    let events = [W::says(&[]), W::call("{\"q\": nonsense}"), W::ends(Finish::Calls)].concat();
    let told = outcome::<W>(stream(events)).await;
    if !W::ARGUMENTS_ARE_TEXT {
        let (_, error) = told.unwrap_err();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{error:?}");
        return;
    }
    let answer = told.unwrap();
    let Arguments::Broken { text, .. } = &answer.calls[0].arguments else { panic!("{answer:?}") };
    assert_eq!((text.as_str(), answer.calls.len()), ("{\"q\": nonsense}", 1));
}

pub(crate) async fn arguments_are_empty<W: Wire>() {
    for arguments in ["", "{}"] {
        let events = [W::says(&[]), W::call(arguments), W::ends(Finish::Calls)].concat();
        let answer = outcome::<W>(stream(events)).await.unwrap();
        let calls: Vec<_> = answer.calls.iter().map(|call| &call.arguments).collect();
        assert_eq!(calls, [&Arguments::Json(json!({}))], "{arguments:?}");
    }
}

/// Proves D8: a piece is passed on before the next one exists. Then the reader stops.
pub(crate) async fn a_dropped_answer_drops_the_connection<W: Wire>() {
    let server = ModelServer::start().await;
    let latch = Latch::new();
    server.queue(stream(W::says(&["Hallo"])).wait(&latch).data("never"));
    let mut deltas = provider::<W>(&server).ask(&sample::question());
    let mut gather = Gather::new();
    while gather.text().is_empty() {
        gather.push(&deltas.next().await.unwrap().unwrap());
    }
    latch.reached().await;
    assert_eq!((gather.text(), server.drops()), ("Hallo", 0));
    drop(deltas);
    server.dropped().await;
    // A request whose caller is gone is also dropped before its answer starts.
    server.queue(Reply::stream().wait_first(&Latch::new()));
    let mut deltas = provider::<W>(&server).ask(&sample::question());
    tokio::select! {
        item = deltas.next() => panic!("{item:?}"),
        _ = server.until_asked(2) => {}
    }
    drop(deltas);
    server.until_drops(2).await;
}

pub(crate) async fn a_refusal_hides_the_key<W: Wire>() {
    let (_, error) =
        outcome::<W>(Reply::refusal(401, &format!("bad key {KEY}"))).await.unwrap_err();
    assert_eq!(error, ModelError::Refused { status: 401, reason: "bad key [hidden]".into() });
    assert!(!format!("{error:?}").contains(KEY));
}
