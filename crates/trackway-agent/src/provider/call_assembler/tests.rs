//! Pieces in the forms that servers send, and the resulting calls.

use super::*;

type Row<'a> = (Option<&'a str>, Option<u64>, Option<&'a str>, &'a str);

/// Id, index, tool and arguments in; id, tool and arguments of each call out.
fn calls(rows: &[Row<'_>]) -> Vec<(String, String, String)> {
    let (mut open, mut out) = (ToolCallAssembler::default(), Vec::new());
    for (id, index, tool, arguments) in rows {
        let (key, index, tool) = (*id, *index, *tool);
        open.push_call_fragment(ToolCallFragment { key, index, id: key, tool, arguments }, &mut out);
    }
    open.emit_unnamed_calls(&mut out);
    let mut calls = Vec::new();
    for delta in out {
        match delta {
            Delta::Call { slot, id, tool } => {
                assert_eq!(slot, calls.len(), "slots count");
                calls.push((id.unwrap_or_default(), tool, String::new()));
            }
            Delta::Arguments { slot, text } => calls[slot].2.push_str(&text),
            other => panic!("{other:?}"),
        }
    }
    calls
}

fn call(id: &str, tool: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), tool.to_owned(), arguments.to_owned())
}

/// Proves D7.
#[test]
fn a_new_id_opens_a_call_whatever_its_index() {
    for index in [Some(0), None] {
        let rows = [
            (Some("a"), index, Some("one"), ""),
            (None, index, None, "{\"x\":"),
            (Some(""), index, None, "1}"),
            (Some("b"), index, Some("two"), "{}"),
        ];
        assert_eq!(calls(&rows), [call("a", "one", "{\"x\":1}"), call("b", "two", "{}")]);
    }
}

#[test]
fn pieces_of_two_calls_may_alternate() {
    let rows = [
        (Some("a"), Some(0), Some("one"), ""),
        (Some("b"), Some(1), Some("two"), ""),
        (None, Some(0), None, "[1"),
        (None, Some(1), None, "[2"),
        (Some("a"), None, None, "]"),
        (None, Some(1), None, "]"),
    ];
    assert_eq!(calls(&rows), [call("a", "one", "[1]"), call("b", "two", "[2]")]);
}

#[test]
fn one_id_for_two_calls_is_told_apart_by_index() {
    let rows = [
        (Some("x"), Some(0), Some("one"), "{}"),
        (Some("x"), Some(1), Some("two"), "["),
        (Some("x"), Some(1), None, "]"),
    ];
    assert_eq!(calls(&rows), [call("x", "one", "{}"), call("x", "two", "[]")]);
}

#[test]
fn without_ids_and_indexes_a_name_opens_a_call_when_the_last_is_whole() {
    let rows = [
        (None, None, Some("one"), "{\"a\":"),
        (None, None, Some("one"), "1}"),
        (None, None, Some("one"), "{}"),
        (None, None, Some("two"), ""),
        (None, None, Some("three"), "{}"),
        (None, None, Some("three"), ""),
    ];
    let expected =
        [call("", "one", "{\"a\":1}"), call("", "one", "{}"), call("", "two", ""), call("", "three", "{}")];
    assert_eq!(calls(&rows), expected);
    let indexed = [(None, Some(0), Some("one"), "{}"), (None, Some(1), Some("one"), "")];
    assert_eq!(calls(&indexed), [call("", "one", "{}"), call("", "one", "")]);
}

#[test]
fn arguments_wait_for_the_name() {
    let rows = [(Some("a"), Some(0), None, "{"), (None, Some(0), Some("one"), "}")];
    assert_eq!(calls(&rows), [call("a", "one", "{}")]);
    assert_eq!(calls(&[(Some("a"), None, None, "{}")]), [call("a", "", "{}")]);
}

#[test]
fn repeated_arguments_count_once() {
    let (mut open, mut out) = (ToolCallAssembler::default(), Vec::new());
    let piece = ToolCallFragment { key: Some("a"), tool: Some("one"), ..ToolCallFragment::default() };
    open.push_call_fragment(ToolCallFragment { arguments: "{\"x\"", ..piece }, &mut out);
    open.push_complete_call(ToolCallFragment { arguments: "{\"x\":1}", ..piece }, &mut out);
    open.push_complete_call(ToolCallFragment { arguments: "{\"x\":1}", ..piece }, &mut out);
    let texts = ["{\"x\"", ":1}"].map(|text| Delta::Arguments { slot: 0, text: text.into() });
    assert_eq!(out[1..], texts);
}
