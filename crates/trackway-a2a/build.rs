//! Turns the `.proto` files into Rust: the services and messages of both generations, the descriptors
//! for reflection, and clients for the tests.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;

const FILES: [&str; 2] = ["lf.a2a.v1.proto", "a2a.v1.proto"];

#[expect(clippy::disallowed_methods, reason = "Cargo tells where to write by the environment")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let descriptors = protox::compile(FILES, ["proto"])?;
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    let clients = out.join("client");
    fs::create_dir_all(&clients)?;
    // Maps in order: the same message is always the same bytes.
    let shared = || tonic_prost_build::configure().btree_map(".");
    shared().build_client(false).compile_fds(descriptors.clone())?;
    shared().build_server(false).out_dir(clients).compile_fds(descriptors)?;
    Ok(())
}
