//! Files for a model: text is included, images are attached, any other file is only named.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use trackway_domain::{File, FileSource};

use super::{ContentPieceBuilder, media_type, text_truncation};

/// Longest name and media type that the model receives.
/// Limit (Agents): file name and media type that a model is given.
pub(super) const NAME_CHARS_MAX: usize = 200;

/// Image types that all providers support.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Senders may omit the padding; both forms mean the same bytes.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether the file can be attached as an image.
pub(super) fn is_image_file(file: &File) -> bool {
    matches!(file.source, FileSource::Base64(_)) && IMAGE_TYPES.contains(&&*file_media_type(file))
}

pub(super) fn push_file_pieces(file: &File, writer: &mut ContentPieceBuilder) {
    let essence = file_media_type(file);
    let base64 = match &file.source {
        FileSource::Uri(uri) => {
            let line = format!("{} is at {}", file_heading_line(file, None), to_single_line(uri, usize::MAX));
            return writer.push_text_piece(&line);
        }
        FileSource::Base64(base64) => base64,
    };
    let Ok(bytes) = LENIENT.decode(base64) else {
        let line = format!("{} is left out: its bytes are not base64.", file_heading_line(file, None));
        return writer.push_text_piece(&line);
    };
    let name = file_heading_line(file, Some(bytes.len()));
    if IMAGE_TYPES.contains(&&*essence) {
        writer.push_text_piece(&format!("{name}:"));
        return writer.push_image_piece(&essence, bytes.len(), general_purpose::STANDARD.encode(&bytes));
    }
    match String::from_utf8(bytes) {
        // A file without a type may or may not be text.
        Ok(text) if essence.is_empty() || media_type::is_text_media_type(&essence) => {
            writer.push_text_piece(&format!("{name}:\n{}", text_truncation::fence_as_code_block("", &text)));
        }
        Err(_) if media_type::is_text_media_type(&essence) => {
            writer.push_text_piece(&format!("{name} is left out: its text is not UTF-8."));
        }
        _ => writer.push_text_piece(&format!(
            "{name} is left out: it is neither text nor an image that can be shown."
        )),
    }
}

fn file_media_type(file: &File) -> String {
    media_type::media_type_essence(file.mime_type.as_deref().unwrap_or_default())
}

/// `File "notes.txt" (text/plain, 12 bytes)`, with the known properties.
fn file_heading_line(file: &File, bytes: Option<usize>) -> String {
    let name = file.name.as_deref().map(|name| format!(" {:?}", to_single_line(name, NAME_CHARS_MAX)));
    let media_type = file.mime_type.as_deref().map(|kind| to_single_line(kind, NAME_CHARS_MAX));
    let known: Vec<String> =
        media_type.into_iter().chain(bytes.map(|bytes| format!("{bytes} bytes"))).collect();
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    format!("File{}{known}", name.unwrap_or_default())
}

/// The text on one line, whatever the sender wrote.
pub(super) fn to_single_line(text: &str, chars_max: usize) -> String {
    let line = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(chars_max).collect()
}
