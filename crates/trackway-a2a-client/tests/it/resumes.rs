//! Streams whose connection is lost: resumed without gap or repetition, or ended for a reason.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use trackway_a2a_client::{
    ClientError, Generation, Options, RefusalKind, Resend, SendOptions, Update,
};

use super::{
    agent::{Agent, Asked, End, Step, event},
    all, options, said,
    scripted::{BOTH, artifact, bare_task, message, task, update},
    shape,
};

/// Streams a message to an agent with that script.
async fn stream(
    generation: Generation,
    steps: impl IntoIterator<Item = Step>,
    options: Options,
) -> (Vec<String>, Option<ClientError>, Vec<Asked>) {
    let agent = Agent::new(steps).await;
    let client = agent.client(generation, options);
    let mut updates = client.stream(&said("m-1", "hi"), &SendOptions::default()).await.unwrap();
    let (seen, error) = all(&mut updates).await;
    (shape(&seen), error, agent.asked())
}

fn whole(generation: Generation) -> Vec<Value> {
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
        let items = whole(generation);
        for (cut, end) in [(1, End::Cut), (2, End::Cut), (3, End::Cut), (1, End::Proper)] {
            let steps = [
                Step::counted(10, &items[..cut], end),
                Step::counted(10 + cut as u64, &items[cut..], End::Proper),
            ];
            let (seen, error, asked) = stream(generation, steps, options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, WHOLE, "cut after {cut}");
            let method = match generation {
                Generation::V03 => "tasks/resubscribe",
                Generation::V1 => "SubscribeToTask",
            };
            assert_eq!(
                (asked[1].method(), &asked[1].body["params"]["id"]),
                (method, &json!("t-1"))
            );
            let last = (9 + cut).to_string();
            assert_eq!(asked[1].header("last-event-id"), Some(last.as_str()));
        }
    }
}

#[tokio::test]
async fn half_an_event_is_asked_for_again() {
    for generation in BOTH {
        let items = whole(generation);
        let bytes: Vec<u8> =
            (1..).zip(&items).flat_map(|(id, item)| event(Some(id), item)).collect();
        let first = event(Some(1), &items[0]).len();
        // Cut inside the second event, at many positions; its id does not count yet.
        let second = event(Some(2), &items[1]).len();
        for cut in (first..first + second).step_by(17) {
            let steps = [
                Step::Stream(vec![bytes[..cut].to_vec()], End::Cut),
                Step::counted(2, &items[1..], End::Proper),
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
        let items = whole(generation);
        // Nothing happened in the meantime: neither the Task nor the update that led to it is new.
        let again = [task(generation, "working", 2, &["a"]), update(generation, "working", 2)];
        let rest: Vec<Value> =
            again.into_iter().chain([update(generation, "completed", 3)]).collect();
        let steps = [Step::events(&items[..3], End::Cut), Step::events(&rest, End::Proper)];
        let (seen, error, asked) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, WHOLE);
        assert_eq!(asked[1].header("last-event-id"), None);
        // An artifact arrived in the meantime: the Task contains it.
        let rest = [task(generation, "working", 2, &["a"]), update(generation, "completed", 3)];
        let steps = [Step::events(&items[..2], End::Cut), Step::events(&rest, End::Proper)];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["task:submitted", "working", "task:working", "completed!"]);
    }
}

