//! Results in the forms that servers send.

use serde_json::json;
use trackway_domain::MessagePartContent;

use super::*;

fn read(value: Value) -> Result<ToolOutput, Failure> {
    to_tool_output("s", serde_json::from_value(value).unwrap())
}

#[test]
fn text_is_the_value() {
    let output = read(json!({"content": [
        {"type": "text", "text": "one"}, {"type": "text", "text": "two"}
    ]}))
    .unwrap();
    assert_eq!(output, ToolOutput::from(json!("one\ntwo")));
}

#[test]
fn structured_content_is_the_value_and_its_copy_in_text_is_not_shown_twice() {
    let output = read(json!({
        "content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}
    }))
    .unwrap();
    assert_eq!(output, ToolOutput::from(json!({"n": 1})));
}

/// Images and links reach the model together with the text.
#[test]
fn files_are_parts_with_everything_else() {
    let output = read(json!({"content": [
        {"type": "text", "text": "a picture"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"},
        {"type": "resource", "resource": {"uri": "x:y", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "x:z", "blob": "aGk=", "mimeType": "a/b"}}
    ]}))
    .unwrap();
    assert_eq!(output.value, json!("a picture"));
    assert_eq!(output.parts.len(), 5);
    assert_eq!(output.parts[0], Part::text("a picture"));
    let MessagePartContent::File(image) = &output.parts[1].content else { panic!("it is not a file") };
    assert_eq!(image.mime_type.as_deref(), Some("image/png"));
    assert_eq!(image.source, FileSource::Base64("aGk=".to_owned()));
    let MessagePartContent::File(link) = &output.parts[2].content else { panic!("it is not a file") };
    assert_eq!(link.source, FileSource::Uri("file:///a.txt".to_owned()));
    assert_eq!(output.parts[3], Part::text("inside").with_metadata("uri", "x:y"));
}

/// A model receives only the parts, so nothing may be missing or duplicated in them.
#[test]
fn structured_content_beside_an_image_is_shown_once() {
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let value = json!({"n": 1});
    let table = [
        (vec![image.clone()], vec![Part::data(value.clone())]),
        (vec![text("{ \"n\": 1 }"), image.clone()], vec![Part::text("{ \"n\": 1 }")]),
        (vec![text("one"), image], vec![Part::data(value.clone()), Part::text("one")]),
    ];
    for (content, shown) in table {
        let output = read(json!({"content": content, "structuredContent": value})).unwrap();
        assert_eq!(output.value, value);
        let (image, others) = output.parts.split_last().unwrap();
        assert!(matches!(image.content, MessagePartContent::File(_)));
        assert_eq!(others, shown);
    }
}

#[test]
fn a_failure_has_the_text_of_the_server() {
    let failure =
        read(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true})).unwrap_err();
    assert_eq!(failure.message, "no such file");
    let failure = read(json!({"content": [], "isError": true})).unwrap_err();
    assert!(failure.message.contains("`s` says that it failed"), "{failure:?}");
}

#[test]
fn a_result_that_is_too_large_says_so() {
    let text = "x".repeat(RESULT_BYTES_MAX + 1);
    let failure = read(json!({"content": [{"type": "text", "text": text}]})).unwrap_err();
    assert!(failure.message.contains("bytes; at most"), "{failure:?}");
}
