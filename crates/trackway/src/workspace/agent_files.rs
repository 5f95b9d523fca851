//! `agents/*.md`: each file is an agent. The front matter is its spec, and the body is its prompt.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use trackway_agent::{AgentSkill, AgentSpec, CALLS_DEFAULT, TOOL_CALLS_DEFAULT, ToolPermission, TurnBudgets};
use trackway_definition::nearest_known_word;
use trackway_runtime::ProgramInfo;

use super::front_matter::{FrontMatter, escape_pointer_token, split_front_matter};
use crate::workspace::{
    env_reference::EnvLookup,
    finding::{Finding, FindingLevel},
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
pub struct AgentFile {
    pub spec: AgentSpec,
    /// None for the built-in agent.
    pub file: Option<PathBuf>,
    /// The lines of its keys, by dotted key.
    pub lines: BTreeMap<String, u32>,
}

/// The agents of a workspace in the order of their files, and the findings about the files.
pub(super) fn load_agent_files(workspace: &Path, variables: EnvLookup<'_>) -> (Vec<AgentFile>, Vec<Finding>) {
    let (mut agents, mut findings): (Vec<AgentFile>, _) = (Vec::new(), Vec::new());
    let folder = workspace.join(FOLDER);
    for file in list_agent_files(&folder, &mut findings) {
        let agent = match fs::read_to_string(&file) {
            Ok(text) => parse_agent_file(&file, &text, variables, &mut findings),
            Err(error) => {
                let unread = Finding::error_finding(format!("it cannot be read: {error}"));
                findings.push(unread.located_in_file(&file));
                continue;
            }
        };
        let Some(agent) = agent else { continue };
        match agents.iter().find(|other| other.spec.name == agent.spec.name) {
            None => agents.push(agent),
            Some(other) => {
                let other = other.file.as_deref().unwrap_or(Path::new(""));
                let why = format!("{} has the name {:?} too", other.display(), agent.spec.name);
                findings.push(agent.finding_at_key("name", FindingLevel::Error, why));
            }
        }
    }
    (agents, findings)
}

/// The files, by name. Other entries become findings.
fn list_agent_files(folder: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let unread = Finding::error_finding(format!("it cannot be read: {error}"));
            findings.push(unread.located_in_file(folder));
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
            findings.push(Finding::new(FindingLevel::Unused, why).located_in_file(&path));
        }
    }
    files.sort();
    files
}

/// Reads one file. None if it has no name or cannot be read at all.
fn parse_agent_file(
    file: &Path,
    text: &str,
    variables: EnvLookup<'_>,
    findings: &mut Vec<Finding>,
) -> Option<AgentFile> {
    let Some((head, body)) = split_front_matter(text) else {
        let why = "an agent's file begins with a line `---`, its settings, and another line `---`";
        let finding =
            Finding::error_finding("there is no front matter").located_in_file(file).located_at_line(Some(1));
        findings.push(finding.with_suggestion(why));
        return None;
    };
    let mut front = match FrontMatter::parse_front_matter(file, &head, variables) {
        Ok(front) => front,
        Err(finding) => {
            findings.push(finding);
            return None;
        }
    };
    let keys = front.read_object_keys("", Some(KEYS));
    let name = agent_name_or_file_name(&mut front, file);
    let spec = AgentSpec {
        description: front.read_nonempty_text_at("/description").unwrap_or_else(|| match &name {
            Some(name) => format!("The agent {name}."),
            None => String::new(),
        }),
        name: name.clone().unwrap_or_default(),
        model: front.read_nonempty_text_at("/model"),
        tools: front.read_text_list("/tools").unwrap_or_default(),
        workflows: front.read_text_list("/workflows").unwrap_or_else(|| vec!["*".to_owned()]),
        peers: front.read_text_list("/peers").unwrap_or_default(),
        approvals: parse_tool_approvals(&mut front),
        budgets: parse_turn_budgets(&mut front),
        model_timeout: front.read_positive_count("/model_timeout"),
        first_answer_timeouts: parse_first_answer_timeouts(&mut front),
        skills: parse_agent_skills(&mut front),
        prompt: body.trim().to_owned(),
    };
    if spec.prompt.len() > PROMPT_BYTES_MAX {
        let why = format!("its prompt is larger than {PROMPT_BYTES_MAX} bytes");
        front.findings.push(Finding::error_finding(why).located_in_file(file));
    }
    let lines = front_matter_key_lines(&front, &keys, &spec);
    findings.append(&mut front.findings);
    name.map(|_| AgentFile { spec, file: Some(file.to_owned()), lines })
}

/// The name in the front matter, otherwise the name of the file.
fn agent_name_or_file_name(front: &mut FrontMatter<'_>, file: &Path) -> Option<String> {
    let named = match front.value_at_pointer("/name") {
        Some(_) => front.read_nonempty_text_at("/name")?,
        None => file.file_stem().map(|stem| stem.to_string_lossy().into_owned())?,
    };
    if !ProgramInfo::is_valid_program_name(&named) {
        let why = format!("{named:?} cannot name an agent");
        let finding = front.finding_at_pointer("/name", why);
        front.findings.push(
            finding.with_suggestion("use letters, digits, `-`, `_` and single dots inside, at most 64"),
        );
        return None;
    }
    Some(named)
}

