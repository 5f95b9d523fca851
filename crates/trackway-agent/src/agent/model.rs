//! Calls the model: one recorded step that includes its retries and streams the text as it arrives.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, future::BoxFuture};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::{Instrument as _, Span, field::Empty};
use trackway_domain::{Failure, SessionId};
use trackway_runtime::{Attempt, RetryPolicy, Stop};

use super::{
    drive::{Driver, recorded, stopped, to_outcome},
    reply,
    route::{self, Route, Routed},
    speaker::{self, Speaker, Speech},
    tasks,
};
use crate::{
    Answer, Approval, Call, Delta, Deltas, Gather, Limit, Model, ModelError, Offer, Provider,
    Recorded, Request, STATUS_TOOL, Stock, Turn, compact,
    conversation::OpenNote,
    provider::{Backoff, offline},
    record::{self, Asked, COMPACT_KEY, Compacted, MODEL_KEY},
    toolset,
};

/// The outcome of a turn's model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Heard {
    Answer(Box<Routed>),
    /// The turn's time ended before the answer was complete.
    Late {
        limit: String,
    },
}

impl Driver {
    /// Calls the model once, or returns its recorded answer.
    pub(super) async fn ask(&self, turn: &Turn) -> Result<Heard, Stop> {
        let mut work =
            |attempt: Attempt| -> BoxFuture<'_, _> { Box::pin(self.ask_now(turn, attempt)) };
        let (_, outcome) =
            self.stage.request_step(MODEL_KEY, RetryPolicy::default(), &mut work).await;
        recorded(outcome)
    }

    async fn ask_now(&self, turn: &Turn, attempt: Attempt) -> Result<Value, Failure> {
        let answered = self.answer(turn, &attempt);
        let heard = match self.time_left(turn) {
            None => answered.await.map(|routed| Heard::Answer(Box::new(routed))),
            Some((left, max)) => match tokio::time::timeout(left, answered).await {
                Ok(answered) => answered.map(|routed| Heard::Answer(Box::new(routed))),
                Err(_) => Ok(Heard::Late { limit: Limit::Seconds { max, used: max }.to_string() }),
            },
        };
        if !matches!(heard, Ok(Heard::Answer(_))) {
            // The answer is incomplete, so its streamed text is withdrawn.
            let step = attempt.op;
            speaker::take_back(&self.stage, Speech::Reasoning, step.clone(), turn.reasoned()).await;
            speaker::take_back(&self.stage, Speech::Text, step, turn.said()).await;
        }
        to_outcome(&heard?)
    }

    /// The time that the turn has left, and its total.
    fn time_left(&self, turn: &Turn) -> Option<(Duration, u64)> {
        let max = self.spec.budgets.seconds?;
        Some((Duration::from_secs(max).saturating_sub(turn.used().time()), max))
    }

    async fn answer(&self, turn: &Turn, attempt: &Attempt) -> Result<Routed, Failure> {
        let stock = self.workshop.stock();
        let model = self.model(&stock)?;
        let provider = &*model.provider;
        let tools = self.workshop.toolset(&self.spec, &stock, &self.stage.programs());
        let mut specs = tools.specs();
        let open = self.still_open().await?;
        let may_reply = route::reply_approval(&self.spec) != Approval::Deny;
        if may_reply && open.iter().any(|note| !note.person_only) {
            specs.push(Arc::new(reply::spec()));
        }
        if self.has_dispatched || turn.has_dispatched() {
            let approval = toolset::approval(&self.spec.approvals, [STATUS_TOOL, STATUS_TOOL]);
            specs.extend((approval != Approval::Deny).then(|| Arc::new(tasks::spec())));
        }
        let (ended, takes_images) = (self.ended.clone(), provider.takes_images());
        let offer = Offer { tools: specs, open, ended, takes_images };
        let request = turn.request(offer);
        // A value that must match a schema is published only as the output, once it matches.
        let speaker = |speech, before| {
            let step = attempt.op.clone();
            let speaker = || Speaker::new(&self.stage, speech, step, provider.label(), before);
            request.output.is_none().then(speaker)
        };
        let mut speakers = Speakers {
            text: speaker(Speech::Text, turn.said()),
            reasoning: speaker(Speech::Reasoning, turn.reasoned()),
        };
        let span = call_span(provider.label(), &self.spec.name, self.stage.session());
        let insisting = self.insist(provider, &request, attempt, &mut speakers);
        let answer = insisting.instrument(span.clone()).await?;
        note_answer(&span, &answer);
        for speaker in speakers.each() {
            speaker.close().await;
        }
        let calls = record::calls_of(&answer);
        let repeats = |name: &str| {
            let tool = stock.tools.iter().find(|tool| tool.info().name == name);
            tool.is_none_or(|tool| tool.can_be_repeated())
        };
        let is_said = |arguments: &Value| self.is_said(arguments);
        let route = |call: &Call| match Route::of(call, (&self.spec, &tools), &repeats, &is_said) {
            Route::Nowhere { why } => {
                Route::Nowhere { why: stock.why_missing(&call.tool).unwrap_or(why) }
            }
            route => route,
        };
        let routes = calls.iter().map(route).collect();
        Ok(Routed { recorded: self.recorded(model, answer), routes })
    }

    /// Questions from before this turn, in their current state. Some may have been answered since.
    async fn still_open(&self) -> Result<Vec<OpenNote>, Failure> {
        if self.asked.is_empty() {
            return Ok(Vec::new());
        }
        let questions = self.questions().await?;
        Ok(reply::notes(questions.iter().filter(|open| self.asked.contains(&open.question.id))))
    }

