//! Texts that would break the block of tokens, or that look like a token.

use super::*;

/// Proves T7: everything that a prompt leaves open is closed before the next text.
#[test]
fn open_markdown_is_closed() {
    let rows = [
        ("plain", "plain"),
        ("```\nwhole\n```\n", "```\nwhole\n```"),
        ("Run:\n```sh\nls", "Run:\n```sh\nls\n```"),
        ("~~~~\nls", "~~~~\nls\n~~~~"),
        ("````\n```\nls", "````\n```\nls\n````"),
        // A list ends with its lines, and so does its code.
        ("- one\n  ```\n  ls", "- one\n  ```\n  ls"),
        ("<!-- later", "```\n<!-- later\n```"),
        ("<!-- ```", "````\n<!-- ```\n````"),
    ];
    for (text, expected) in rows {
        assert_eq!(close_unclosed_markdown(text), expected, "{text}");
        assert!(is_markdown_closed(&close_unclosed_markdown(text)), "{text}");
    }
}

/// Proves T7: a token appears once, and no other line looks like one.
#[test]
fn only_the_tokens_below_are_tokens() {
    let other = format!("st.v1.{}", "0".repeat(85));
    let tokens =
        SignedTokens { state: format!("st.v1.{}", "1".repeat(85)), ack: Some("ack.v1.a".to_owned()) };
    let text = format!("```\n{other}\n```\n> `{other}`\nsee {other}\n{}\nack.v1.a\n", tokens.state);
    assert_eq!(
        mask_tokens_in_text(&text, &tokens),
        format!(
            "```\n{NOT_A_TOKEN_PREFIX}{other}\n```\n{NOT_A_TOKEN_PREFIX}> `{other}`\nsee {other}\n(the stateToken below)\n(the ackToken below)\n"
        )
    );
}
