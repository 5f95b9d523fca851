//! Writes the Rust code of the `.proto` files of `trackway-a2a`.

#![expect(clippy::print_stderr, reason = "a developer's tool: it says what it wrote")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use prost::Message as _;

const FILES: [&str; 2] = ["lf.a2a.v1.proto", "a2a.v1.proto"];

/// Where the `.proto` files are; what is generated goes into a folder of it.
const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/trackway-a2a/proto");

fn main() -> Result<()> {
    let folder = Path::new(PROTO).join("generated");
    let files = generate()?;
    for (name, bytes) in &files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
    }
    eprintln!("Wrote {} files of crates/trackway-a2a/proto/generated.", files.len());
    Ok(())
}

/// The files by their names below the folder.
fn generate() -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let descriptors = protox::compile(FILES, [PROTO])?;
    let scratch = tempfile::tempdir()?;
    let servers = scratch.path();
    let clients = servers.join("client");
    fs::create_dir(&clients)?;
    // Maps in order: the same message is always the same bytes.
    let shared = || tonic_prost_build::configure().btree_map(".");
    shared().build_client(false).out_dir(servers).compile_fds(descriptors.clone())?;
    shared().build_server(false).out_dir(&clients).compile_fds(descriptors.clone())?;
    let mut files = BTreeMap::new();
    for folder in [servers, &clients] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() {
                files.insert(path.strip_prefix(servers)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    files.insert("descriptors.bin".into(), descriptors.encode_to_vec());
    Ok(files)
}

#[cfg(test)]
mod tests;
