//! `agents/*.md`: each file is an agent. The front matter is its spec, and the body is its prompt.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use trackway_agent::{AgentSpec, Approval, Budgets, CALLS_DEFAULT, Skill, TOOL_CALLS_DEFAULT};
use trackway_definition::nearest;
use trackway_runtime::ProgramInfo;

use super::front::{Front, escaped, split};
use crate::workspace::{
    finding::{Finding, Level},
    reference::Variables,
};

pub const FOLDER: &str = "agents";

/// Keys of the front matter.
const KEYS: &[&str] = &[
    "name",
    "description",
    "model",
    "tools",
    "workflows",
    "peers",
    "approvals",
    "budgets",
    "model_timeout",
    "first_answer_timeouts",
    "skills",
];

/// Largest prompt, in bytes. It is sent with every call and kept in the store; a longer one is probably a
/// document in the wrong folder.
/// Limit (CLI): prompt of an agent.
const PROMPT_BYTES_MAX: usize = 256 * 1024;

/// An agent and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub spec: AgentSpec,
    /// None for the built-in agent.
    pub file: Option<PathBuf>,
    /// The lines of its keys, by dotted key.
    pub lines: BTreeMap<String, u32>,
}

/// The agents of a workspace in the order of their files, and the findings about the files.
pub(super) fn read(workspace: &Path, variables: Variables<'_>) -> (Vec<Agent>, Vec<Finding>) {
    let (mut agents, mut findings): (Vec<Agent>, _) = (Vec::new(), Vec::new());
    let folder = workspace.join(FOLDER);
    for file in files(&folder, &mut findings) {
        let agent = match fs::read_to_string(&file) {
            Ok(text) => parse(&file, &text, variables, &mut findings),
            Err(error) => {
                let unread = Finding::error(format!("it cannot be read: {error}"));
                findings.push(unread.file(&file));
                continue;
            }
        };
        let Some(agent) = agent else { continue };
        match agents.iter().find(|other| other.spec.name == agent.spec.name) {
            None => agents.push(agent),
            Some(other) => {
                let other = other.file.as_deref().unwrap_or(Path::new(""));
                let why = format!("{} has the name {:?} too", other.display(), agent.spec.name);
                findings.push(agent.at("name", Level::Error, why));
            }
        }
    }
    (agents, findings)
}

/// The files, by name. Other entries become findings.
fn files(folder: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let unread = Finding::error(format!("it cannot be read: {error}"));
            findings.push(unread.file(folder));
            return Vec::new();
        }
    };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        // Editors and version control create hidden files.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.extension().is_some_and(|extension| extension == "md") && !path.is_dir() {
            files.push(path);
        } else {
            let why = "it is not read: agents are the files *.md of this folder itself";
            findings.push(Finding::new(Level::Unused, why).file(&path));
        }
    }
    files.sort();
    files
}

