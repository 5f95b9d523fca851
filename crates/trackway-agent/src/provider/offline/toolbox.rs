//! The tools of a request, as a user names them: workflows by their own names, the others by theirs.

use std::sync::Arc;

use crate::{
    conversation::ToolSpec,
    toolset::{DISPATCH_PREFIX, REPLY_TOOL, STATUS_TOOL},
};

/// The name that a user knows a tool by.
pub(super) fn spoken(tool: &str) -> &str {
    tool.strip_prefix(DISPATCH_PREFIX).unwrap_or(tool)
}

pub(super) fn is_workflow(tool: &ToolSpec) -> bool {
    tool.name.starts_with(DISPATCH_PREFIX)
}

/// Whether words that fit may call it; every tool can be called by its name. People answer tasks by
/// answering: they do not know the ids that this tool wants.
pub(super) fn is_for_words(tool: &ToolSpec) -> bool {
    tool.name != REPLY_TOOL && tool.name != STATUS_TOOL
}

/// The tool that a user means by a name. Workflows come first.
pub(super) fn find<'a>(tools: &'a [Arc<ToolSpec>], name: &str) -> Option<&'a ToolSpec> {
    // Tool names have no dots; workflow names may.
    let wanted = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
    let tools = || tools.iter().map(AsRef::as_ref);
    let of = |matches: &dyn Fn(&ToolSpec) -> bool| tools().find(|tool| matches(tool));
    of(&|tool| is_workflow(tool) && spoken(&tool.name) == wanted)
        .or_else(|| of(&|tool| tool.name == name))
        .or_else(|| of(&|tool| spoken(&tool.name).eq_ignore_ascii_case(&wanted)))
}
