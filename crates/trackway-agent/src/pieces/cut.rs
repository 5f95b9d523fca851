//! Texts within bounds, and text that cannot break out of its fence.

/// The text, cut to about `room` bytes where it is longer; the cut is told in the text.
pub(crate) fn told(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let shown = text.floor_char_boundary(room);
    let all = text.len();
    if shown == 0 {
        return format!("(a part of {all} bytes is left out: the message is too long)");
    }
    format!("{}\n(cut here: {shown} of {all} bytes are shown)", &text[..shown])
}

/// The text in a fence that is longer than any inside of it.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}
