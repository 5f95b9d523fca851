//! A caller's message: an answer to a question, or a message for the history.

use trackway_domain::{
    AnswerRequest, Event, LateAnswer, MessageDelivery, ParsedAnswer, QuestionId, StateName,
};

use super::new_message_id;
use crate::{
    CommandRefusal, CommandReply, Decision, DecisionEffect, DecisionEnv, MessageDeliveryOutcome,
    QuestionRecord, Run, parse_question_answer,
};

/// This function orders the requests to one question. The first valid one resumes the run. Every other
/// request gets its order and what is wrong with it.
pub(super) fn decide_message_delivery(
    run: &Run,
    delivery: MessageDelivery,
    env: DecisionEnv<'_>,
) -> Result<Decision, CommandRefusal> {
    let state = run.state.name();
    if run.imported {
        return Err(CommandRefusal::NotAdopted);
    }
    let Some(question) = target_question_of_delivery(run, &delivery) else {
        if state.is_terminal() {
            return Err(CommandRefusal::Ended { state });
        }
        let events = vec![Event::Noted { message: delivery.message }];
        return Ok(Decision {
            events,
            reply: CommandReply::Delivered(MessageDeliveryOutcome::Noted),
            ..Decision::default()
        });
    };
    let asked = run.questions.get(&question).ok_or(CommandRefusal::UnknownQuestion(question))?;
    let replaces = is_parked_on_unreadable_answer(run, asked);
    let open = replaces || run.state.open_question().is_some_and(|open| open.id == question);
    if state.is_terminal() && !asked.answered {
        // The run ended before the question had an answer.
        return Err(CommandRefusal::Ended { state });
    }
    // A recorded event may still lead the program to another path. An answer that is accepted now
    // might then be acknowledged and never used.
    if open && !delivery.is_program_idle {
        return Err(CommandRefusal::ProgramNotIdle);
    }
    Ok(decide_question_answer(run, asked, delivery, (open, replaces), env))
}

/// The question that the message is checked against: the named one, the open one, or, while the run
/// continues after it, the last one, answered or withdrawn.
fn target_question_of_delivery(run: &Run, delivery: &MessageDelivery) -> Option<QuestionId> {
    let open = || run.state.open_question().map(|question| question.id);
    let last = || run.last_question.filter(|_| run.state.name() == StateName::Working);
    delivery.question.or_else(open).or_else(last)
}

/// Whether the run is parked because its program cannot read the answer to this question. Another
/// answer can then replace it.
fn is_parked_on_unreadable_answer(run: &Run, question: &QuestionRecord) -> bool {
    let last = run.last_question == Some(question.question.id);
    let blamed = run.parked.as_ref().is_some_and(|evidence| {
        evidence.asked.is_none() && evidence.recorded.as_deref() == Some(&question.op.to_string())
    });
    last && blamed && question.answered && run.state.name() == StateName::Working
}

fn decide_question_answer(
    run: &Run,
    record: &QuestionRecord,
    delivery: MessageDelivery,
    (open, replaces): (bool, bool),
    env: DecisionEnv<'_>,
) -> Decision {
    let question = &record.question;
    let order = record.requests + 1;
    let concurrent = record.answered || delivery.has_concurrent;
    let awaited_by = delivery.awaited_by;
    let read = delivery.parsed_answer.filter(|reading| reading.question == question.id);
    let request = AnswerRequest { question: question.id, message: delivery.message, order, concurrent };
    let ParsedAnswer { input, problems, .. } = match read {
        Some(reading) => *reading,
        None => {
            let workflow = &run.submission.workflow;
            parse_question_answer(workflow, question, &request.message.parts, env.schemas)
        }
    };
    let primary = open && problems.is_empty();
    let reply = CommandReply::Delivered(MessageDeliveryOutcome::Answer {
        question: question.id,
        order,
        concurrent,
        primary,
        problems: problems.clone(),
    });
    let (event, effects) = if !open {
        (Event::LateAnswer(LateAnswer { request, problems }), Vec::new())
    } else if primary {
        (Event::Resumed { request, input, awaited_by, replaces }, vec![DecisionEffect::Drive])
    } else if replaces {
        (Event::LateAnswer(LateAnswer { request, problems }), Vec::new())
    } else {
        let question = question.clone();
        (Event::Refused { request, problems, question, message_id: new_message_id(env) }, Vec::new())
    };
    Decision { events: vec![event], effects, reply }
}
