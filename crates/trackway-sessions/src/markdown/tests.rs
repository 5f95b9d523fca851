//! Pages and the texts inside them.

use super::{embedded_markdown::embed_markdown_below_heading, *};

/// Proves T16: foreign headings stay below ours, and a foreign text cannot hide the rest of the page.
#[test]
fn notes_keep_their_form_and_leave_the_page_alone() {
    let rows = [
        ("plain *text*", "plain *text*"),
        ("# One\n\ntext\n\n## Two", "##### One\n\ntext\n\n###### Two"),
        ("###### Deep", "###### Deep"),
        ("Under\nlined\n===\n\ntext", "##### Under lined\n\ntext"),
        ("# ", "##### "),
        ("```sh\n# no heading\n```", "```sh\n# no heading\n```"),
        ("- # In a list\n- b", "- ##### In a list\n- b"),
        ("```\nopen", "````markdown\n```\nopen\n````"),
        ("<!-- open", "```markdown\n<!-- open\n```"),
        ("[x]: https://evil.example", "```markdown\n[x]: https://evil.example\n```"),
        ("<script>\n\nx", "```markdown\n<script>\n\nx\n```"),
    ];
    for (markdown, expected) in rows {
        assert_eq!(embed_markdown_below_heading(markdown, 4), expected, "{markdown:?}");
    }
}

#[test]
fn values_are_tables_lists_and_text() {
    use serde_json::json;
    let rows = [
        (
            json!({ "a": "x|y", "b": 1, "c": "\\|" }),
            "| Field | Value |\n| --- | --- |\n| a | x\\|y |\n| b | 1 |\n| c | \\\\\\| |\n",
        ),
        (
            json!([{ "id": 1 }, { "id": 2, "note": "two\nlines" }]),
            "| id | note |\n| --- | --- |\n| 1 |  |\n| 2 | two<br>lines |\n",
        ),
        (json!(["one", { "a": [1] }]), "- one\n- {\"a\":[1]}\n"),
        (json!([]), "(empty)"),
        (json!("text"), "text"),
    ];
    for (value, expected) in rows {
        assert_eq!(markdown_values::format_document_value(&value), expected, "{value}");
    }
}
