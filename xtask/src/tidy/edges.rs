//! Which crate may depend on which. Edges go downwards only; a new one is a change of the architecture, and
//! must be added here.

use super::Finding;
use super::manifest::{DependencyKind, Manifest};
use super::tree::Tree;

/// A crate and its allowed dependencies, without the prefix `trackway-`, lowest crates first: every name on
/// the right appears above. Dev-dependencies are free, because tests use the whole workspace; the testkit
/// is only for them.
pub(super) const ALLOWED: &[(&str, &str)] = &[
    ("domain", ""),
    ("documents", ""),
    ("outgoing", ""),
    ("engine", "domain"),
    ("ports", "domain"),
    ("definition", "domain"),
    ("http", "domain ports"),
    ("artifacts", "domain engine ports"),
    ("runtime", "domain definition engine ports"),
    ("sqlite", "domain ports"),
    ("a2a-wire", "domain"),
    ("workflow", "domain runtime"),
    ("a2a", "artifacts a2a-wire domain engine http outgoing ports runtime"),
    ("a2a-client", "a2a-wire domain outgoing"),
    ("mcp", "domain definition http ports runtime"),
    ("agent", "artifacts domain definition engine outgoing ports runtime"),
    ("mesh", "a2a-client artifacts domain engine outgoing ports runtime"),
    ("nats", "a2a-client domain outgoing runtime"),
    ("sessions", "domain agent engine ports runtime"),
    ("api", "domain agent artifacts engine http mesh ports runtime sessions"),
    (
        "trackway",
        "domain definition engine outgoing ports runtime sqlite \
         http a2a a2a-client agent api artifacts mcp mesh nats sessions workflow",
    ),
    ("testkit", "trackway domain definition engine ports runtime sqlite a2a"),
    (
        "cli",
        "trackway domain agent definition documents engine mcp mesh \
         outgoing ports runtime sqlite a2a",
    ),
    ("xtask", ""),
    ("xtask-grpc", ""),
];

/// An embedder uses only the authoring library.
const ALLOWED_EXAMPLES: &str = "trackway";

/// Crates that must build and be tested in seconds, and the dependencies that they must therefore avoid,
/// also in their tests.
const LIGHT: &[&str] = &["trackway-domain", "trackway-engine"];
const HEAVY: &[&str] = &["tokio", "axum", "rusqlite", "reqwest"];

pub(super) fn edges_run_downward(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::members(tree) {
        let path = &manifest.file.path;
        let Some(allowed) = allowed_dependencies(&manifest) else {
            let message = format!("`{}` is not in the table in xtask/src/tidy/edges.rs", manifest.name());
            findings.push(Finding::new(path, 1, message));
            continue;
        };
        for dependency in manifest.dependencies() {
            let exempt = dependency.kind == DependencyKind::Dev || !is_ours(dependency.name);
            if exempt || allowed.split(' ').any(|name| name == short(dependency.name)) {
                continue;
            }
            let message = match dependency.name {
                "trackway-testkit" => "only tests may use the testkit: make it a dev-dependency".to_owned(),
                other => format!("`{}` must not depend on `{other}`: edges run downwards", manifest.name()),
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
                let message = format!("`{}` is kept free of `{}`", manifest.name(), dependency.name);
                findings.push(Finding::new(&manifest.file.path, dependency.line, message));
            }
        }
    }
    findings
}

fn allowed_dependencies(manifest: &Manifest<'_>) -> Option<&'static str> {
    if manifest.file.path.starts_with("examples/") {
        return Some(ALLOWED_EXAMPLES);
    }
    let row = ALLOWED.iter().find(|(name, _)| *name == short(manifest.name()))?;
    Some(row.1)
}

fn short(name: &str) -> &str {
    name.strip_prefix("trackway-").unwrap_or(name)
}

fn is_ours(name: &str) -> bool {
    name == "xtask" || name == "trackway" || name.starts_with("trackway-")
}
