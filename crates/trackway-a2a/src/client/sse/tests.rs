//! Server-sent events: every way of writing and cutting them.

use super::*;

fn read(chunks: &[&[u8]]) -> Result<Vec<(Option<String>, String)>, BadStream> {
    let mut parser = Parser::bounded(None, 64);
    let mut events = Vec::new();
    for chunk in chunks {
        let mut received = Bytes::copy_from_slice(chunk);
        while let Some(event) = parser.next(&mut received)? {
            events.push((event.id, event.data));
        }
        assert!(received.is_empty(), "all that was received is used");
    }
    Ok(events)
}

fn events(expected: &[(&str, &str)]) -> Vec<(Option<String>, String)> {
    let id = |id: &str| (!id.is_empty()).then(|| id.to_owned());
    expected.iter().map(|(name, data)| (id(name), (*data).to_owned())).collect()
}

#[test]
fn each_form_is_read_whole_and_cut_at_every_byte() {
    for (text, expected) in [
        ("data: a\n\n", &[("", "a")][..]),
        ("data:a\n\n", &[("", "a")]),
        ("data:  a\n\n", &[("", " a")]),
        ("data: a\r\n\r\n", &[("", "a")]),
        ("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
        ("data: a\ndata: b\n\n", &[("", "a\nb")]),
        ("data\n\n", &[("", "")]),
        ("data\ndata: x\n\n", &[("", "\nx")]),
        ("id: 1\ndata: a\n\ndata: b\n\n", &[("1", "a"), ("1", "b")]),
        ("data: a\nid: 7\n\n", &[("7", "a")]),
        ("id: 1\n\ndata: a\n\n", &[("1", "a")]),
        ("id: 1\ndata: a\n\nid\ndata: b\n\n", &[("1", "a"), ("", "b")]),
        ("id: a\0b\ndata: a\n\n", &[("", "a")]),
        (":\n\n: a comment\n\ndata: a\n\n:\n\n", &[("", "a")]),
        ("event: x\nretry: 5\nunknown: y\ndata: a\n\n", &[("", "a")]),
        ("\u{feff}data: a\n\n", &[("", "a")]),
        ("data: größe €\n\n", &[("", "größe €")]),
        ("data: a: b\n\n", &[("", "a: b")]),
        ("\n\n\n", &[]),
        ("", &[]),
        ("id: 1\ndata: half", &[]),
        ("id: 1\ndata: half\n", &[]),
    ] {
        let whole = text.as_bytes();
        assert_eq!(read(&[whole]).unwrap(), events(expected), "{text:?}");
        for cut in 0..=whole.len() {
            let (left, right) = whole.split_at(cut);
            assert_eq!(read(&[left, right]).unwrap(), events(expected), "{text:?} cut at {cut}");
        }
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(read(&bytes).unwrap(), events(expected), "{text:?} byte by byte");
    }
}

#[test]
fn what_is_too_large_or_no_text_is_refused_without_being_kept() {
    let long = [b"data: ".as_slice(), &[b'x'; 100], b"\n\n"].concat();
    assert_eq!(read(&[&long]), Err(BadStream::TooLarge));
    let endless = [&b"x"[..]; 100];
    assert_eq!(read(&endless), Err(BadStream::TooLarge));
    let many: Vec<&[u8]> = [&b"data: 0123456789\n"[..]; 10].to_vec();
    assert_eq!(read(&many), Err(BadStream::TooLarge));
    assert_eq!(read(&[b"data: \xff\n\n"]), Err(BadStream::NotUtf8));
    let comments: Vec<&[u8]> = [&b": 0123456789\n"[..]; 100].to_vec();
    assert_eq!(read(&comments), Ok(Vec::new()), "comments are not collected");
}

#[test]
fn the_id_of_half_an_event_does_not_count() {
    let mut parser = Parser::new(Some("4".to_owned()));
    let mut received = Bytes::from_static(b"data: a\n\nid: 5\ndata: b\n");
    let first = parser.next(&mut received).unwrap().unwrap();
    assert_eq!(first, Event { data: "a".into(), id: Some("4".into()) });
    assert_eq!(parser.next(&mut received), Ok(None));
    let long = format!("id: {}\ndata: c\n\n", "9".repeat(2_000));
    let third = Parser::new(Some("4".to_owned())).next(&mut Bytes::from(long)).unwrap().unwrap();
    assert_eq!(third.id.as_deref(), Some("4"), "an id that no header carries is not taken");
}
