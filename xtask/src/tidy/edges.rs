//! Which crate may depend on which. Edges run downwards only; a new one is a change of the
//! architecture and is made here, in view.

use super::Finding;
use super::manifest::{Kind, Manifest};
use super::tree::Tree;

/// A crate and what it may depend on, lowest crates first: every name on the right stands above.
/// Dev-dependencies are free, since tests look at the whole; the testkit is for them alone.
pub(super) const ALLOWED: &[(&str, &[&str])] = &[
    ("trackway-domain", &[]),
    ("trackway-documents", &[]),
    ("trackway-outgoing", &[]),
    ("trackway-engine", &["trackway-domain"]),
    ("trackway-ports", &["trackway-domain"]),
    ("trackway-definition", &["trackway-domain"]),
    ("trackway-http", &["trackway-domain", "trackway-ports"]),
    (
        "trackway-runtime",
        &["trackway-domain", "trackway-definition", "trackway-engine", "trackway-ports"],
    ),
    ("trackway-sqlite", &["trackway-domain", "trackway-ports"]),
    ("trackway-a2a-wire", &["trackway-domain"]),
    ("trackway-workflow", &["trackway-domain", "trackway-runtime"]),
    (
        "trackway-a2a",
        &[
            "trackway-a2a-wire",
            "trackway-domain",
            "trackway-engine",
            "trackway-http",
            "trackway-outgoing",
            "trackway-ports",
            "trackway-runtime",
        ],
    ),
    ("trackway-a2a-client", &["trackway-a2a-wire", "trackway-domain", "trackway-outgoing"]),
    (
        "trackway-mcp",
        &[
            "trackway-domain",
            "trackway-definition",
            "trackway-http",
            "trackway-ports",
            "trackway-runtime",
        ],
    ),
    (
        "trackway-agent",
        &[
            "trackway-domain",
            "trackway-definition",
            "trackway-engine",
            "trackway-outgoing",
            "trackway-ports",
            "trackway-runtime",
        ],
    ),
    (
        "trackway-sessions",
        &[
            "trackway-domain",
            "trackway-agent",
            "trackway-engine",
            "trackway-ports",
            "trackway-runtime",
        ],
    ),
    (
        "trackway-api",
        &[
            "trackway-domain",
            "trackway-agent",
            "trackway-engine",
            "trackway-http",
            "trackway-ports",
            "trackway-runtime",
            "trackway-sessions",
        ],
    ),
    (
        "trackway",
        &[
            "trackway-domain",
            "trackway-definition",
            "trackway-engine",
            "trackway-outgoing",
            "trackway-ports",
            "trackway-runtime",
            "trackway-sqlite",
            "trackway-http",
            "trackway-a2a",
            "trackway-agent",
            "trackway-api",
            "trackway-mcp",
            "trackway-sessions",
            "trackway-workflow",
        ],
    ),
    (
        "trackway-testkit",
        &[
            "trackway",
            "trackway-domain",
            "trackway-definition",
            "trackway-engine",
            "trackway-ports",
            "trackway-runtime",
            "trackway-sqlite",
            "trackway-a2a",
        ],
    ),
    (
        "trackway-cli",
        &[
            "trackway",
            "trackway-domain",
            "trackway-agent",
            "trackway-definition",
            "trackway-documents",
            "trackway-engine",
            "trackway-mcp",
            "trackway-outgoing",
            "trackway-ports",
            "trackway-runtime",
            "trackway-sqlite",
            "trackway-a2a",
        ],
    ),
    ("xtask", &[]),
    ("xtask-grpc", &[]),
];

/// An embedder uses the authoring library and nothing behind it.
const ALLOWED_EXAMPLES: &[&str] = &["trackway"];

/// Crates that must build and be tested in seconds, and what they are therefore kept free of,
/// in their tests too.
const LIGHT: &[&str] = &["trackway-domain", "trackway-engine"];
const HEAVY: &[&str] = &["tokio", "axum", "rusqlite", "reqwest"];

pub(super) fn run_downward(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::members(tree) {
        let path = &manifest.file.path;
        let Some(allowed) = allowed(&manifest) else {
            let message =
                format!("`{}` is not in the table in xtask/src/tidy/edges.rs", manifest.name());
            findings.push(Finding::new(path, 1, message));
            continue;
        };
        for dependency in manifest.dependencies() {
            let exempt = dependency.kind == Kind::Dev || !is_ours(dependency.name);
            if exempt || allowed.contains(&dependency.name) {
                continue;
            }
            let message = match dependency.name {
                "trackway-testkit" => {
                    "only tests may use the testkit: make it a dev-dependency".to_owned()
                }
                other => format!(
                    "`{}` must not depend on `{other}`: edges run downwards",
                    manifest.name()
                ),
            };
            findings.push(Finding::new(path, dependency.line, message));
        }
    }
    findings
}

pub(super) fn core_stays_light(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::members(tree) {
        if !LIGHT.contains(&manifest.name()) {
            continue;
        }
        for dependency in manifest.dependencies() {
            if HEAVY.contains(&dependency.name) {
                let message =
                    format!("`{}` is kept free of `{}`", manifest.name(), dependency.name);
                findings.push(Finding::new(&manifest.file.path, dependency.line, message));
            }
        }
    }
    findings
}

fn allowed(manifest: &Manifest<'_>) -> Option<&'static [&'static str]> {
    if manifest.file.path.starts_with("examples/") {
        return Some(ALLOWED_EXAMPLES);
    }
    let row = ALLOWED.iter().find(|(name, _)| *name == manifest.name())?;
    Some(row.1)
}

fn is_ours(name: &str) -> bool {
    name == "xtask" || name == "trackway" || name.starts_with("trackway-")
}
