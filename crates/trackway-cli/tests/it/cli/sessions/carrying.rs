//! Sessions in files: bundles, Markdown, PDF.

use std::fs;

use super::with_ticket;
use crate::support::{Folder, Served};

fn export(folder: &Folder, format: &str) -> Vec<u8> {
    let file = folder.path().join(format);
    let name = file.to_str().unwrap();
    let args = ["sessions", "export", "ticket-7", "--out", name, "--format", format];
    folder.trackway(&args).expect(0);
    fs::read(file).unwrap()
}

/// Proves T16: beside a server on either side, too.
#[test]
fn a_bundle_carries_a_session_to_another_folder() {
    let (origin, other) = (with_ticket(), Folder::new());
    let _servers = [Served::start(&origin.data()), Served::start(&other.data())];
    let file = origin.path().join("session.json");
    let file = file.to_str().unwrap();
    let args = ["sessions", "export", "ticket-7", "--out", file, "--json"];
    let told = origin.trackway(&args).expect(0).json();
    let signer = told["signedBy"].as_str().unwrap();
    let foreign = ["sessions", "import", file, "--signed-by", &"0".repeat(32)];
    let refused = other.trackway(&foreign).expect(1);
    assert!(refused.stderr.contains("see: docs/errors/bad-bundle.md"), "{refused:?}");
    let import = ["sessions", "import", file, "--signed-by", signer, "--json"];
    let done = other.trackway(&import).expect(0).json();
    assert_eq!(done["imported"].as_array().unwrap().len(), 2);
    let again = other.trackway(&import).expect(0).json();
    assert_eq!(again["skipped"].as_array().unwrap().len(), 2);
    for command in ["show", "graph"] {
        let args = ["sessions", command, "ticket-7", "--json"];
        let (here, there) = (other.trackway(&args).expect(0), origin.trackway(&args).expect(0));
        assert_eq!(here.json(), there.json(), "{command}");
    }
    assert_eq!(export(&other, "markdown"), export(&origin, "markdown"));
    assert_eq!(export(&other, "pdf"), export(&origin, "pdf"));
}

/// Proves T16: told what is wrong, and nothing is written.
#[test]
fn a_damaged_bundle_is_refused() {
    let (origin, other) = (with_ticket(), Folder::new());
    let mut bundle = export(&origin, "bundle");
    let file = other.path().join("bad");
    let name = file.to_str().unwrap();
    let middle = bundle.len() / 2;
    bundle[middle] ^= 1;
    for content in [&bundle[..], b"", b"no bundle", &[0xff; 40]] {
        fs::write(&file, content).unwrap();
        let refused = other.trackway(&["sessions", "import", name]).expect(1);
        assert!(refused.stderr.contains("see: docs/errors/bad-bundle.md"), "{refused:?}");
    }
    other.trackway(&["sessions", "import", "nowhere"]).expect(1);
    assert_eq!(other.trackway(&["sessions", "list", "--json"]).expect(0).stdout, "[]\n");
}

/// Proves T16.
#[test]
fn pages_show_every_branch() {
    let folder = with_ticket();
    let page = String::from_utf8(export(&folder, "markdown")).unwrap();
    for text in [
        "# Session ticket-7",
        "## Session notes",
        "ask *Ada* first",
        "## Run of review",
        "### Branch 1 of 2",
        "first way",
        "half way",
        "### Branch 2 of 2, the newest",
        "Parts from branch 1 at step 1: Step a.",
        "##### Second",
        "\"verdict\": \"good\"",
        "| finding | id |",
        "| Größe ≠ 0 | 1 |",
        "(pending)",
    ] {
        assert!(page.contains(text), "{text:?} is missing in\n{page}");
    }
    assert!(export(&folder, "pdf").starts_with(b"%PDF-"));
}
