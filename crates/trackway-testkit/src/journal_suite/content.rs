//! Content: every event is read back exactly.

use serde_json::{Value, json};
use trackway_domain::{
    Caller, Event, Message, MessageId, MessageRole, Part, SessionId, StateName, WorkflowRef,
};
use trackway_ports::Append;

use super::{StoreUnderTest, fresh, sample_appends::*};

/// Writes events with these values and checks that they read back, also after opening again.
async fn assert_values_round_trip<S: StoreUnderTest>(values: Vec<Value>) {
    let (store, journal) = fresh::<S>().await;
    let mut append = Append::new(run_id(1), 0, timestamp(0));
    append.events = values.into_iter().map(event_with_value).collect();
    append_accepted(&*journal, append.clone()).await;
    for _ in 0..2 {
        let journal = store.open_journal().await;
        let stored = load_log(&*journal, run_id(1)).await;
        let found: Vec<Event> = stored.into_iter().map(|stored| stored.event).collect();
        assert!(found == append.events, "an event came back changed");
        journal.close_store().await;
    }
}

/// Proves X2: large events are stored elsewhere without any visible difference.
pub async fn a_large_event_reads_back<S: StoreUnderTest>() {
    // Around the size at which a store may store a body elsewhere, and far beyond it.
    for length in [65_400, 65_536, 65_600, 3_000_000] {
        assert_values_round_trip::<S>(vec![json!("x".repeat(length))]).await;
    }
}

/// Proves X2.
pub async fn many_large_events_in_one_append_read_back<S: StoreUnderTest>() {
    let large = "ü".repeat(100_000);
    // They include the same content twice, and small values in between.
    let values = (0..12).map(|number| match number % 3 {
        0 => json!([number, large]),
        1 => json!(large),
        _ => json!(number),
    });
    assert_values_round_trip::<S>(values.collect()).await;
}

const TEXTS: [&str; 9] = [
    "",
    "\0 and \u{1} and \u{7f}",
    "quotes ' \" ` and \\ and \r\n\t",
    "'; DROP TABLE events; --",
    "ß ü 你好 مرحبا 👩‍👩‍👧‍👦",
    "e\u{301} is not é",
    "\u{feff}\u{202e}\u{2028}\u{fffd}\u{10ffff}",
    "%s {} $1 ?1 :name",
    "NULL",
];

/// Proves X2.
pub async fn any_text_reads_back<S: StoreUnderTest>() {
    assert_values_round_trip::<S>(TEXTS.iter().map(|text| json!({*text: text})).collect()).await;

    let (_store, journal) = fresh::<S>().await;
    for (number, text) in (1..).zip(TEXTS) {
        let fits = |c: &char| SessionId::new(c.encode_utf8(&mut [0; 4])).is_ok();
        let id = format!("x{}", text.chars().filter(fits).collect::<String>());
        let mut row = run_row(number);
        row.session = SessionId::new(&id).unwrap();
        row.caller = Caller::new(text, text);
        row.workflow = WorkflowRef { name: text.to_owned(), version: text.to_owned() };
        row.state = StateName::InputRequired;
        let mut append = row_append(row.clone());
        append.events = vec![Event::Noted {
            message: Message::new(
                MessageId::new(&id).unwrap(),
                MessageRole::User,
                vec![Part::text(text).with_metadata(text, text)],
            ),
        }];
        let mut claim = message_claim(&row.caller, &id, row.id);
        claim.digest = text.to_owned();
        append.message_claim = Some(claim.clone());
        let events = append.events.clone();
        append_accepted(&*journal, append).await;

        assert_eq!(load_log(&*journal, row.id).await[0].event, events[0]);
        assert_eq!(journal.find_run(row.id).await.unwrap(), Some(row.clone()));
        let found = journal.find_message_claim(claim.key.clone()).await.unwrap();
        assert_eq!(found, Some(claim));
        let waiting =
            journal.list_waiting_runs(row.caller.clone(), row.session.clone(), Some(text.to_owned()), ALL);
        assert_eq!(waiting.await.unwrap(), [row.id]);
    }
}

/// Proves X2.
pub async fn huge_numbers_read_back<S: StoreUnderTest>() {
    let numbers = [
        json!(u64::MAX),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(9_007_199_254_740_993_u64),
        json!(f64::MAX),
        json!(f64::MIN_POSITIVE),
        json!(5e-324),
        json!(-0.0),
    ];
    assert_values_round_trip::<S>(numbers.to_vec()).await;
    let (_store, journal) = fresh::<S>().await;
    for (number, moment) in (1..).zip([i64::MIN, -1, 0, i64::MAX]) {
        let id = run_id(u128::MAX - number);
        let mut append = numbered_append(id, 0, [1]);
        append.at = timestamp(moment);
        append_accepted(&*journal, append).await;
        assert_eq!(load_log(&*journal, id).await[0].at, timestamp(moment));
    }
}

/// Proves X2: a recorded result is the same number on every replay, to the last bit.
pub async fn fractions_read_back_exactly<S: StoreUnderTest>() {
    // A fixed stream of bit patterns, long enough to catch a parser that rounds carelessly.
    let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
    let fractions = std::iter::repeat_with(|| {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        f64::from_bits(bits)
    });
    let finite = fractions.filter(|fraction| fraction.is_finite());
    assert_values_round_trip::<S>(finite.take(2_000).map(Value::from).collect()).await;
}

/// Proves X2: a value that a front door accepted is not too deep for the log.
pub async fn a_deep_value_reads_back<S: StoreUnderTest>() {
    // The usual limit of a JSON parser is 128 levels; the event adds levels around the value.
    for depth in [127, 128, 300] {
        let deep = (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert_values_round_trip::<S>(vec![deep]).await;
    }
}
