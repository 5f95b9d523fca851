//! The forms in which answers arrive, the same for every format.
//!
//! A format is a [`FormatScript`]: it writes the events. `ten_shapes!` creates a test of each form for it. The
//! result must be the same for every format.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use trackway_agent::{
    FinishReason, ModelAnswer, ModelAnswerBuilder, ModelEndpoint, ModelError, ModelProvider, ModelRequest,
    TokenUsage, ToolArguments,
    provider::{Delta, HttpModelProvider, open_http_provider},
};
use trackway_testkit::{ScriptLatch, ScriptedModelServer, ScriptedReply};

use crate::sample;

/// The key of every provider here. No error may contain it.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// How one format writes a model's output. Every string is one event with its empty line.
pub(crate) trait FormatScript {
    const KIND: &'static str;
    /// Whether the provider gives ids to calls.
    const IDS: bool = true;
    /// Whether arguments are text inside an event, which may be invalid while the event is valid.
    const ARGUMENTS_ARE_TEXT: bool = true;

    /// Whether a marker after the end says that nothing follows.
    const TERMINATED: bool = true;

    /// The start of an answer of the model `m-1`, and these pieces of text.
    fn begin_with_text(pieces: &[&str]) -> Vec<String>;

    /// After the start: the calls `c1` of `look_up` with `{"q":"ü"}` and `c2` of `book` with `{"n":2}`,
    /// the second after the first. Pieces alternate if the numbering allows it.
    fn two_tool_calls(numbers: IndexStyle) -> Vec<String>;

    /// After the start: the call `c1` of `look_up` with this text as arguments.
    fn tool_call(arguments: &str) -> Vec<String>;

    /// The end: the finish reason, 11 tokens in and 7 out, and the final marker.
    fn end_events(finish: FinishReason) -> Vec<String>;

    /// An end without the final marker, and whether the answer is still complete.
    fn unterminated_end() -> (Vec<String>, bool);

    /// A transient error inside the stream, with the message `out of memory`.
    fn error_event() -> Vec<String>;
}

/// How calls are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexStyle {
    Given,
    AllZero,
    Missing,
}

impl IndexStyle {
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

pub(crate) fn provider_for<W: FormatScript>(server: &ScriptedModelServer) -> HttpModelProvider {
    let endpoint = ModelEndpoint {
        base_url: Some(server.base_url()),
        key: Some(KEY.into()),
        ..ModelEndpoint::new("m-1")
    };
    open_http_provider(W::KIND, &endpoint).unwrap()
}

pub(crate) fn stream_reply(events: impl IntoIterator<Item = String>) -> ScriptedReply {
    events.into_iter().fold(ScriptedReply::event_stream(), ScriptedReply::send_bytes)
}

/// The outcome of an answer: the complete answer, or its part and the error.
pub(crate) type Outcome = Result<ModelAnswer, (ModelAnswer, ModelError)>;

/// Calls a provider and checks its contract: one end, and nothing after it.
pub(crate) async fn collect_answer(provider: &dyn ModelProvider, request: ModelRequest) -> Outcome {
    let mut gather = ModelAnswerBuilder::new();
    let mut deltas = provider.stream_answer(&request);
    while let Some(item) = deltas.next().await {
        match item {
            Ok(Delta::Done) => {
                assert_eq!(deltas.next().await, None, "something behind the end");
                return Ok(gather.build_answer());
            }
            Ok(delta) => gather.push_delta(&delta),
            Err(error) => {
                assert_eq!(deltas.next().await, None, "something behind an error");
                return Err((gather.build_answer(), error));
            }
        }
    }
    panic!("a stream without an end: {gather:?}");
}

pub(crate) async fn answer_for<W: FormatScript>(reply: ScriptedReply) -> Outcome {
    let server = ScriptedModelServer::start().await;
    server.queue_reply(reply);
    collect_answer(&provider_for::<W>(&server), sample::minimal_request()).await
}

/// The HTTP request for `request`.
pub(crate) async fn sent_request<W: FormatScript>(request: ModelRequest) -> trackway_testkit::ModelRequest {
    let server = ScriptedModelServer::start().await;
    server.queue_reply(ScriptedReply::error_body(400, "only listening"));
    let _ = collect_answer(&provider_for::<W>(&server), request).await;
    server.wait_for_requests(1).await
}

pub(crate) async fn letters_are_cut_in_the_middle<W: FormatScript>() {
    let events = [W::begin_with_text(&["Grüße ", "→ 🦀"]), W::end_events(FinishReason::Stop)].concat();
    let answer = answer_for::<W>(stream_reply(events).one_byte_per_chunk()).await.unwrap();
    assert_eq!(answer.text, "Grüße → 🦀");
    assert_eq!(answer.finish, FinishReason::Stop);
    assert_eq!(answer.model.as_deref(), Some("m-1"));
}

pub(crate) async fn calls_alternate<W: FormatScript>() {
    two_calls::<W>(IndexStyle::Given).await;
}

pub(crate) async fn indexes_are_zero_or_missing<W: FormatScript>() {
    two_calls::<W>(IndexStyle::AllZero).await;
    two_calls::<W>(IndexStyle::Missing).await;
}

/// Proves D7: several calls in one answer, each with its own arguments.
async fn two_calls<W: FormatScript>(numbers: IndexStyle) {
    // Some servers report `stop` although there are calls.
    for finish in [FinishReason::Calls, FinishReason::Stop] {
        let events =
            [W::begin_with_text(&["Looking."]), W::two_tool_calls(numbers), W::end_events(finish)].concat();
        let answer = answer_for::<W>(stream_reply(events)).await.unwrap();
        let calls = answer.calls.iter();
        let calls: Vec<_> = calls.map(|call| (call.tool.as_str(), &call.arguments)).collect();
        let first = ToolArguments::Json(json!({"q": "ü"}));
        let second = ToolArguments::Json(json!({"n": 2}));
        assert_eq!(calls, [("look_up", &first), ("book", &second)], "{numbers:?}");
        let ids: Vec<&str> = answer.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, if W::IDS { ["c1", "c2"] } else { ["call_0", "call_1"] });
        assert_eq!((answer.text.as_str(), answer.finish), ("Looking.", FinishReason::Calls));
    }
}

