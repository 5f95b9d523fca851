//! Streams whose connection is lost: resumed without gap or repetition, or ended for a reason.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use trackway_a2a_client::{
    AgentRefusalKind, ClientError, Options, ProtocolVersion, ResendPolicy, SendOptions, TaskUpdate,
};

use super::{
    agent_messages::{BOTH, artifact, bare_task, message, task, update},
    options, read_all,
    scripted_agent::{RecordedRequest, ScriptedAgent, ScriptedStep, StreamEnd, encode_event},
    summarize, user_message,
};

/// Streams a message to an agent with that script.
async fn stream(
    generation: ProtocolVersion,
    steps: impl IntoIterator<Item = ScriptedStep>,
    options: Options,
) -> (Vec<String>, Option<ClientError>, Vec<RecordedRequest>) {
    let agent = ScriptedAgent::new(steps).await;
    let client = agent.client(generation, options);
    let mut updates =
        client.stream_message(&user_message("m-1", "hi"), &SendOptions::default()).await.unwrap();
    let (seen, error) = read_all(&mut updates).await;
    (summarize(&seen), error, agent.recorded_requests())
}

fn full_stream(generation: ProtocolVersion) -> Vec<Value> {
    vec![
        task(generation, "submitted", 1, &[]),
        update(generation, "working", 2),
        artifact(generation, "a"),
        update(generation, "completed", 3),
    ]
}

const WHOLE: [&str; 4] = ["task:submitted", "working", "+a", "completed!"];

#[tokio::test]
async fn an_agent_with_positions_goes_on_where_the_connection_broke() {
    for generation in BOTH {
        let items = full_stream(generation);
        for (cut, end) in
            [(1, StreamEnd::Cut), (2, StreamEnd::Cut), (3, StreamEnd::Cut), (1, StreamEnd::Proper)]
        {
            let steps = [
                ScriptedStep::numbered_events(10, &items[..cut], end),
                ScriptedStep::numbered_events(10 + cut as u64, &items[cut..], StreamEnd::Proper),
            ];
            let (seen, error, asked) = stream(generation, steps, options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, WHOLE, "cut after {cut}");
            let method = match generation {
                ProtocolVersion::V03 => "tasks/resubscribe",
                ProtocolVersion::V1 => "SubscribeToTask",
            };
            assert_eq!((asked[1].method(), &asked[1].body["params"]["id"]), (method, &json!("t-1")));
            let last = (9 + cut).to_string();
            assert_eq!(asked[1].header("last-event-id"), Some(last.as_str()));
        }
    }
}

#[tokio::test]
async fn partial_event_is_requested_again() {
    for generation in BOTH {
        let items = full_stream(generation);
        let bytes: Vec<u8> = (1..).zip(&items).flat_map(|(id, item)| encode_event(Some(id), item)).collect();
        let first = encode_event(Some(1), &items[0]).len();
        // Cut inside the second event, at many positions; its id does not count yet.
        let second = encode_event(Some(2), &items[1]).len();
        for cut in (first..first + second).step_by(17) {
            let steps = [
                ScriptedStep::Stream(vec![bytes[..cut].to_vec()], StreamEnd::Cut),
                ScriptedStep::numbered_events(2, &items[1..], StreamEnd::Proper),
            ];
            let (seen, error, asked) = stream(generation, steps, options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, WHOLE, "cut at byte {cut}");
            assert_eq!(asked[1].header("last-event-id"), Some("1"));
        }
    }
}

#[tokio::test]
async fn an_agent_without_positions_shows_the_task_and_nothing_twice() {
    for generation in BOTH {
        let items = full_stream(generation);
        // Nothing happened in the meantime: neither the Task nor the update that led to it is new.
        let again = [task(generation, "working", 2, &["a"]), update(generation, "working", 2)];
        let rest: Vec<Value> = again.into_iter().chain([update(generation, "completed", 3)]).collect();
        let steps = [
            ScriptedStep::events(&items[..3], StreamEnd::Cut),
            ScriptedStep::events(&rest, StreamEnd::Proper),
        ];
        let (seen, error, asked) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, WHOLE);
        assert_eq!(asked[1].header("last-event-id"), None);
        // An artifact arrived in the meantime: the Task contains it.
        let rest = [task(generation, "working", 2, &["a"]), update(generation, "completed", 3)];
        let steps = [
            ScriptedStep::events(&items[..2], StreamEnd::Cut),
            ScriptedStep::events(&rest, StreamEnd::Proper),
        ];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["task:submitted", "working", "task:working", "completed!"]);
    }
}

