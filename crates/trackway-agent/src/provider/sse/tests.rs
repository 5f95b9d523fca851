//! Events wherever the chunks are cut.

use super::*;

fn events(chunks: &[&[u8]]) -> Result<Vec<Event>, NotText> {
    let mut parser = Parser::default();
    let mut out = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut out)?;
    }
    parser.finish(&mut out)?;
    Ok(out)
}

fn event(kind: &str, data: &str) -> Event {
    Event { kind: kind.into(), data: data.into() }
}

/// Every cut in two and every byte for itself, letters and line ends included.
#[test]
fn events_come_out_whole_wherever_the_chunks_are_cut() {
    let text = "\u{feff}: hello\n\nevent: delta\ndata: {\"a\":\"ü→🦀\"}\r\n\r\nid: 7\nretry: 5\ndata:x\rdata: y\r\rdata\n\n";
    let bytes = text.as_bytes();
    let expected = Ok(vec![event("delta", "{\"a\":\"ü→🦀\"}"), event("", "x\ny"), event("", "")]);
    assert_eq!(events(&[bytes]), expected);
    for cut in 0..bytes.len() {
        assert_eq!(events(&[&bytes[..cut], &bytes[cut..]]), expected, "cut at {cut}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(events(&single), expected);
}

#[test]
fn a_last_event_needs_no_empty_line() {
    assert_eq!(events(&[b"data: [DONE]"]), Ok(vec![event("", "[DONE]")]));
    assert_eq!(events(&[b"event: x\n\n:\n\n"]), Ok(vec![]));
}

#[test]
fn what_is_not_text_is_told() {
    assert_eq!(events(&[b"data: \xff\n\n"]), Err(NotText));
}