fn parse_tool_approvals(front: &mut FrontMatter<'_>) -> BTreeMap<String, ToolPermission> {
    const CHOICES: [(&str, ToolPermission); 3] =
        [("allow", ToolPermission::Allow), ("ask", ToolPermission::Ask), ("deny", ToolPermission::Deny)];
    // The earlier names of these values.
    const EARLIER: [(&str, &str); 2] = [("always", "allow"), ("never", "deny")];
    let mut approvals = BTreeMap::new();
    for tool in front.read_object_keys("/approvals", None) {
        let at = format!("/approvals/{}", escape_pointer_token(&tool));
        let Some(written) = front.read_text_at(&at) else { continue };
        match CHOICES.iter().find(|(name, _)| *name == written) {
            Some((_, approval)) => drop(approvals.insert(tool, *approval)),
            None => {
                let finding = front.finding_at_pointer(&at, format!("it is {written:?}"));
                let earlier = EARLIER.iter().find(|(name, _)| *name == written);
                let meant = match earlier {
                    Some((_, name)) => Some(*name),
                    None => nearest_known_word(&written, CHOICES.map(|(name, _)| name)),
                };
                front.findings.push(match meant {
                    Some(meant) => finding.with_nearest_name_suggestion(Some(meant)),
                    None => finding.with_suggestion("write allow, ask or deny"),
                });
            }
        }
    }
    approvals
}

fn parse_turn_budgets(front: &mut FrontMatter<'_>) -> TurnBudgets {
    front.read_object_keys("/budgets", Some(&["calls", "tool_calls", "tokens", "seconds", "cost"]));
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let calls = front.read_positive_count("/budgets/calls");
    let tool_calls = front.read_positive_count("/budgets/tool_calls");
    TurnBudgets {
        calls: calls.map_or(CALLS_DEFAULT, small),
        tool_calls: tool_calls.map_or(TOOL_CALLS_DEFAULT, small),
        tokens: front.read_positive_count("/budgets/tokens"),
        seconds: front.read_positive_count("/budgets/seconds"),
        cost: front.read_money_amount("/budgets/cost"),
    }
}

/// Longest wait for a first answer, in seconds; as in `trackway.toml`.
///
/// Limit (Agents): seconds that a dispatch may wait for a first answer.
const FIRST_ANSWER_SECONDS_MAX: u64 = 60 * 60;

fn parse_first_answer_timeouts(front: &mut FrontMatter<'_>) -> BTreeMap<String, u64> {
    let mut timeouts = BTreeMap::new();
    for workflow in front.read_object_keys("/first_answer_timeouts", None) {
        let at = format!("/first_answer_timeouts/{}", escape_pointer_token(&workflow));
        match front.read_positive_count(&at) {
            None => {}
            Some(seconds) if seconds > FIRST_ANSWER_SECONDS_MAX => {
                let why = format!("it is at most {FIRST_ANSWER_SECONDS_MAX} seconds");
                front.report_finding_at::<()>(&at, why);
            }
            Some(seconds) => drop(timeouts.insert(workflow, seconds)),
        }
    }
    timeouts
}

fn parse_agent_skills(front: &mut FrontMatter<'_>) -> Vec<AgentSkill> {
    let mut skills = Vec::new();
    for index in 0..front.list_item_count("/skills") {
        let at = format!("/skills/{index}");
        front.read_object_keys(&at, Some(&["name", "description", "tags", "examples"]));
        for needed in ["name", "description"] {
            if front.value_at_pointer(&format!("{at}/{needed}")).is_none() {
                front.report_finding_at::<()>(&at, format!("it needs `{needed}`"));
            }
        }
        let name = front.read_nonempty_text_at(&format!("{at}/name"));
        let description = front.read_nonempty_text_at(&format!("{at}/description"));
        let tags = front.read_text_list(&format!("{at}/tags")).unwrap_or_default();
        let examples = front.read_text_list(&format!("{at}/examples")).unwrap_or_default();
        if let Some((name, description)) = name.zip(description) {
            skills.push(AgentSkill { name, description, tags, examples });
        }
    }
    skills
}

/// The lines of the keys that `check` looks at later, when all names are known.
fn front_matter_key_lines(
    front: &FrontMatter<'_>,
    keys: &[String],
    spec: &AgentSpec,
) -> BTreeMap<String, u32> {
    let mut lines = BTreeMap::new();
    let mut put = |key: String, pointer: &str| {
        if let Some(line) = front.line_of_pointer(pointer) {
            lines.insert(key, line);
        }
    };
    for key in keys {
        put(key.clone(), &format!("/{}", escape_pointer_token(key)));
    }
    for (list, items) in [("tools", &spec.tools), ("workflows", &spec.workflows), ("peers", &spec.peers)] {
        for index in 0..items.len() {
            put(format!("{list}[{index}]"), &format!("/{list}/{index}"));
        }
    }
    put("budgets.cost".to_owned(), "/budgets/cost");
    for workflow in spec.first_answer_timeouts.keys() {
        let key = format!("first_answer_timeouts.{workflow}");
        put(key, &format!("/first_answer_timeouts/{}", escape_pointer_token(workflow)));
    }
    for tool in spec.approvals.keys() {
        put(format!("approvals.{tool}"), &format!("/approvals/{}", escape_pointer_token(tool)));
    }
    lines
}

impl AgentFile {
    /// A finding about one of its keys.
    pub fn finding_at_key(&self, key: &str, level: FindingLevel, message: impl Into<String>) -> Finding {
        let finding = Finding::new(level, message).located_at_line(self.lines.get(key).copied());
        match &self.file {
            Some(file) => finding.located_in_file(file).located_at_key(key),
            None => finding.located_at_key(key),
        }
    }
}
