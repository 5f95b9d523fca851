//! Texts that would break the tokens' block, or that pass for a token.

use super::*;

/// Proves T7: whatever a prompt leaves open is closed before anything follows it.
#[test]
fn open_markdown_is_closed() {
    let rows = [
        ("plain", "plain"),
        ("```\nwhole\n```\n", "```\nwhole\n```"),
        ("Run:\n```sh\nls", "Run:\n```sh\nls\n```"),
        ("~~~~\nls", "~~~~\nls\n~~~~"),
        ("````\n```\nls", "````\n```\nls\n````"),
        // A list ends where its lines do, and its code with it.
        ("- one\n  ```\n  ls", "- one\n  ```\n  ls"),
        ("<!-- later", "```\n<!-- later\n```"),
        ("<!-- ```", "````\n<!-- ```\n````"),
    ];
    for (text, expected) in rows {
        assert_eq!(quote_markdown(text), expected, "{text}");
        assert!(is_markdown_closed(&quote_markdown(text)), "{text}");
    }
}

/// Proves T7: a token stands once, and nothing else stands alone on a line and looks like one.
#[test]
fn only_the_tokens_below_are_tokens() {
    let other = format!("st.v1.{}", "0".repeat(85));
    let tokens =
        SignedTokens { state: format!("st.v1.{}", "1".repeat(85)), ack: Some("ack.v1.a".to_owned()) };
    let text = format!("```\n{other}\n```\n> `{other}`\nsee {other}\n{}\nack.v1.a\n", tokens.state);
    assert_eq!(
        mask_tokens(&text, &tokens),
        format!(
            "```\n{NOT_A_TOKEN_PREFIX}{other}\n```\n{NOT_A_TOKEN_PREFIX}> `{other}`\nsee {other}\n(the stateToken below)\n(the ackToken below)\n"
        )
    );
}
