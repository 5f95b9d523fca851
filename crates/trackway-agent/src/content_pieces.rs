//! Converts parts of messages and results into pieces that a model accepts. Every part reaches the
//! model: unchanged if the model can read it, else as a line that describes it.
//!
//! Images always become separate pieces. [`replace_images_with_text`] removes them from a request for a
//! model that does not accept images, so that the record is still useful for the next model.

mod file_pieces;
pub(crate) mod media_type;
mod parts_json;
pub(crate) mod text_truncation;

use serde_json::Value;
use trackway_domain::{FileSource, Message, MessagePartContent, MessageRole, Part};

use crate::{ContentPiece, ConversationEntry};

pub use parts_json::parts_to_json;

/// Longest text of one part: a quarter of a usual context window. No model reads longer text as a
/// whole; a tool should return it page by page.
/// Limit (Agents): text of one part that a model is given.
pub const PART_BYTES_MAX: usize = 128 * 1024;

/// Longest text of one message or result, for all parts together: half of a usual context window.
/// Limit (Agents): text of one message or result that a model is given.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// Parts of one message or result that the model receives. Each costs a line even if it is empty.
/// Limit (Agents): parts of one message or result that a model is given.
pub const PARTS_MAX: usize = 256;

/// Images of one message or result. Providers reject requests with very many.
/// Limit (Agents): images of one message or result that a model is given.
pub const IMAGES_MAX: usize = 16;

/// Largest image, in bytes: the smallest limit of all providers.
/// Limit (Agents): one image that a model is given.
pub const IMAGE_BYTES_MAX: usize = 5 * 1024 * 1024;

/// Parts of a message as pieces, in their order.
pub fn pieces_from_parts(parts: &[Part]) -> Vec<ContentPiece> {
    let mut writer = ContentPieceBuilder::default();
    writer.push_parts(parts);
    writer.pieces
}

/// The parts of a user's message. A file is named as the index of artifacts names it, so that the model can pass
/// the name to tools.
pub fn pieces_from_message(message: &Message) -> Vec<ContentPiece> {
    let mut parts = message.parts.clone();
    for (number, part) in (0..).zip(&mut parts) {
        if let MessagePartContent::File(file) = &mut part.content
            && matches!(file.source, FileSource::Base64(_))
            && message.role == MessageRole::User
        {
            file.name = Some(trackway_engine::attachment_filename(number, file).into());
        }
    }
    pieces_from_parts(&parts)
}

/// One text within the limit of a part. A note in the text marks a cut.
pub(crate) fn truncate_to_part_limit(text: &str) -> String {
    text_truncation::truncate_text_with_note(text, PART_BYTES_MAX)
}

/// The user's request: the parts of the message, or the input of a run that no message started. An
/// input `{"prompt": text, …}` becomes the text of its prompt.
pub fn pieces_from_user_input(message: Option<&Message>, input: &Value) -> Vec<ContentPiece> {
    if let Some(message) = message {
        return pieces_from_message(message);
    }
    match (input, input.get("prompt")) {
        (_, Some(Value::String(prompt))) => pieces_from_parts(&[Part::text(prompt)]),
        (Value::String(text), _) => pieces_from_parts(&[Part::text(text)]),
        _ => pieces_from_parts(&[Part::data(input.clone())]),
    }
}

/// A tool's result as pieces: its parts, or its value if it has none. A text value is used unchanged,
/// other values become JSON.
pub fn pieces_from_tool_result(value: &Value, parts: &[Part]) -> Vec<ContentPiece> {
    let mut writer = ContentPieceBuilder::default();
    match value {
        _ if !parts.is_empty() => writer.push_parts(parts),
        Value::String(text) => writer.push_text_piece(text),
        value => writer.push_text_piece(&value.to_string()),
    }
    writer.pieces
}

/// Only the images among the parts, each with a line that names it. This is for a result whose JSON
/// already describes all parts.
pub fn image_pieces_from_parts(parts: &[Part]) -> Vec<ContentPiece> {
    let mut writer = ContentPieceBuilder::default();
    for part in parts {
        if let MessagePartContent::File(file) = &part.content
            && file_pieces::is_image_file(file)
        {
            writer.push_part(part);
        }
    }
    writer.pieces
}

/// Replaces every image with a line.
pub fn replace_images_with_text(entries: &mut [ConversationEntry]) {
    for entry in entries {
        let (ConversationEntry::User { pieces } | ConversationEntry::Result { pieces, .. }) = entry else {
            continue;
        };
        for piece in pieces {
            if let ContentPiece::Image { media_type, .. } = piece {
                let line = format!("({media_type} left out: this model does not take images)");
                *piece = ContentPiece::Text(line);
            }
        }
    }
}

/// Writes pieces within the limits of a message.
#[derive(Debug, Default)]
struct ContentPieceBuilder {
    pieces: Vec<ContentPiece>,
    room: text_truncation::TextBudget,
    images: usize,
}

impl ContentPieceBuilder {
    fn push_parts(&mut self, parts: &[Part]) {
        for part in parts.iter().take(PARTS_MAX) {
            self.push_part(part);
        }
        if let Some(line) = text_truncation::omitted_parts_line(parts.len()) {
            self.push_text_piece(&line);
        }
    }

    fn push_part(&mut self, part: &Part) {
        match &part.content {
            MessagePartContent::Text(text) => self.push_text_piece(text),
            MessagePartContent::Data(value) => {
                self.push_text_piece(&text_truncation::fence_as_code_block("json", &value.to_string()))
            }
            MessagePartContent::File(file) => file_pieces::push_file_pieces(file, self),
        }
    }

    /// Adds a text within the limits. A note marks a cut.
    fn push_text_piece(&mut self, text: &str) {
        self.pieces.push(ContentPiece::Text(self.room.truncate_to_budget(text)));
    }

    /// Adds an image, or a note that says why not.
    fn push_image_piece(&mut self, media_type: &str, bytes: usize, base64: String) {
        if bytes > IMAGE_BYTES_MAX {
            self.push_text_piece(&format!("(left out: images may have {IMAGE_BYTES_MAX} bytes)"));
        } else if self.images == IMAGES_MAX {
            self.push_text_piece(&format!("(left out: {IMAGES_MAX} images are shown at once)"));
        } else {
            self.images += 1;
            self.pieces.push(ContentPiece::Image { media_type: media_type.to_owned(), base64 });
        }
    }
}

#[cfg(test)]
mod tests;
