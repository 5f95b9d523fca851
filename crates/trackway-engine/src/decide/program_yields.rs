//! What a program yields: status, artifact, question, reject.

use trackway_domain::{ChildOutcome, Event, Op, Question, QuestionId, StateName, Yield};

use super::{
    effects_of_run_end, new_agent_message, new_message_id, started_event_if_submitted, state_after_start,
};
use crate::{CommandRefusal, CommandReply, Decision, DecisionEffect, DecisionEnv, Run};

pub(super) fn decide_yield(
    run: &Run,
    op: Op,
    yielded: Yield,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    match yielded {
        Yield::Status { parts } => {
            let mut events = started_event_if_submitted(run)?;
            let message = new_agent_message(env, parts);
            events.push(Event::Status { op, state: state_after_start(run), message });
            Ok(Decision { events, ..Decision::default() })
        }
        Yield::Reference { run: other, parts, metadata } => {
            let mut events = started_event_if_submitted(run)?;
            let mut message = new_agent_message(env, parts);
            message.references.push(other.to_string());
            message.metadata = metadata;
            events.push(Event::Status { op, state: state_after_start(run), message });
            Ok(Decision { events, ..Decision::default() })
        }
        Yield::Answer { parts } => {
            let mut events = started_event_if_submitted(run)?;
            events.push(Event::Answered { op, parts });
            Ok(Decision { events, ..Decision::default() })
        }
        Yield::Artifact(chunk) => {
            let mut events = started_event_if_submitted(run)?;
            events.push(Event::Artifact { op, chunk });
            Ok(Decision { events, ..Decision::default() })
        }
        Yield::Interrupted { reason, prompt, schema, artifact, answer_type } => {
            let mut events = started_event_if_submitted(run)?;
            // The artifact comes first, so that a watcher of the question already has it.
            if let Some(artifact) = artifact {
                events.push(Event::Artifact { op: op.clone(), chunk: artifact.into() });
            }
            let id = QuestionId::new((env.ids)());
            let question = Question { id, reason, prompt, schema, answer_type };
            events.push(Event::Asked { op, question, message_id: new_message_id(env) });
            Ok(Decision { events, reply: CommandReply::Asked(id), ..Decision::default() })
        }
        Yield::Reject { reason } => {
            // No `Started` here: a run that rejects before anything else never enters `working`.
            started_event_if_submitted(run)?;
            let outcome = ChildOutcome {
                state: StateName::Rejected,
                output: serde_json::Value::Null,
                message: Some(reason.clone()),
            };
            let events = vec![Event::Rejected { reason, message_id: new_message_id(env) }];
            Ok(Decision { events, effects: effects_of_run_end(run, outcome, env), ..Decision::default() })
        }
    }
}

/// The program no longer waits for this answer. If the question has an answer by now, nothing
/// happens.
pub(super) fn withdraw_question(run: &Run, op: &Op) -> Decision {
    let open = run.state.open_question().map(|question| question.id);
    let open = open.filter(|id| run.questions.get(id).is_some_and(|asked| asked.op == *op));
    match open {
        Some(question) => Decision {
            events: vec![Event::Withdrawn { question }],
            effects: vec![DecisionEffect::Drive],
            ..Decision::default()
        },
        None => Decision::default(),
    }
}