#[tokio::test]
async fn repeated_last_event_is_returned_once() {
    let generation = ProtocolVersion::V1;
    let items = full_stream(generation);
    let steps = [
        ScriptedStep::numbered_events(1, &items[..3], StreamEnd::Cut),
        ScriptedStep::numbered_events(3, &items[2..], StreamEnd::Proper),
    ];
    let (seen, error, _) = stream(generation, steps, options()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
    // An agent that counts from the start on each connection repeats nothing.
    let rest = [task(generation, "working", 9, &["a"]), update(generation, "completed", 10)];
    let steps = [
        ScriptedStep::numbered_events(1, &items[..1], StreamEnd::Cut),
        ScriptedStep::numbered_events(1, &rest, StreamEnd::Proper),
    ];
    let (seen, ..) = stream(generation, steps, options()).await;
    assert_eq!(seen, ["task:submitted", "task:working", "completed!"]);
}

#[tokio::test]
async fn a_task_that_ended_meanwhile_is_fetched() {
    for generation in BOTH {
        let items = full_stream(generation);
        let refused =
            b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32004,\"message\":\"over\"}}\n\n";
        // The refusal arrives as an answer, or inside the requested stream.
        for refusal in [
            ScriptedStep::error(-32004, &json!(null)),
            ScriptedStep::Stream(vec![refused.to_vec()], StreamEnd::Proper),
        ] {
            let steps = |state| {
                let now = bare_task(generation, state, 3, &["a"]);
                [
                    ScriptedStep::events(&items[..2], StreamEnd::Cut),
                    refusal.clone(),
                    ScriptedStep::result(&now),
                ]
            };
            let (seen, error, _) = stream(generation, steps("completed"), options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, ["task:submitted", "working", "task:completed"]);
            let (_, error, _) = stream(generation, steps("working"), options()).await;
            assert_eq!(error.unwrap().refusal_kind(), Some(AgentRefusalKind::UnsupportedOperation));
        }
    }
}

#[tokio::test]
async fn a_stream_of_a_message_ends_where_the_task_waits() {
    for generation in BOTH {
        let asks = [task(generation, "submitted", 1, &[]), update(generation, "input-required", 2)];
        for end in [StreamEnd::Proper, StreamEnd::Cut] {
            let (seen, error, _) = stream(generation, [ScriptedStep::events(&asks, end)], options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, ["task:submitted", "input-required"]);
        }
        // Also if it was resumed by a subscription, which stays open.
        let steps = [
            ScriptedStep::numbered_events(1, &asks[..1], StreamEnd::Cut),
            ScriptedStep::numbered_events(2, &asks[1..], StreamEnd::Silence),
        ];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["task:submitted", "input-required"]);
        // A waiting Task may be older than the message: the client fetches the result of the message.
        let before = task(generation, "input-required", 1, &[]);
        for (now, expected) in [(1, &["task:input-required"][..]), (2, &["task:input-required"; 2])] {
            let steps = [
                ScriptedStep::events(std::slice::from_ref(&before), StreamEnd::Cut),
                ScriptedStep::result(&bare_task(generation, "input-required", now, &[])),
            ];
            let (seen, error, _) = stream(generation, steps, options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, expected);
        }
    }
}

#[tokio::test]
async fn a_message_ends_a_stream() {
    for generation in BOTH {
        let steps = [ScriptedStep::events(&[message(generation)], StreamEnd::Silence)];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["message"]);
    }
}

