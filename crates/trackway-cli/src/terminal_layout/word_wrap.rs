//! Text that arrives in pieces, wrapped at words while it is printed.

use super::display_width;

/// The current column, and the last word, which the next piece may continue.
#[derive(Debug, Default)]
pub(crate) struct StreamingWordWrap {
    column: usize,
    /// Spaces that are printed once a word follows on the same line.
    spaces: usize,
    /// The word at the end of the line, as far as it is known.
    word: String,
}

impl StreamingWordWrap {
    /// What to write for the next piece. If the cursor can be moved, a word that becomes too long for its
    /// line moves to the next one.
    pub(crate) fn wrap_text_delta(&mut self, piece: &str, width: usize, can_move_cursor: bool) -> String {
        let mut out = String::new();
        for token in split_words_and_spaces(piece) {
            match token {
                "\n" => self.start_new_line(&mut out),
                token if token.starts_with(char::is_whitespace) => {
                    self.spaces += display_width(token).max(token.chars().count());
                    self.word.clear();
                }
                token => self.write_wrapped_token(token, width, can_move_cursor, &mut out),
            }
        }
        out
    }

    /// Other output has ended the line.
    pub(crate) fn reset_current_line(&mut self) {
        *self = Self::default();
    }

    fn start_new_line(&mut self, out: &mut String) {
        out.push('\n');
        self.reset_current_line();
    }

    fn write_wrapped_token(&mut self, token: &str, width: usize, can_move_cursor: bool, out: &mut String) {
        let (taken, added) = (display_width(&self.word), display_width(token));
        let is_first = self.column == taken;
        if self.column + self.spaces + added > width && !is_first {
            if taken == 0 {
                self.start_new_line(out);
            } else if can_move_cursor && taken + added <= width {
                let word = std::mem::take(&mut self.word);
                // Moves back to the beginning of the word and clears the rest of the line.
                out.push_str(&format!("\x1b[{taken}D\x1b[K"));
                self.start_new_line(out);
                out.push_str(&word);
                self.column = taken;
                self.word = word;
            }
        }
        out.push_str(&" ".repeat(self.spaces));
        out.push_str(token);
        self.column += std::mem::take(&mut self.spaces) + added;
        self.word.push_str(token);
    }
}

/// Line ends, runs of other spaces, and words.
fn split_words_and_spaces(text: &str) -> impl Iterator<Item = &str> {
    let kind = |c: char| match c {
        '\n' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = kind(rest.chars().next()?);
        let end = if first == 0 { 1 } else { rest.find(|c| kind(c) != first).unwrap_or(rest.len()) };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}