#[tokio::test]
async fn an_agent_that_repeats_the_last_event_is_heard_once() {
    let generation = Generation::V1;
    let items = whole(generation);
    let steps =
        [Step::counted(1, &items[..3], End::Cut), Step::counted(3, &items[2..], End::Proper)];
    let (seen, error, _) = stream(generation, steps, options()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
    // An agent that counts from the start on each connection repeats nothing.
    let rest = [task(generation, "working", 9, &["a"]), update(generation, "completed", 10)];
    let steps = [Step::counted(1, &items[..1], End::Cut), Step::counted(1, &rest, End::Proper)];
    let (seen, ..) = stream(generation, steps, options()).await;
    assert_eq!(seen, ["task:submitted", "task:working", "completed!"]);
}

#[tokio::test]
async fn a_task_that_ended_meanwhile_is_fetched() {
    for generation in BOTH {
        let items = whole(generation);
        let refused = b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32004,\"message\":\"over\"}}\n\n";
        // The refusal arrives as an answer, or inside the requested stream.
        for refusal in
            [Step::error(-32004, &json!(null)), Step::Stream(vec![refused.to_vec()], End::Proper)]
        {
            let steps = |state| {
                let now = bare_task(generation, state, 3, &["a"]);
                [Step::events(&items[..2], End::Cut), refusal.clone(), Step::result(&now)]
            };
            let (seen, error, _) = stream(generation, steps("completed"), options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, ["task:submitted", "working", "task:completed"]);
            let (_, error, _) = stream(generation, steps("working"), options()).await;
            assert_eq!(error.unwrap().refusal(), Some(RefusalKind::UnsupportedOperation));
        }
    }
}

#[tokio::test]
async fn a_stream_of_a_message_ends_where_the_task_waits() {
    for generation in BOTH {
        let asks = [task(generation, "submitted", 1, &[]), update(generation, "input-required", 2)];
        for end in [End::Proper, End::Cut] {
            let (seen, error, _) = stream(generation, [Step::events(&asks, end)], options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, ["task:submitted", "input-required"]);
        }
        // Also if it was resumed by a subscription, which stays open.
        let steps =
            [Step::counted(1, &asks[..1], End::Cut), Step::counted(2, &asks[1..], End::Silence)];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["task:submitted", "input-required"]);
        // A waiting Task may be older than the message: the client fetches the result of the message.
        let before = task(generation, "input-required", 1, &[]);
        for (now, expected) in [(1, &["task:input-required"][..]), (2, &["task:input-required"; 2])]
        {
            let steps = [
                Step::events(std::slice::from_ref(&before), End::Cut),
                Step::result(&bare_task(generation, "input-required", now, &[])),
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
        let steps = [Step::events(&[message(generation)], End::Silence)];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["message"]);
    }
}

#[tokio::test]
async fn a_subscription_outlives_waiting_and_breaks() {
    for generation in BOTH {
        let agent = Agent::new([
            Step::counted(5, &[task(generation, "input-required", 1, &[])], End::Cut),
            Step::status(503, ""),
            Step::counted(6, &[update(generation, "working", 2)], End::Cut),
            Step::counted(7, &[update(generation, "completed", 3)], End::Silence),
        ])
        .await;
        let client = agent.client(generation, options());
        let mut updates = client.subscribe("t-1", Some("4")).await.unwrap();
        let (seen, error) = all(&mut updates).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(shape(&seen), ["task:input-required", "working", "completed!"]);
        assert_eq!(updates.last_event_id(), Some("7"));
        let asked = agent.asked();
        let ids: Vec<_> =
            asked.iter().map(|asked| asked.header("last-event-id").unwrap()).collect();
        assert_eq!(ids, ["4", "5", "5", "6"]);
    }
}

#[tokio::test]
async fn a_subscription_that_is_closed_at_a_question_is_tried_a_few_times() {
    for generation in BOTH {
        let waits = || Step::events(&[task(generation, "input-required", 1, &[])], End::Proper);
        let agent = Agent::new([waits(), waits(), waits(), waits()]).await;
        let client = agent.client(generation, Options { reconnects: 9, ..options() });
        let (seen, error) = all(&mut client.subscribe("t-1", None).await.unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!((shape(&seen), agent.asked().len()), (vec!["task:input-required".into()], 4));
    }
}

#[tokio::test]
async fn a_silent_connection_is_given_up_and_the_stream_resumed() {
    let generation = Generation::V1;
    let items = whole(generation);
    let steps =
        [Step::counted(1, &items[..2], End::Silence), Step::counted(3, &items[2..], End::Proper)];
    let short = Options { silence: Duration::from_millis(500), ..options() };
    let (seen, error, _) = stream(generation, steps, short).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
}

#[tokio::test]
async fn an_agent_that_stops_is_waited_for() {
    let generation = Generation::V1;
    let items = whole(generation);
    let stopping = b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"stopping\"}}\n\n";
    let steps = [
        Step::Stream(vec![event(Some(1), &items[0]), stopping.to_vec()], End::Proper),
        Step::status(502, ""),
        Step::error(-32603, &json!(null)),
        Step::Hang,
        Step::counted(2, &items[1..], End::Proper),
    ];
    let patient = Options { reconnects: 4, ..options() };
    let (seen, error, _) = stream(generation, steps, patient).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
}

#[tokio::test]
async fn an_agent_that_only_ever_breaks_is_given_up() {
    let generation = Generation::V1;
    let first = Step::counted(1, &whole(generation)[..1], End::Cut);
    let nothing = |end| Step::Stream(vec![b":\n\n".to_vec()], end);
    let again = Step::events(&[task(generation, "submitted", 1, &[])], End::Cut);
    for (steps, closed) in [
        ([Step::Hang, Step::Hang, Step::Hang], false),
        ([nothing(End::Cut), nothing(End::Cut), nothing(End::Cut)], false),
        ([nothing(End::Cut), Step::Hang, nothing(End::Proper)], true),
        ([again.clone(), again.clone(), again], false),
    ] {
        let steps = [first.clone()].into_iter().chain(steps);
        let (seen, error, asked) = stream(generation, steps, options()).await;
        assert_eq!((seen, asked.len()), (vec!["task:submitted".to_owned()], 4));
        match error.unwrap() {
            ClientError::Closed => assert!(closed),
            ClientError::Transport { .. } => assert!(!closed),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn connections_that_last_do_not_count_as_failures() {
    let generation = Generation::V1;
    let again = || Step::events(&[task(generation, "submitted", 1, &[])], End::Cut);
    let done = Step::events(&[update(generation, "completed", 2)], End::Proper);
    let steps = (0..6).map(|_| again()).chain([done]);
    let steady = Options { steady: Duration::ZERO, ..options() };
    let (seen, error, _) = stream(generation, steps, steady).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, ["task:submitted", "completed!"]);
}

#[tokio::test]
async fn before_the_first_event_only_the_message_itself_can_be_repeated() {
    let generation = Generation::V1;
    let nothing = Step::Stream(Vec::new(), End::Cut);
    let (seen, error, asked) = stream(generation, [nothing.clone()], options()).await;
    assert_eq!((seen.len(), asked.len()), (0, 1));
    assert!(matches!(error, Some(ClientError::Transport { .. })));
    let safe = Options { resend: Resend::Lost, ..options() };
    let steps = [nothing, Step::counted(1, &whole(generation), End::Proper)];
    let (seen, error, asked) = stream(generation, steps, safe).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(seen, WHOLE);
    assert_eq!(asked[0].body, asked[1].body, "the same message under the same id");
}

#[tokio::test]
async fn every_way_of_cutting_the_bytes_reads_the_same() {
    for generation in BOTH {
        let mut bytes = b"\xef\xbb\xbf: hello\r\n\r\n".to_vec();
        for item in whole(generation) {
            let text = String::from_utf8(event(None, &item)).unwrap();
            bytes.extend_from_slice(text.replace('\n', "\r\n").as_bytes());
            bytes.extend_from_slice(":größe\n\n".as_bytes());
        }
        for size in [1, 2, 3, 7, 64] {
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            let steps = [Step::Stream(pieces, End::Proper)];
            let (seen, error, _) = stream(generation, steps, options()).await;
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, WHOLE, "in pieces of {size}");
        }
    }
}

#[tokio::test]
async fn garbage_ends_a_stream_with_its_reason() {
    let generation = Generation::V03;
    let first = event(Some(1), &whole(generation)[0]);
    for garbage in
        ["data: garbage\n\n", "data: \u{0}\n\n", "data: {\"result\": {\"kind\": \"x\"}}\n\n"]
    {
        let steps = [Step::Stream(vec![first.clone(), garbage.into()], End::Proper)];
        let (seen, error, _) = stream(generation, steps, options()).await;
        assert_eq!(seen, ["task:submitted"]);
        assert!(matches!(error, Some(ClientError::Malformed { .. })), "{garbage}: {error:?}");
    }
    let refused = "data: {\"error\": {\"code\": -32001, \"message\": \"gone\"}}\n\n";
    let steps = [Step::Stream(vec![first.clone(), refused.into()], End::Proper)];
    let (_, error, _) = stream(generation, steps, options()).await;
    assert_eq!(error.unwrap().refusal(), Some(RefusalKind::TaskNotFound));
    let steps = [Step::Stream(vec![first, b"data: \xff\n\n".to_vec()], End::Proper)];
    assert!(matches!(
        stream(generation, steps, options()).await.1,
        Some(ClientError::Malformed { .. })
    ));
}

#[tokio::test]
async fn a_stream_can_be_used_as_one_and_from_any_task() {
    let agent = Agent::new([
        Step::counted(1, &whole(Generation::V1), End::Proper),
        Step::Stream(vec![b"data: x\n\n".to_vec()], End::Proper),
    ])
    .await;
    let client = agent.client(Generation::V1, options());
    let seen: Vec<Update> = tokio::spawn({
        let client = client.clone();
        async move {
            let updates = client.stream(&said("m-1", "hi"), &SendOptions::default()).await?;
            updates.into_stream().try_collect().await
        }
    })
    .await
    .unwrap()
    .unwrap();
    assert_eq!(shape(&seen), WHOLE);
    let updates = client.subscribe("t-1", None).await.unwrap();
    let items: Vec<_> = updates.into_stream().collect().await;
    assert!(matches!(&items[..], [Err(ClientError::Malformed { .. })]), "one error, then the end");
}