#[tokio::test]
async fn a_subscription_outlives_waiting_and_breaks() {
    for generation in BOTH {
        let agent = ScriptedAgent::new([
            ScriptedStep::numbered_events(5, &[task(generation, "input-required", 1, &[])], StreamEnd::Cut),
            ScriptedStep::status(503, ""),
            ScriptedStep::numbered_events(6, &[update(generation, "working", 2)], StreamEnd::Cut),
            ScriptedStep::numbered_events(7, &[update(generation, "completed", 3)], StreamEnd::Silence),
        ])
        .await;
        let client = agent.client(generation, options());
        let mut updates = client.subscribe_to_task("t-1", Some("4")).await.unwrap();
        let (seen, error) = read_all(&mut updates).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(summarize(&seen), ["task:input-required", "working", "completed!"]);
        assert_eq!(updates.last_event_id(), Some("7"));
        let asked = agent.recorded_requests();
        let ids: Vec<_> = asked.iter().map(|asked| asked.header("last-event-id").unwrap()).collect();
        assert_eq!(ids, ["4", "5", "5", "6"]);
    }
}

#[tokio::test]
async fn a_subscription_that_is_closed_at_a_question_is_tried_a_few_times() {
    for generation in BOTH {
        let waits = || ScriptedStep::events(&[task(generation, "input-required", 1, &[])], StreamEnd::Proper);
        let agent = ScriptedAgent::new([waits(), waits(), waits(), waits()]).await;
        let client = agent.client(generation, Options { reconnects: 9, ..options() });
        let (seen, error) = read_all(&mut client.subscribe_to_task("t-1", None).await.unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            (summarize(&seen), agent.recorded_requests().len()),
            (vec!["task:input-required".into()], 4)
        );
    }
}

#[tokio::test]
async fn a_silent_connection_is_given_up_and_the_stream_resumed() {
    let generation = ProtocolVersion::V1;
    let items = full_stream(generation);
    let steps = [
        ScriptedStep::numbered_events(1, &items[..2], StreamEnd::Silence),
        ScriptedStep::numbered_events(3, &items[2..], StreamEnd::Proper),
    ];
    let short = Options { silence_timeout: Duration::from_millis(500), ..options() };
    let (seen, error, _) = stream(generation, steps, short).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
}

#[tokio::test]
async fn an_agent_that_stops_is_waited_for() {
    let generation = ProtocolVersion::V1;
    let items = full_stream(generation);
    let stopping =
        b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"stopping\"}}\n\n";
    let steps = [
        ScriptedStep::Stream(vec![encode_event(Some(1), &items[0]), stopping.to_vec()], StreamEnd::Proper),
        ScriptedStep::status(502, ""),
        ScriptedStep::error(-32603, &json!(null)),
        ScriptedStep::Hang,
        ScriptedStep::numbered_events(2, &items[1..], StreamEnd::Proper),
    ];
    let patient = Options { reconnects: 4, ..options() };
    let (seen, error, _) = stream(generation, steps, patient).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
}

