//! Server-sent events: every way to write and split them.

use super::*;

const BYTES_MAX: usize = 64;

/// The events of the chunks before the stream ends, and the event that its end adds.
fn read_and_finished(chunks: &[&[u8]]) -> Result<(Vec<SseEvent>, Option<SseEvent>), SseError> {
    let mut parser = SseParser::new(BYTES_MAX);
    let mut events = Vec::new();
    for chunk in chunks {
        let mut received = Bytes::copy_from_slice(chunk);
        while let Some(event) = parser.next_event(&mut received)? {
            events.push(event);
        }
        assert!(received.is_empty(), "all that was received is used");
    }
    Ok((events, parser.finish_stream()?))
}

fn read(chunks: &[&[u8]]) -> Result<Vec<SseEvent>, SseError> {
    read_and_finished(chunks).map(|(events, _)| events)
}

fn event(kind: &str, id: &str, data: &str) -> SseEvent {
    let id = (!id.is_empty()).then(|| id.to_owned());
    SseEvent { kind: kind.to_owned(), data: data.to_owned(), id }
}

/// Every split in two and every byte alone, including inside characters and line ends.
#[test]
fn each_form_is_read_whole_and_cut_at_every_byte() {
    let plain = |id, data| event("", id, data);
    for (text, expected) in [
        ("data: a\n\n", vec![plain("", "a")]),
        ("data:a\n\n", vec![plain("", "a")]),
        ("data:  a\n\n", vec![plain("", " a")]),
        ("data: a\r\n\r\n", vec![plain("", "a")]),
        ("data: a\r\rdata: b\r\r", vec![plain("", "a"), plain("", "b")]),
        ("data: a\ndata: b\n\n", vec![plain("", "a\nb")]),
        ("data: a\r\ndata: b\r\n\r\n", vec![plain("", "a\nb")]),
        ("data\n\n", vec![plain("", "")]),
        ("data\ndata: x\n\n", vec![plain("", "\nx")]),
        ("id: 1\ndata: a\n\ndata: b\n\n", vec![plain("1", "a"), plain("1", "b")]),
        ("data: a\nid: 7\n\n", vec![plain("7", "a")]),
        ("id: 1\n\ndata: a\n\n", vec![plain("1", "a")]),
        ("id: 1\ndata: a\n\nid\ndata: b\n\n", vec![plain("1", "a"), plain("", "b")]),
        ("id: a\0b\ndata: a\n\n", vec![plain("", "a")]),
        (":\n\n: a comment\n\ndata: a\n\n:\n\n", vec![plain("", "a")]),
        ("event: x\nretry: 5\nunknown: y\ndata: a\n\n", vec![event("x", "", "a")]),
        ("event: x\n\ndata: a\n\n", vec![plain("", "a")]),
        ("event: x\ndata: a\n\ndata: b\n\n", vec![event("x", "", "a"), plain("", "b")]),
        ("\u{feff}data: a\n\n", vec![plain("", "a")]),
        ("data: größe → 🦀\n\n", vec![plain("", "größe → 🦀")]),
        ("data: a: b\n\n", vec![plain("", "a: b")]),
        ("\n\n\n", vec![]),
        ("", vec![]),
        ("id: 1\ndata: half", vec![]),
        ("id: 1\ndata: half\n", vec![]),
    ] {
        let whole = text.as_bytes();
        assert_eq!(read(&[whole]).as_ref(), Ok(&expected), "{text:?}");
        for cut in 0..=whole.len() {
            let (left, right) = whole.split_at(cut);
            assert_eq!(read(&[left, right]).as_ref(), Ok(&expected), "{text:?} cut at {cut}");
        }
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(read(&bytes).as_ref(), Ok(&expected), "{text:?} byte by byte");
    }
}

#[test]
fn what_is_too_large_or_no_text_is_refused_without_being_kept() {
    let too_large = Err(SseError::TooLarge { bytes_max: BYTES_MAX });
    let long = [b"data: ".as_slice(), &[b'x'; 100], b"\n\n"].concat();
    assert_eq!(read(&[&long]), too_large);
    let endless = [&b"x"[..]; 100];
    assert_eq!(read(&endless), too_large);
    let many: Vec<&[u8]> = [&b"data: 0123456789\n"[..]; 10].to_vec();
    assert_eq!(read(&many), too_large);
    assert_eq!(read(&[b"data: \xff\n\n"]), Err(SseError::NotUtf8));
    let comments: Vec<&[u8]> = [&b": 0123456789\n"[..]; 100].to_vec();
    assert_eq!(read(&comments), Ok(Vec::new()), "comments are not collected");
}

#[test]
fn the_id_of_half_an_event_does_not_count() {
    let mut parser = SseParser::resume_after_event_id(Some("4".to_owned()), BYTES_MAX);
    let mut received = Bytes::from_static(b"data: a\n\nid: 5\ndata: b\n");
    let first = parser.next_event(&mut received).unwrap().unwrap();
    assert_eq!(first, event("", "4", "a"));
    assert_eq!(parser.next_event(&mut received), Ok(None));
    let long = format!("id: {}\ndata: c\n\n", "9".repeat(2_000));
    let third =
        SseParser::resume_after_event_id(Some("4".to_owned()), 4_096).next_event(&mut Bytes::from(long));
    assert_eq!(third, Ok(Some(event("", "4", "c"))), "an id that no header carries is not taken");
}

#[test]
fn a_last_event_without_its_empty_line_is_there_at_the_end() {
    for text in ["event: x\ndata: [DONE]", "event: x\ndata: [DONE]\n"] {
        let expected = Ok((vec![], Some(event("x", "", "[DONE]"))));
        assert_eq!(read_and_finished(&[text.as_bytes()]), expected, "{text:?}");
    }
    for text in ["", "event: x\n\n:\n\n", "id: 3\n\n", "retry: 5\n\n", "data: a\n\n"] {
        assert_eq!(read_and_finished(&[text.as_bytes()]).unwrap().1, None, "{text:?}");
    }
    assert_eq!(read_and_finished(&[b"data: \xc3"]), Err(SseError::NotUtf8), "half a letter");
}
