//! Messages that were written are read as the same.

use super::*;

fn http_headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

#[test]
fn a_request_keeps_its_credentials_and_loses_what_belongs_to_a_connection() {
    let carried = [("authorization", "Bearer k"), ("trackway-call", "a.b.c"), ("last-event-id", "7")];
    let lost = [("host", "elsewhere"), ("content-length", "3"), ("transfer-encoding", "chunked")];
    let envelope = RequestEnvelope {
        answer_key: "abc-1".to_owned(),
        claim: Some("abc".to_owned()),
        method: Method::POST,
        headers: http_headers(&[&carried[..], &lost[..]].concat()),
    };
    let read = RequestEnvelope::decode(&envelope.encode()).unwrap();
    assert_eq!(read, RequestEnvelope { headers: http_headers(&carried), ..envelope });
    assert!(!format!("{read:?}").contains("Bearer k"), "credentials are not printed");
}

#[test]
fn headers_of_another_layer_do_not_reach_the_door() {
    let mut headers = NatsHeaders::new();
    headers.insert(ANSWER_KEY, "k");
    headers.insert(METHOD, "POST");
    headers.insert("Nats-Msg-Id", "id");
    headers.insert("Host", "elsewhere");
    headers.insert("Trackway-Node", "n");
    let read = RequestEnvelope::decode(&headers).unwrap();
    assert_eq!((read.headers.len(), read.claim), (0, None));
}

#[test]
fn requests_that_no_node_sends_are_refused() {
    let cases: [&[(&str, &str)]; 5] = [
        &[],
        &[(ANSWER_KEY, "k")],
        &[(METHOD, "POST")],
        &[(ANSWER_KEY, "a.b"), (METHOD, "POST")],
        &[(ANSWER_KEY, "k"), (METHOD, "DELETE")],
    ];
    for pairs in cases {
        let mut headers = NatsHeaders::new();
        for (name, value) in pairs {
            headers.insert(*name, *value);
        }
        assert!(matches!(RequestEnvelope::decode(&headers), Err(NatsError::Malformed { .. })), "{pairs:?}");
    }
}

#[test]
fn each_part_of_an_answer_is_read_as_it_was_written() {
    let head = AnswerHead {
        node: "n-1".to_owned(),
        status: StatusCode::OK,
        headers: http_headers(&[("content-type", "text/event-stream"), ("retry-after", "1")]),
    };
    let first = AnswerPart {
        execution: "x".to_owned(),
        index: 0,
        head: Some(Box::new(head)),
        event_id: Some("12".to_owned()),
        payload: Bytes::from_static(b"id: 12\ndata: {}\n\n"),
        end: None,
    };
    let rest = AnswerPart { index: 1, head: None, event_id: None, payload: Bytes::new(), ..first.clone() };
    let last = AnswerPart { end: Some(AnswerEnd::Complete), ..rest.clone() };
    let broken = AnswerPart { end: Some(AnswerEnd::Broken), ..rest.clone() };
    for part in [first, rest, last, broken] {
        assert_eq!(AnswerPart::decode(&part.encode(), part.payload.clone()).unwrap(), part);
    }
}

#[test]
fn parts_without_their_numbers_are_refused() {
    for (name, value) in [(EXECUTION, "x"), (PART, "0"), (PART, "-1"), (PART, "2.0"), (STATUS, "200")] {
        let mut headers = NatsHeaders::new();
        headers.insert(name, value);
        assert!(AnswerPart::decode(&headers, Bytes::new()).is_err(), "{name}: {value}");
    }
}