#[tokio::test]
async fn an_agent_that_only_ever_breaks_is_given_up() {
    let generation = ProtocolVersion::V1;
    let first = ScriptedStep::numbered_events(1, &full_stream(generation)[..1], StreamEnd::Cut);
    let nothing = |end| ScriptedStep::Stream(vec![b":\n\n".to_vec()], end);
    let again = ScriptedStep::events(&[task(generation, "submitted", 1, &[])], StreamEnd::Cut);
    for (steps, closed) in [
        ([ScriptedStep::Hang, ScriptedStep::Hang, ScriptedStep::Hang], false),
        ([nothing(StreamEnd::Cut), nothing(StreamEnd::Cut), nothing(StreamEnd::Cut)], false),
        ([nothing(StreamEnd::Cut), ScriptedStep::Hang, nothing(StreamEnd::Proper)], true),
        ([again.clone(), again.clone(), again], false),
    ] {
        let steps = [first.clone()].into_iter().chain(steps);
        let (seen, error, asked) = stream(generation, steps, options()).await;
        assert_eq!((seen, asked.len()), (vec!["task:submitted".to_owned()], 4));
        match error.unwrap() {
            ClientError::StreamClosed => assert!(closed),
            ClientError::Transport { .. } => assert!(!closed),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn connections_that_last_do_not_count_as_failures() {
    let generation = ProtocolVersion::V1;
    let again = || ScriptedStep::events(&[task(generation, "submitted", 1, &[])], StreamEnd::Cut);
    let done = ScriptedStep::events(&[update(generation, "completed", 2)], StreamEnd::Proper);
    let steps = (0..6).map(|_| again()).chain([done]);
    let steady = Options { steady_after: Duration::ZERO, ..options() };
    let (seen, error, _) = stream(generation, steps, steady).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, ["task:submitted", "completed!"]);
}

#[tokio::test]
async fn before_the_first_event_only_the_message_itself_can_be_repeated() {
    let generation = ProtocolVersion::V1;
    let nothing = ScriptedStep::Stream(Vec::new(), StreamEnd::Cut);
    let (seen, error, asked) = stream(generation, [nothing.clone()], options()).await;
    assert_eq!((seen.len(), asked.len()), (0, 1));
    assert!(matches!(error, Some(ClientError::Transport { .. })));
    let safe = Options { resend: ResendPolicy::WhenLost, ..options() };
    let steps = [nothing, ScriptedStep::numbered_events(1, &full_stream(generation), StreamEnd::Proper)];
    let (seen, error, asked) = stream(generation, steps, safe).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
    assert_eq!(asked[0].body, asked[1].body, "the same message under the same id");
}

#[tokio::test]
async fn every_way_of_cutting_the_bytes_reads_the_same() {
    for generation in BOTH {
        let mut bytes = b"\xef\xbb\xbf: hello\r\n\r\n".to_vec();
        for item in full_stream(generation) {
            let text = String::from_utf8(encode_event(None, &item)).unwrap();
            bytes.extend_from_slice(text.replace('\n', "\r\n").as_bytes());
            bytes.extend_from_slice(":größe\n\n".as_bytes());
        }
        for size in [1, 2, 3, 7, 64] {
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            let steps = [ScriptedStep::Stream(pieces, StreamEnd::Proper)];
            let (seen, error, _) = stream(generation, steps, options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, WHOLE, "in pieces of {size}");
        }
    }
}

#[tokio::test]
async fn garbage_ends_a_stream_with_its_reason() {
    let generation = ProtocolVersion::V03;
    let first = encode_event(Some(1), &full_stream(generation)[0]);
    for garbage in ["data: garbage\n\n", "data: \u{0}\n\n", "data: {\"result\": {\"kind\": \"x\"}}\n\n"] {
        let steps = [ScriptedStep::Stream(vec![first.clone(), garbage.into()], StreamEnd::Proper)];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert_eq!(seen, ["task:submitted"]);
        assert!(matches!(error, Some(ClientError::MalformedResponse { .. })), "{garbage}: {error:?}");
    }
    let refused = "data: {\"error\": {\"code\": -32001, \"message\": \"gone\"}}\n\n";
    let steps = [ScriptedStep::Stream(vec![first.clone(), refused.into()], StreamEnd::Proper)];
    let (_, error, _) = stream(generation, steps, options()).await;
    assert_eq!(error.unwrap().refusal_kind(), Some(AgentRefusalKind::TaskNotFound));
    let steps = [ScriptedStep::Stream(vec![first, b"data: \xff\n\n".to_vec()], StreamEnd::Proper)];
    assert!(matches!(
        stream(generation, steps, options()).await.1,
        Some(ClientError::MalformedResponse { .. })
    ));
}

#[tokio::test]
async fn updates_are_a_send_stream() {
    let agent = ScriptedAgent::new([
        ScriptedStep::numbered_events(1, &full_stream(ProtocolVersion::V1), StreamEnd::Proper),
        ScriptedStep::Stream(vec![b"data: x\n\n".to_vec()], StreamEnd::Proper),
    ])
    .await;
    let client = agent.client(ProtocolVersion::V1, options());
    let seen: Vec<TaskUpdate> = tokio::spawn({
        let client = client.clone();
        async move {
            let updates = client.stream_message(&user_message("m-1", "hi"), &SendOptions::default()).await?;
            updates.into_stream().try_collect().await
        }
    })
    .await
    .unwrap()
    .unwrap();
    assert_eq!(summarize(&seen), WHOLE);
    let updates = client.subscribe_to_task("t-1", None).await.unwrap();
    let items: Vec<_> = updates.into_stream().collect().await;
    assert!(matches!(&items[..], [Err(ClientError::MalformedResponse { .. })]), "one error, then the end");
}