pub(crate) async fn an_error_comes_in_the_middle<W: FormatScript>() {
    let events = [W::begin_with_text(&["Hal"]), W::error_event()].concat();
    let (answer, error) = answer_for::<W>(stream_reply(events)).await.unwrap_err();
    assert_eq!(answer.text, "Hal");
    let ModelError::Failed { reason, retryable: true } = &error else { panic!("{error:?}") };
    assert!(reason.contains("out of memory"), "{reason}");
}

pub(crate) async fn the_connection_is_cut<W: FormatScript>() {
    let (answer, error) =
        answer_for::<W>(stream_reply(W::begin_with_text(&["Hal"])).cut_connection()).await.unwrap_err();
    assert_eq!((answer.text.as_str(), error), ("Hal", ModelError::Truncated));
    // In the middle of an event.
    let mut bytes = W::begin_with_text(&["Hal", "lo"]).concat().into_bytes();
    bytes.truncate(bytes.len() - 6);
    let (answer, error) =
        answer_for::<W>(ScriptedReply::event_stream().send_bytes(bytes).cut_connection()).await.unwrap_err();
    assert_eq!((answer.text.as_str(), error), ("Hal", ModelError::Truncated));
    // Before any text arrived.
    let (_, error) = answer_for::<W>(ScriptedReply::closed_without_status()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
}

/// An answer is complete once its end arrived, however the connection ends.
pub(crate) async fn the_terminator_is_missing<W: FormatScript>() {
    for cut in [false, true] {
        let with_end = |events: Vec<String>| {
            let reply = stream_reply([W::begin_with_text(&["All"]), events].concat());
            if cut { reply.cut_connection() } else { reply }
        };
        let (events, whole) = W::unterminated_end();
        let told = answer_for::<W>(with_end(events)).await;
        match told {
            Ok(answer) => assert_eq!((whole, answer.text.as_str()), (true, "All")),
            Err((_, error)) => assert_eq!((whole, error), (false, ModelError::Truncated)),
        }
        let (_, error) = answer_for::<W>(with_end(Vec::new())).await.unwrap_err();
        assert_eq!(error, ModelError::Truncated, "neither an end nor a terminator");
    }
    if !W::TERMINATED {
        return;
    }
    // The client does not wait for a server that keeps the connection open after its terminator.
    let events = [W::begin_with_text(&["All"]), W::end_events(FinishReason::Stop)].concat();
    assert_eq!(answer_for::<W>(stream_reply(events).keep_open_silently()).await.unwrap().text, "All");
}

pub(crate) async fn usage_comes_last<W: FormatScript>() {
    for finish in [FinishReason::Stop, FinishReason::Length, FinishReason::Filtered] {
        let events = [W::begin_with_text(&["Hallo"]), W::end_events(finish)].concat();
        let answer = answer_for::<W>(stream_reply(events)).await.unwrap();
        let usage =
            answer.usage.map(|TokenUsage { input_tokens, output_tokens, .. }| (input_tokens, output_tokens));
        assert_eq!((usage, answer.finish), (Some((11, 7)), finish));
    }
}

pub(crate) async fn a_busy_server_says_when<W: FormatScript>() {
    for status in [429, 503, 529] {
        let reply = ScriptedReply::error_body(status, "come back").with_header("retry-after", "2");
        let (_, error) = answer_for::<W>(reply).await.unwrap_err();
        let retry_after = Some(Duration::from_secs(2));
        assert_eq!(error, ModelError::Busy { status, reason: "come back".into(), retry_after });
    }
}

pub(crate) async fn arguments_are_not_json<W: FormatScript>() {
    let events =
        [W::begin_with_text(&[]), W::tool_call("{\"q\": nonsense}"), W::end_events(FinishReason::Calls)]
            .concat();
    let told = answer_for::<W>(stream_reply(events)).await;
    if !W::ARGUMENTS_ARE_TEXT {
        let (_, error) = told.unwrap_err();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{error:?}");
        return;
    }
    let answer = told.unwrap();
    let ToolArguments::Broken { text, .. } = &answer.calls[0].arguments else { panic!("{answer:?}") };
    assert_eq!((text.as_str(), answer.calls.len()), ("{\"q\": nonsense}", 1));
}

pub(crate) async fn arguments_are_empty<W: FormatScript>() {
    for arguments in ["", "{}"] {
        let events =
            [W::begin_with_text(&[]), W::tool_call(arguments), W::end_events(FinishReason::Calls)].concat();
        let answer = answer_for::<W>(stream_reply(events)).await.unwrap();
        let calls: Vec<_> = answer.calls.iter().map(|call| &call.arguments).collect();
        assert_eq!(calls, [&ToolArguments::Json(json!({}))], "{arguments:?}");
    }
}

/// Proves D8: a piece is passed on before the next one exists. Then the reader stops.
pub(crate) async fn a_dropped_answer_drops_the_connection<W: FormatScript>() {
    let server = ScriptedModelServer::start().await;
    let latch = ScriptLatch::new();
    server.queue_reply(
        stream_reply(W::begin_with_text(&["Hallo"])).wait_for_latch(&latch).send_data_event("never"),
    );
    let mut deltas = provider_for::<W>(&server).stream_answer(&sample::minimal_request());
    let mut gather = ModelAnswerBuilder::new();
    while gather.answer_text_so_far().is_empty() {
        gather.push_delta(&deltas.next().await.unwrap().unwrap());
    }
    latch.wait_until_reached().await;
    assert_eq!((gather.answer_text_so_far(), server.dropped_connections()), ("Hallo", 0));
    drop(deltas);
    server.wait_for_dropped_connection().await;
    // A request whose caller is gone is also dropped before its answer starts.
    server.queue_reply(ScriptedReply::event_stream().wait_before_status(&ScriptLatch::new()));
    let mut deltas = provider_for::<W>(&server).stream_answer(&sample::minimal_request());
    tokio::select! {
        item = deltas.next() => panic!("{item:?}"),
        _ = server.wait_for_requests(2) => {}
    }
    drop(deltas);
    server.wait_for_dropped_connections(2).await;
}

pub(crate) async fn a_refusal_hides_the_key<W: FormatScript>() {
    let (_, error) =
        answer_for::<W>(ScriptedReply::error_body(401, &format!("bad key {KEY}"))).await.unwrap_err();
    assert_eq!(error, ModelError::Refused { status: 401, reason: "bad key [hidden]".into() });
    assert!(!format!("{error:?}").contains(KEY));
}