    /// Retries until there is a complete answer or another attempt is useless.
    async fn insist(
        &self,
        provider: &dyn Provider,
        request: &Request,
        attempt: &Attempt,
        speakers: &mut Speakers<'_>,
    ) -> Result<Answer, Failure> {
        let mut backoff = Backoff::new(spread(&attempt.idempotency_key));
        loop {
            let silence = self.spec.model_timeout.map(Duration::from_secs);
            let error = match listen(provider, request, silence, speakers).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(pause) = backoff.next(&error) else {
                return Err(Failure::new(format!("{}: {error}", provider.label())));
            };
            tracing::info!(model = provider.label(), %error, ?pause, "retrying the model call");
            speakers.each().for_each(Speaker::broke);
            tokio::time::sleep(pause).await;
        }
    }

    fn model<'a>(&self, stock: &'a Stock) -> Result<&'a Model, Failure> {
        stock.model(self.spec.model.as_deref()).map_err(|error| Failure::new(error.to_string()))
    }

    fn recorded(&self, model: &Model, answer: Answer) -> Recorded {
        let cost = model.price.zip(answer.usage).map(|(price, usage)| price.of(usage));
        let label = model.provider.label().to_owned();
        Recorded { answer, label, cost, ended_at: self.stage.moment() }
    }

    /// Shortens a conversation that is too long for the model, as a recorded step.
    pub(super) async fn compact(&self, turn: &mut Turn) -> Result<(), Stop> {
        let plan = match compact::plan(turn.entries(), compact::HISTORY_TOKENS_MAX) {
            Some(plan) => plan,
            // A check does not read the earlier turns, which caused the compaction.
            None if self.stage.check_holds_step(COMPACT_KEY) => compact::Plan::default(),
            None => return Ok(()),
        };
        let time = self.time_left(turn).map(|(left, _)| left);
        let mut work = |attempt: Attempt| -> BoxFuture<'_, Result<Value, Failure>> {
            Box::pin(self.compact_now(plan.clone(), time, attempt))
        };
        let (_, outcome) =
            self.stage.request_step(COMPACT_KEY, RetryPolicy::default(), &mut work).await;
        turn.compact(&recorded(outcome)?).map_err(stopped)
    }

    /// Asks the model for a summary of the removed part. If the turn's time runs out, that part is
    /// removed without a summary.
    async fn compact_now(
        &self,
        plan: compact::Plan,
        time: Option<Duration>,
        attempt: Attempt,
    ) -> Result<Value, Failure> {
        let stock = self.workshop.stock();
        let model = self.model(&stock)?;
        let provider = &*model.provider;
        let request = plan.request();
        let mut nobody = Speakers::default();
        let summing = self.insist(provider, &request, &attempt, &mut nobody);
        let summary = match time {
            _ if provider.label() == offline::LABEL => None,
            None => Some(summing.await?),
            Some(left) => tokio::time::timeout(left, summing).await.ok().transpose()?,
        };
        let mut compacted = match summary.map(|summary| self.recorded(model, summary)) {
            None => plan.dropped(),
            Some(Recorded { answer, label, cost, .. }) => Compacted {
                asked: Some(Asked { label, usage: answer.usage, cost }),
                ..plan.with_summary(&answer.text)
            },
        };
        compacted.ended_at = Some(self.stage.moment());
        compacted.to_value()
    }
}

/// Reads one answer to its end.
async fn listen(
    provider: &dyn Provider,
    request: &Request,
    silence: Option<Duration>,
    speakers: &mut Speakers<'_>,
) -> Result<Answer, ModelError> {
    let mut deltas = provider.ask(request);
    let mut gather = Gather::new();
    while let Some(delta) = next_delta(&mut deltas, silence).await? {
        gather.push(&delta);
        let (speaker, text) = match &delta {
            Delta::Text(text) => (&mut speakers.text, text),
            Delta::Reasoning(text) => (&mut speakers.reasoning, text),
            _ => continue,
        };
        if let Some(speaker) = speaker {
            speaker.say(text).await;
        }
    }
    Ok(gather.finish())
}

/// The next piece, unless the model is silent for too long.
async fn next_delta(
    deltas: &mut Deltas,
    silence: Option<Duration>,
) -> Result<Option<Delta>, ModelError> {
    let Some(silence) = silence else { return deltas.next().await.transpose() };
    match tokio::time::timeout(silence, deltas.next()).await {
        Ok(delta) => delta.transpose(),
        Err(_) => Err(ModelError::Silent { seconds: silence.as_secs() }),
    }
}

/// Streams an answer as it arrives; does nothing if the answer is not published.
#[derive(Default)]
struct Speakers<'a> {
    text: Option<Speaker<'a>>,
    reasoning: Option<Speaker<'a>>,
}

impl<'a> Speakers<'a> {
    fn each(&mut self) -> impl Iterator<Item = &mut Speaker<'a>> {
        self.reasoning.iter_mut().chain(&mut self.text)
    }
}

/// A span for one model call of a turn, with the names of OpenTelemetry's conventions.
fn call_span(label: &str, agent: &str, session: &SessionId) -> Span {
    let (provider, model) = label.split_once('/').unwrap_or((label, ""));
    tracing::info_span!(
        "chat",
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = provider,
        "gen_ai.request.model" = model,
        "gen_ai.agent.name" = agent,
        "gen_ai.conversation.id" = %session,
        "gen_ai.response.model" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
    )
}

/// Records the answer's data on the span.
fn note_answer(span: &Span, answer: &Answer) {
    if let Some(model) = &answer.model {
        span.record("gen_ai.response.model", model.as_str());
    }
    if let Some(usage) = answer.usage {
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }
}

/// A number that differs between calls, so that calls that failed together do not retry together.
fn spread(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
