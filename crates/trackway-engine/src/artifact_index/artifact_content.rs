//! How large the parts of an artifact are as the bytes of a file, without making the bytes: texts as they are,
//! files as their bytes, and data as JSON, on a line of its own if something precedes it.

use std::io;

use trackway_domain::{File, FileSource, MessagePartContent, Part};

/// Bytes that these parts add to a file; `grows` if other parts precede them.
pub(super) fn content_size_bytes(parts: &[Part], grows: bool) -> u64 {
    let sizes = parts.iter().enumerate().map(|(index, part)| match &part.content {
        MessagePartContent::Text(text) => text.len() as u64,
        MessagePartContent::Data(value) => json_size_bytes(value) + u64::from(grows || index > 0),
        MessagePartContent::File(file) => file_size_bytes(file),
    });
    sizes.sum()
}

/// Bytes of a file; 0 if only its address is known.
pub(super) fn file_size_bytes(file: &File) -> u64 {
    match &file.source {
        // Four letters are three bytes; what fills the last four up stands for nothing.
        FileSource::Base64(text) => text.bytes().filter(|byte| *byte != b'=').count() as u64 * 3 / 4,
        FileSource::Uri(_) => 0,
    }
}

fn json_size_bytes(value: &serde_json::Value) -> u64 {
    /// Counts what is written to it.
    struct ByteCount(u64);

    impl io::Write for ByteCount {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = ByteCount(0);
    // Neither the value nor the counter can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
