//! The turn: a pure state machine between an agent, a model and tools. It performs no IO.
//!
//! The driver asks [`Turn::next`] for the next action, runs it, and gives the result to the turn, until
//! the turn is over:
//!
//! ```text
//! Ask     → the model is asked with `turn.request(offer)`      → turn.heard(recorded)
//! Call    → every waiting call is made, in any order           → turn.returned(call id, record)
//! Judge   → the value is checked against the output's schema   → turn.judge(problems)
//! Done, Limit, Failed: it is over
//! ```
//!
//! The inputs are the records of the log ([`crate::record`]): a turn that is driven again over its
//! recorded outcomes makes the same decisions. A compaction is applied with [`Turn::compact`] before a
//! request.
//!
//! The turn tracks calls only from the answer that made them until their results arrive (D6). Results
//! are matched by call id and are in the order of the calls (D7).

mod limit;
mod repair;
mod request;
mod waiting;

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{Problem, Timestamp};

use crate::{
    AgentSpec, Answer, Budgets, DISPATCH_PREFIX, Entry, Finish, Piece, Usage, compact,
    record::{self, ANSWER_CALLS_MAX, CallRecord, Compacted, Place, Recorded, Wait},
};

pub use limit::{Limit, Used};
pub use request::Offer;
pub use waiting::Waiting;

use repair::REPAIRS_MAX;
use waiting::Calls;
pub(crate) use waiting::entry as result_entry;

/// One turn of an agent: from a user's message to the end of the answer.
#[derive(Debug, Clone)]
pub struct Turn {
    prompt: String,
    budgets: Budgets,
    /// The conversation so far: earlier turns, then this one.
    entries: Vec<Entry>,
    state: State,
    /// The schema of the answer, if it must be more than text.
    output: Option<Value>,
    repairs: u32,
    used: Used,
    /// Text of this turn's answers, oldest first.
    said: Vec<String>,
    /// The model's reasoning before its answers, if it provides it.
    reasoned: Vec<String>,
    /// Calls of each tool in this turn.
    uses: BTreeMap<String, u32>,
}

/// Each state holds only its own data.
#[derive(Debug, Clone)]
enum State {
    /// Entered at the start, after the last result, or for a repair; left by an answer.
    Ready,
    /// Entered by an answer with calls; left by the last of their results.
    Calling(Calls),
    /// Entered by a final answer that is JSON; left by a judgement.
    Judging(Value),
    Over(Next),
}

/// The next action.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Call the model.
    Ask,
    /// These calls wait for their results, in the order in which the model made them. This includes
    /// calls whose arguments are not JSON; their result is [`record::broken_arguments`].
    Call(Vec<Waiting>),
    /// Check this value against the required schema.
    Judge(Value),
    Done(Done),
    /// A budget is used up. The limit prints as a sentence for the user.
    Limit(Limit),
    /// The model did not produce the required output.
    Failed(String),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The model's last text.
    pub text: String,
    /// The value that satisfies the schema, if one is required.
    pub output: Option<Value>,
    pub ending: Ending,
}

/// Why a turn ended. All but the first have a sentence for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model finished its answer.
    Said,
    /// The answer was cut off at the maximum length.
    Length,
    /// The provider withheld the answer.
    Filtered,
    /// The model gave no text in the whole turn.
    Silent,
}

impl Ending {
    /// A sentence for the user, in addition to the text.
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::Said => None,
            Self::Length => {
                Some("The answer ends here: it reached the longest that the model may give.")
            }
            Self::Filtered => Some("The model's provider held the answer back."),
            Self::Silent => Some("The model gave no answer."),
        }
    }
}

/// An input that the turn did not expect. The turn is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("no call {call:?} waits for a result (waiting: {})", if waiting.is_empty() { "none".to_owned() } else { waiting.join(", ") })]
    NotWaiting { call: String, waiting: Vec<String> },
    #[error("the model was not asked")]
    NotAsked,
    #[error("there is nothing to judge")]
    NothingToJudge,
}

