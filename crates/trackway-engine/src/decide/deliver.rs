//! A caller's message: an answer to a question, or one for the history.

use trackway_domain::{Delivery, Event, Late, QuestionId, Resume, StateName};

use super::message_id;
use crate::{Asked, Decision, Delivered, Effect, Env, Refusal, Reply, Run, input_from_parts};

/// Requests at one question are ordered by this function: the first valid one resumes the run, and
/// every other is told its place and what would have been wrong with it.
pub(super) fn decide(run: &Run, delivery: Delivery, env: Env<'_>) -> Result<Decision, Refusal> {
    let state = run.state.name();
    if run.imported {
        return Err(Refusal::NotAdopted);
    }
    let Some(question) = target(run, &delivery) else {
        if state.is_terminal() {
            return Err(Refusal::Ended { state });
        }
        let events = vec![Event::Noted { message: delivery.message }];
        return Ok(Decision {
            events,
            reply: Reply::Delivered(Delivered::Noted),
            ..Decision::default()
        });
    };
    let asked = run.questions.get(&question).ok_or(Refusal::UnknownQuestion(question))?;
    let open = run.state.question().is_some_and(|open| open.id == question);
    if state.is_terminal() && !asked.answered {
        // Its run ended before anybody answered.
        return Err(Refusal::Ended { state });
    }
    // Something that is recorded already may have made the program take another way: an answer that is
    // taken now and not used would have been acknowledged for nothing.
    if open && !delivery.settled {
        return Err(Refusal::NotSettled);
    }
    Ok(judge(asked, delivery, open, env))
}

/// The question that a message is judged by: the named one, the open one, or, while the run works on
/// after it, the one that was put last, answered or withdrawn.
fn target(run: &Run, delivery: &Delivery) -> Option<QuestionId> {
    let open = || run.state.question().map(|question| question.id);
    let last = || run.last_question.filter(|_| run.state.name() == StateName::Working);
    delivery.question.or_else(open).or_else(last)
}

fn judge(asked: &Asked, delivery: Delivery, open: bool, env: Env<'_>) -> Decision {
    let question = &asked.question;
    let order = asked.requests + 1;
    let concurrent = asked.answered || delivery.others;
    let awaited_by = delivery.awaited_by;
    let resume = Resume { question: question.id, message: delivery.message, order, concurrent };
    let (input, problems) = match input_from_parts(&question.schema, &resume.message.parts) {
        Ok(input) => {
            let problems = env.schemas.check(&question.schema, &input);
            (input, problems)
        }
        Err(problem) => (serde_json::Value::Null, vec![*problem]),
    };
    let primary = open && problems.is_empty();
    let reply = Reply::Delivered(Delivered::Answer {
        question: question.id,
        order,
        concurrent,
        primary,
        problems: problems.clone(),
    });
    let (event, effects) = if !open {
        (Event::Late(Late { resume, problems }), Vec::new())
    } else if primary {
        (Event::Resumed { resume, input, awaited_by }, vec![Effect::Drive])
    } else {
        let question = question.clone();
        (Event::Refused { resume, problems, question, message_id: message_id(env) }, Vec::new())
    };
    Decision { events: vec![event], effects, reply }
}
