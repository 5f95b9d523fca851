//! Valid and invalid pages.

use super::*;

#[test]
fn a_page_is_its_title_and_its_words() {
    let html = "<!DOCTYPE html><html><head><title>A &amp; B</title><style>p{}</style></head>\
                <body><script>if (a<b) {}</script><h1>Hello</h1>\n<p>one  <b>two</b>\n three</p>\
                <ul><li>x<li>y</ul><table><tr><td>1</td><td>2</td></tr></table></body></html>";
    assert_eq!(html_to_text(html), "A & B\nHello\none two three\nx\ny\n1 2");
}

#[test]
fn entities_are_letters() {
    assert_eq!(html_to_text("&lt;b&gt; &#228; &#x20AC; &nope; & &#xD800;"), "<b> ä € &nope; & &#xD800;");
}

/// Pages are untrusted: none of these may cause a panic.
#[test]
fn broken_pages_are_read_as_far_as_they_go() {
    for (html, expected) in [
        ("", ""),
        ("<", "<"),
        ("a < b", "a < b"),
        ("<p", ""),
        ("<!-- never closed", ""),
        ("<!-- c -->x", "x"),
        ("<script>never closed", ""),
        ("<SCRIPT>x</Script>y", "y"),
        ("ä<ö>ü", "ä<ö>ü"),
        ("<title>", ""),
        ("&", "&"),
        ("&ä;", "&ä;"),
        ("&aaaaaaaaaaä;", "&aaaaaaaaaaä;"),
    ] {
        assert_eq!(html_to_text(html), expected, "{html}");
    }
}
