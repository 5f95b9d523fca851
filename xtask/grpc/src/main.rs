//! Writes the Rust types of the messages in the `.proto` files of `trackway-a2a`.

#![expect(clippy::print_stderr, reason = "a developer's tool: it says what it wrote")]

use std::{collections::BTreeMap, ffi::OsString, fs, path::Path};

use anyhow::{Context, Result};
use prost::Message as _;

const FILES: [&str; 2] = ["lf.a2a.v1.proto", "a2a.v1.proto"];

/// The folder of the `.proto` files; generated files go into a subfolder.
const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/trackway-a2a/proto");

fn main() -> Result<()> {
    let folder = Path::new(PROTO).join("generated");
    let files = generate()?;
    for (name, bytes) in &files {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
    }
    eprintln!("Wrote {} files of crates/trackway-a2a/proto/generated.", files.len());
    Ok(())
}

/// The files by their names in the folder.
fn generate() -> Result<BTreeMap<OsString, Vec<u8>>> {
    let descriptors = protox::compile(FILES, [PROTO])?;
    let scratch = tempfile::tempdir()?;
    prost_build::Config::new()
        // Ordered maps: the same message always has the same bytes.
        .btree_map(["."])
        .out_dir(scratch.path())
        .compile_fds(descriptors.clone())?;
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&scratch)? {
        let entry = entry?;
        files.insert(entry.file_name(), fs::read(entry.path())?);
    }
    files.insert("descriptors.bin".into(), descriptors.encode_to_vec());
    Ok(files)
}

#[cfg(test)]
mod tests;