/// Reads one file. None if it has no name or cannot be read at all.
fn parse(
    file: &Path,
    text: &str,
    variables: Variables<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Agent> {
    let Some((head, body)) = split(text) else {
        let why = "an agent's file begins with a line `---`, its settings, and another line `---`";
        let finding = Finding::error("there is no front matter").file(file).line(Some(1));
        findings.push(finding.suggest(why));
        return None;
    };
    let mut front = match Front::read(file, &head, variables) {
        Ok(front) => front,
        Err(finding) => {
            findings.push(finding);
            return None;
        }
    };
    let keys = front.keys("", Some(KEYS));
    let name = name(&mut front, file);
    let spec = AgentSpec {
        description: front.some("/description").unwrap_or_else(|| match &name {
            Some(name) => format!("The agent {name}."),
            None => String::new(),
        }),
        name: name.clone().unwrap_or_default(),
        model: front.some("/model"),
        tools: front.texts("/tools").unwrap_or_default(),
        workflows: front.texts("/workflows").unwrap_or_else(|| vec!["*".to_owned()]),
        peers: front.texts("/peers").unwrap_or_default(),
        approvals: approvals(&mut front),
        budgets: budgets(&mut front),
        model_timeout: front.count("/model_timeout"),
        first_answer_timeouts: first_answer_timeouts(&mut front),
        skills: skills(&mut front),
        prompt: body.trim().to_owned(),
    };
    if spec.prompt.len() > PROMPT_BYTES_MAX {
        let why = format!("its prompt is larger than {PROMPT_BYTES_MAX} bytes");
        front.findings.push(Finding::error(why).file(file));
    }
    let lines = lines(&front, &keys, &spec);
    findings.append(&mut front.findings);
    name.map(|_| Agent { spec, file: Some(file.to_owned()), lines })
}

/// The name in the front matter, otherwise the name of the file.
fn name(front: &mut Front<'_>, file: &Path) -> Option<String> {
    let named = match front.get("/name") {
        Some(_) => front.some("/name")?,
        None => file.file_stem().map(|stem| stem.to_string_lossy().into_owned())?,
    };
    if !ProgramInfo::can_name(&named) {
        let why = format!("{named:?} cannot name an agent");
        let finding = front.at("/name", why);
        front.findings.push(
            finding.suggest("use letters, digits, `-`, `_` and single dots inside, at most 64"),
        );
        return None;
    }
    Some(named)
}

fn approvals(front: &mut Front<'_>) -> BTreeMap<String, Approval> {
    const CHOICES: [(&str, Approval); 3] =
        [("allow", Approval::Allow), ("ask", Approval::Ask), ("deny", Approval::Deny)];
    // The earlier names of these values.
    const EARLIER: [(&str, &str); 2] = [("always", "allow"), ("never", "deny")];
    let mut approvals = BTreeMap::new();
    for tool in front.keys("/approvals", None) {
        let at = format!("/approvals/{}", escaped(&tool));
        let Some(written) = front.text(&at) else { continue };
        match CHOICES.iter().find(|(name, _)| *name == written) {
            Some((_, approval)) => drop(approvals.insert(tool, *approval)),
            None => {
                let finding = front.at(&at, format!("it is {written:?}"));
                let earlier = EARLIER.iter().find(|(name, _)| *name == written);
                let meant = match earlier {
                    Some((_, name)) => Some(*name),
                    None => nearest(&written, CHOICES.map(|(name, _)| name)),
                };
                front.findings.push(match meant {
                    Some(meant) => finding.meant(Some(meant)),
                    None => finding.suggest("write allow, ask or deny"),
                });
            }
        }
    }
    approvals
}

fn budgets(front: &mut Front<'_>) -> Budgets {
    front.keys("/budgets", Some(&["calls", "tool_calls", "tokens", "seconds", "cost"]));
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let calls = front.count("/budgets/calls");
    let tool_calls = front.count("/budgets/tool_calls");
    Budgets {
        calls: calls.map_or(CALLS_DEFAULT, small),
        tool_calls: tool_calls.map_or(TOOL_CALLS_DEFAULT, small),
        tokens: front.count("/budgets/tokens"),
        seconds: front.count("/budgets/seconds"),
        cost: front.amount("/budgets/cost"),
    }
}

/// Longest wait for a first answer, in seconds; as in `trackway.toml`.
///
/// Limit (Agents): seconds that a dispatch may wait for a first answer.
const FIRST_ANSWER_SECONDS_MAX: u64 = 60 * 60;

fn first_answer_timeouts(front: &mut Front<'_>) -> BTreeMap<String, u64> {
    let mut timeouts = BTreeMap::new();
    for workflow in front.keys("/first_answer_timeouts", None) {
        let at = format!("/first_answer_timeouts/{}", escaped(&workflow));
        match front.count(&at) {
            None => {}
            Some(seconds) if seconds > FIRST_ANSWER_SECONDS_MAX => {
                let why = format!("it is at most {FIRST_ANSWER_SECONDS_MAX} seconds");
                front.wrong::<()>(&at, why);
            }
            Some(seconds) => drop(timeouts.insert(workflow, seconds)),
        }
    }
    timeouts
}

fn skills(front: &mut Front<'_>) -> Vec<Skill> {
    let mut skills = Vec::new();
    for index in 0..front.items("/skills") {
        let at = format!("/skills/{index}");
        front.keys(&at, Some(&["name", "description", "tags", "examples"]));
        for needed in ["name", "description"] {
            if front.get(&format!("{at}/{needed}")).is_none() {
                front.wrong::<()>(&at, format!("it needs `{needed}`"));
            }
        }
        let name = front.some(&format!("{at}/name"));
        let description = front.some(&format!("{at}/description"));
        let tags = front.texts(&format!("{at}/tags")).unwrap_or_default();
        let examples = front.texts(&format!("{at}/examples")).unwrap_or_default();
        if let Some((name, description)) = name.zip(description) {
            skills.push(Skill { name, description, tags, examples });
        }
    }
    skills
}

/// The lines of the keys that `check` looks at later, when all names are known.
fn lines(front: &Front<'_>, keys: &[String], spec: &AgentSpec) -> BTreeMap<String, u32> {
    let mut lines = BTreeMap::new();
    let mut put = |key: String, pointer: &str| {
        if let Some(line) = front.line(pointer) {
            lines.insert(key, line);
        }
    };
    for key in keys {
        put(key.clone(), &format!("/{}", escaped(key)));
    }
    for (list, items) in
        [("tools", &spec.tools), ("workflows", &spec.workflows), ("peers", &spec.peers)]
    {
        for index in 0..items.len() {
            put(format!("{list}[{index}]"), &format!("/{list}/{index}"));
        }
    }
    put("budgets.cost".to_owned(), "/budgets/cost");
    for workflow in spec.first_answer_timeouts.keys() {
        let key = format!("first_answer_timeouts.{workflow}");
        put(key, &format!("/first_answer_timeouts/{}", escaped(workflow)));
    }
    for tool in spec.approvals.keys() {
        put(format!("approvals.{tool}"), &format!("/approvals/{}", escaped(tool)));
    }
    lines
}

impl Agent {
    /// A finding about one of its keys.
    pub fn at(&self, key: &str, level: Level, why: impl Into<String>) -> Finding {
        let finding = Finding::new(level, why).line(self.lines.get(key).copied());
        match &self.file {
            Some(file) => finding.file(file).key(key),
            None => finding.key(key),
        }
    }
}
