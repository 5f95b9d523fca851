//! Values that a run already got, offered as defaults if it asks for them again.

use std::collections::HashMap;

use serde_json::{Map, Value};
use trackway::api::QuestionView;
use trackway_domain::{InterruptReason, RunId};

/// The named values of each followed run, from its input and its answers.
#[derive(Debug, Default)]
pub(crate) struct PreviousInputs {
    runs: HashMap<RunId, Map<String, Value>>,
}

impl PreviousInputs {
    /// Records values that the run got.
    pub(crate) fn record_run_input(&mut self, run: RunId, input: &Value) {
        if let Value::Object(input) = input {
            let known = self.runs.entry(run).or_default();
            known.extend(input.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// The run has ended.
    pub(crate) fn forget_run_inputs(&mut self, run: RunId) {
        self.runs.remove(&run);
    }

    /// The defaults for a question: no value that was just refused, and no values at all for an
    /// authorization.
    pub(crate) fn defaults_for_question(&self, run: RunId, question: &QuestionView) -> Map<String, Value> {
        let known = self.runs.get(&run).filter(|_| question.reason == InterruptReason::InputRequired);
        let mut known = known.cloned().unwrap_or_default();
        for error in &question.errors {
            let name = error.path.trim_start_matches('/').split('/').next().unwrap_or_default();
            known.remove(name);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trackway_domain::ValidationError;

    use super::*;

    const RUN: &str = "run_00000000000000000000000000000001";

    fn question_with_refused_fields(reason: InterruptReason, refused: &[&str]) -> QuestionView {
        let error = |path: &&str| ValidationError {
            path: (*path).to_owned(),
            code: "minimum".into(),
            message: "too small".into(),
            expected: json!(1),
            got: None,
            hint: None,
        };
        QuestionView {
            id: "qst_00000000000000000000000000000001".parse().unwrap(),
            reason,
            prompt: Vec::new(),
            schema: json!({}),
            errors: refused.iter().map(error).collect(),
        }
    }

    #[test]
    fn values_are_offered_unless_they_were_refused_or_somebody_signs() {
        let run: RunId = RUN.parse().unwrap();
        let mut known = PreviousInputs::default();
        known.record_run_input(run, &json!({ "wallet": "0x1", "amount": 1 }));
        known.record_run_input(run, &json!({ "amount": 0 }));
        known.record_run_input(run, &json!("no object"));
        for (question, expected) in [
            (
                question_with_refused_fields(InterruptReason::InputRequired, &[]),
                json!({ "wallet": "0x1", "amount": 0 }),
            ),
            (
                question_with_refused_fields(InterruptReason::InputRequired, &["/amount"]),
                json!({ "wallet": "0x1" }),
            ),
            (question_with_refused_fields(InterruptReason::AuthRequired, &[]), json!({})),
        ] {
            assert_eq!(Value::Object(known.defaults_for_question(run, &question)), expected);
        }
        known.forget_run_inputs(run);
        assert!(
            known
                .defaults_for_question(
                    run,
                    &question_with_refused_fields(InterruptReason::InputRequired, &[])
                )
                .is_empty()
        );
    }
}
