//! Texts within limits, and text that cannot break out of its fence.

use super::{MESSAGE_BYTES_MAX, PART_BYTES_MAX, PARTS_MAX};

/// The remaining room for the text of one message or result.
#[derive(Debug)]
pub(super) struct TextBudget {
    left: usize,
}

impl Default for TextBudget {
    fn default() -> Self {
        Self { left: MESSAGE_BYTES_MAX }
    }
}

impl TextBudget {
    /// The text, cut to the remaining room. A note in the text marks a cut.
    pub(super) fn truncate_to_budget(&mut self, text: &str) -> String {
        let text = truncate_text_with_note(text, PART_BYTES_MAX.min(self.left));
        self.left = self.left.saturating_sub(text.len());
        text
    }

    /// Whether there is room for something that cannot be cut. If so, it uses that room.
    pub(super) fn try_reserve_bytes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= PART_BYTES_MAX.min(self.left);
        if fits {
            self.left -= bytes;
        }
        fits
    }
}

/// The note about the parts after the last included one.
pub(super) fn omitted_parts_line(parts: usize) -> Option<String> {
    let more = parts.checked_sub(PARTS_MAX).filter(|more| *more > 0)?;
    Some(format!("({more} more parts are left out)"))
}

/// The text, cut to about `room` bytes if it is longer. A note in the text marks the cut.
pub(crate) fn truncate_text_with_note(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let shown = text.floor_char_boundary(max_bytes);
    let all = text.len();
    if shown == 0 {
        return format!("(a part of {all} bytes is left out: the message is too long)");
    }
    format!("{}\n(cut here: {shown} of {all} bytes are shown)", &text[..shown])
}

/// The text in a fence that is longer than any fence inside it.
pub(crate) fn fence_as_code_block(language: &str, text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}
