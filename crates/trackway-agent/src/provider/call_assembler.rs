//! The calls of one answer while it arrives. Decides which call a piece belongs to.
//!
//! Servers differ. Some give every call the `index` 0, some none at all, some no ids, some repeat an id
//! with every piece. A new id starts a call. Otherwise the piece belongs to the newest call with the
//! same index, or else to the last call. If there is neither id nor index, a tool's name starts a call
//! once the previous call is complete.

use serde::de::IgnoredAny;

use super::Delta;

/// A piece of a call, with the identifiers that the server sent.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ToolCallFragment<'a> {
    /// The identifier by which the server distinguishes calls.
    pub(super) key: Option<&'a str>,
    pub(super) index: Option<u64>,
    /// The id by which a result is matched.
    pub(super) id: Option<&'a str>,
    pub(super) tool: Option<&'a str>,
    pub(super) arguments: &'a str,
}

#[derive(Debug, Default)]
pub(super) struct ToolCallAssembler {
    calls: Vec<PartialToolCall>,
}

#[derive(Debug, Default)]
struct PartialToolCall {
    key: Option<String>,
    index: Option<u64>,
    id: Option<String>,
    /// The call is emitted once its name is known.
    tool: Option<String>,
    /// All arguments so far.
    arguments: String,
}

impl ToolCallAssembler {
    pub(super) fn has_no_calls(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds a piece, and returns its slot.
    pub(super) fn push_call_fragment(
        &mut self,
        fragment: ToolCallFragment<'_>,
        out: &mut Vec<Delta>,
    ) -> usize {
        let slot = self.find_or_open_call_slot(&fragment);
        self.calls[slot].append_call_fragment(slot, &fragment, out);
        slot
    }

    /// A complete call, from a server that repeats it or sends it only at the end.
    pub(super) fn push_complete_call(
        &mut self,
        fragment: ToolCallFragment<'_>,
        out: &mut Vec<Delta>,
    ) -> usize {
        let slot = self.find_or_open_call_slot(&ToolCallFragment { arguments: "", ..fragment });
        // Pieces that were already emitted are not changed.
        let rest = fragment.arguments.strip_prefix(self.calls[slot].arguments.as_str());
        let rest = ToolCallFragment { arguments: rest.unwrap_or_default(), ..fragment };
        self.calls[slot].append_call_fragment(slot, &rest, out);
        slot
    }

    /// Emits calls whose tool was never named. The model receives an unknown-tool error.
    pub(super) fn emit_unnamed_calls(&mut self, out: &mut Vec<Delta>) {
        for (slot, call) in self.calls.iter_mut().enumerate() {
            if call.tool.is_none() {
                call.emit_call_deltas(slot, "", out);
            }
        }
    }

    fn find_or_open_call_slot(&mut self, fragment: &ToolCallFragment<'_>) -> usize {
        let tool = non_empty_text(fragment.tool);
        let newest = |is_it: &dyn Fn(&PartialToolCall) -> bool| self.calls.iter().rposition(is_it);
        let found = if let Some(key) = non_empty_text(fragment.key) {
            // Some servers use one id for several calls; their indexes differ.
            let agrees = |index| fragment.index.is_none() || index == fragment.index;
            newest(&|call| call.key.as_deref() == Some(key) && agrees(call.index))
        } else {
            let indexed = fragment.index.and_then(|at| newest(&|call| call.index == Some(at)));
            let last = || self.calls.len().checked_sub(1);
            let opens = fragment.index.is_some() && tool.is_some();
            let meant = indexed.or_else(|| if opens { None } else { last() });
            meant.filter(|at| !self.calls[*at].is_followed_by_new_call(tool, fragment.arguments))
        };
        found.unwrap_or_else(|| {
            let key = non_empty_text(fragment.key).map(str::to_owned);
            self.calls.push(PartialToolCall { key, index: fragment.index, ..PartialToolCall::default() });
            self.calls.len() - 1
        })
    }
}

impl PartialToolCall {
    /// Whether a piece without an id starts the next call.
    fn is_followed_by_new_call(&self, tool: Option<&str>, arguments: &str) -> bool {
        match (&self.tool, tool) {
            (Some(own), Some(tool)) if own != tool => true,
            (Some(_), Some(_)) => {
                let whole = serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok();
                whole && !arguments.is_empty()
            }
            _ => false,
        }
    }

    fn append_call_fragment(&mut self, slot: usize, fragment: &ToolCallFragment<'_>, out: &mut Vec<Delta>) {
        if self.id.is_none() {
            self.id = non_empty_text(fragment.id).map(str::to_owned);
        }
        self.arguments.push_str(fragment.arguments);
        match non_empty_text(fragment.tool) {
            Some(tool) if self.tool.is_none() => self.emit_call_deltas(slot, tool, out),
            _ if self.tool.is_some() && !fragment.arguments.is_empty() => {
                out.push(Delta::Arguments { slot, text: fragment.arguments.to_owned() });
            }
            _ => {}
        }
    }

    fn emit_call_deltas(&mut self, slot: usize, tool: &str, out: &mut Vec<Delta>) {
        self.tool = Some(tool.to_owned());
        out.push(Delta::Call { slot, id: self.id.clone(), tool: tool.to_owned() });
        if !self.arguments.is_empty() {
            out.push(Delta::Arguments { slot, text: self.arguments.clone() });
        }
    }
}

fn non_empty_text(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