impl Turn {
    /// Starts a turn. `history` is the result of [`crate::transcript()`] for earlier turns; `began` is
    /// the recorded time from which its seconds count.
    pub fn begin(
        spec: &AgentSpec,
        history: Vec<Entry>,
        user: Vec<Piece>,
        began: Timestamp,
    ) -> Self {
        let mut entries = history;
        entries.push(Entry::User { pieces: user });
        Self {
            prompt: spec.prompt.clone(),
            budgets: spec.budgets.clone(),
            entries,
            state: State::Ready,
            output: None,
            repairs: 0,
            used: Used::from(began),
            said: Vec::new(),
            reasoned: Vec::new(),
            uses: BTreeMap::new(),
        }
    }

    /// Requires the final answer to be JSON of this schema.
    #[must_use]
    pub fn expecting(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// The next action. It stays the same until the turn receives an input.
    pub fn next(&self) -> Next {
        match &self.state {
            // Budgets are checked only here, before a model call: pending calls are still made, and
            // existing text is still published.
            State::Ready => self.used.limit(&self.budgets).map_or(Next::Ask, Next::Limit),
            State::Calling(calls) => Next::Call(calls.waiting()),
            State::Judging(value) => Next::Judge(value.clone()),
            State::Over(end) => end.clone(),
        }
    }

    /// The current conversation.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Texts of this turn's answers so far, oldest first; answers without text have none.
    pub fn said(&self) -> &[String] {
        &self.said
    }

    /// Whether this turn called a workflow.
    pub fn has_dispatched(&self) -> bool {
        self.uses.keys().any(|tool| tool.starts_with(DISPATCH_PREFIX))
    }

    /// The model's reasoning in this turn so far, if it provides it, oldest first.
    pub fn reasoned(&self) -> &[String] {
        &self.reasoned
    }

    pub fn used(&self) -> &Used {
        &self.used
    }

    /// A rule requires this call. It is applied as if the model had made it, without a model call.
    pub fn given(&mut self, recorded: &Recorded) -> Result<(), TurnError> {
        if !matches!(self.state, State::Ready) {
            return Err(TurnError::NotAsked);
        }
        let place = Place { model_call: self.used.calls, index: 0 };
        self.used.give(recorded);
        self.take(&recorded.answer, place, usize::MAX);
        Ok(())
    }

    /// Applies the model's answer.
    pub fn heard(&mut self, recorded: &Recorded) -> Result<(), TurnError> {
        if !matches!(self.state, State::Ready) {
            return Err(TurnError::NotAsked);
        }
        let answer = &recorded.answer;
        let place = Place { model_call: self.used.calls, index: 0 };
        // If a server does not count tokens, they are estimated. Otherwise a token budget would never
        // be reached.
        let entries = &self.entries;
        self.used.add(recorded, || Usage {
            input_tokens: compact::estimate(entries),
            output_tokens: compact::estimate_text(&answer.text),
            ..Usage::default()
        });
        let left = self.budgets.tool_calls.saturating_sub(self.used.tool_calls);
        let room = ANSWER_CALLS_MAX.min(usize::try_from(left).unwrap_or(usize::MAX));
        let made = u32::try_from(answer.calls.len().min(room)).unwrap_or(u32::MAX);
        self.used.tool_calls = self.used.tool_calls.saturating_add(made);
        self.take(answer, place, room);
        Ok(())
    }

    /// `room` is the number of its calls that are made; the model receives an error for the others.
    fn take(&mut self, answer: &Answer, place: Place, room: usize) {
        let calls = record::calls_of(answer);
        if !answer.text.is_empty() {
            self.said.push(answer.text.clone());
        }
        if !answer.reasoning.is_empty() {
            self.reasoned.push(answer.reasoning.clone());
        }
        // Providers reject an empty entry.
        if !(answer.text.is_empty() && calls.is_empty()) {
            self.entries.push(Entry::Model { text: answer.text.clone(), calls: calls.clone() });
        }
        if calls.is_empty() {
            self.finish(answer);
        } else {
            self.state = State::Calling(Calls::new(place, calls, room, &mut self.uses));
            self.settle();
        }
    }

    /// Applies the result of a call. Results may arrive in any order.
    pub fn returned(&mut self, call: &str, result: CallRecord) -> Result<(), TurnError> {
        let State::Calling(calls) = &mut self.state else {
            return Err(TurnError::NotWaiting { call: call.to_owned(), waiting: Vec::new() });
        };
        let (ended_at, waits) = (result.ended_at, result.waits.clone());
        calls.returned(call, result)?;
        if let Some(moment) = ended_at {
            self.used.at(moment);
        }
        self.used.wait(waits);
        self.settle();
        Ok(())
    }

    /// The turn waited for people, but not in a call. This does not count as the turn's time.
    pub fn waited(&mut self, waits: impl IntoIterator<Item = Wait>) {
        self.used.wait(waits);
    }

    /// Applies a compaction. Only before a request, never between calls and their results.
    pub fn compact(&mut self, compacted: &Compacted) -> Result<(), TurnError> {
        if !matches!(self.state, State::Ready) {
            return Err(TurnError::NotAsked);
        }
        self.entries = compact::applied(compacted);
        if let Some(asked) = &compacted.asked {
            self.used.summed(asked);
        }
        if let Some(moment) = compacted.ended_at {
            self.used.at(moment);
        }
        Ok(())
    }

    /// Applies the problems of the value of [`Next::Judge`]; without problems the turn is done.
    pub fn judge(&mut self, problems: &[Problem]) -> Result<(), TurnError> {
        let State::Judging(value) = &self.state else {
            return Err(TurnError::NothingToJudge);
        };
        if problems.is_empty() {
            let text = self.said.last().cloned().unwrap_or_default();
            let output = Some(value.clone());
            self.state = State::Over(Next::Done(Done { text, output, ending: Ending::Said }));
        } else {
            self.repair(&repair::listed(problems));
        }
        Ok(())
    }

    /// When all results have arrived, they become entries in the order of the calls, and the calls are
    /// no longer tracked.
    fn settle(&mut self) {
        if let State::Calling(calls) = &mut self.state
            && let Some(results) = calls.settled()
        {
            self.entries.extend(results);
            self.state = State::Ready;
        }
    }

    /// An answer without calls ends the turn, unless it must be repaired.
    fn finish(&mut self, answer: &Answer) {
        let ending = match answer.finish {
            Finish::Length => Ending::Length,
            Finish::Filtered => Ending::Filtered,
            Finish::Stop | Finish::Calls if self.said.is_empty() => Ending::Silent,
            Finish::Stop | Finish::Calls => Ending::Said,
        };
        if self.output.is_some() {
            return self.finish_output(answer, ending);
        }
        let text = self.said.last().cloned().unwrap_or_default();
        self.state = State::Over(Next::Done(Done { text, output: None, ending }));
    }

    fn finish_output(&mut self, answer: &Answer, ending: Ending) {
        match ending {
            // A retry would end the same way.
            Ending::Length | Ending::Filtered => {
                let why = ending.sentence().unwrap_or_default();
                self.state = State::Over(Next::Failed(format!("There is no output. {why}")));
            }
            Ending::Said | Ending::Silent => match repair::read(&answer.text) {
                Ok(value) => self.state = State::Judging(value),
                Err(why) => self.repair(&why),
            },
        }
    }

    /// Sends the problems of its answer to the model for another attempt, a limited number of times.
    fn repair(&mut self, wrong: &str) {
        if self.repairs == REPAIRS_MAX {
            let tries = REPAIRS_MAX + 1;
            let why = format!(
                "The model's answer was not of the required form in {tries} tries: {wrong}"
            );
            self.state = State::Over(Next::Failed(why));
            return;
        }
        self.repairs += 1;
        self.entries.push(Entry::User { pieces: vec![Piece::Text(repair::plea(wrong))] });
        self.state = State::Ready;
    }
}

#[cfg(test)]
mod tests;
