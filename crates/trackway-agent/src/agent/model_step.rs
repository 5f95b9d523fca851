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
use trackway_runtime::{ProgramStop, RetryPolicy, StepAttempt};

use super::{
    answer_stream::{self, AnswerStream, StreamKind},
    call_route::{self, CallRoute, RoutedAnswer},
    dispatched_tasks, question_reply,
    turn_driver::{TurnDriver, decode_outcome, encode_outcome, turn_failure},
};
use crate::{
    AgentTurn, AnswerBuilder, ConfiguredModel, Delta, DeltaStream, ModelAnswer, ModelError, ModelProvider,
    ModelRequest, Permission, RecordedModelCall, RequestOptions, STATUS_TOOL, Snapshot, ToolUse, TurnLimit,
    compact,
    conversation::OpenQuestionNote,
    provider::{ModelBackoff, offline},
    toolset,
    turn_record::{self, COMPACT_KEY, CompactedHistory, MODEL_KEY, SummaryUsage},
};

/// The outcome of a turn's model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ModelOutcome {
    Answer(Box<RoutedAnswer>),
    /// The turn's time ended before the answer was complete.
    Late {
        limit: String,
    },
}

impl TurnDriver {
    /// Calls the model once, or returns its recorded answer.
    pub(super) async fn ask_model(&self, turn: &AgentTurn) -> Result<ModelOutcome, ProgramStop> {
        let mut work =
            |attempt: StepAttempt| -> BoxFuture<'_, _> { Box::pin(self.ask_model_once(turn, attempt)) };
        let (_, outcome) = self.stage.request_step(MODEL_KEY, RetryPolicy::default(), &mut work).await;
        decode_outcome(outcome)
    }

    async fn ask_model_once(&self, turn: &AgentTurn, attempt: StepAttempt) -> Result<Value, Failure> {
        let answered = self.request_answer(turn, &attempt);
        let heard = match self.remaining_time(turn) {
            None => answered.await.map(|routed| ModelOutcome::Answer(Box::new(routed))),
            Some((left, max)) => match tokio::time::timeout(left, answered).await {
                Ok(answered) => answered.map(|routed| ModelOutcome::Answer(Box::new(routed))),
                Err(_) => Ok(ModelOutcome::Late { limit: TurnLimit::Seconds { max, used: max }.to_string() }),
            },
        };
        if !matches!(heard, Ok(ModelOutcome::Answer(_))) {
            // The answer is incomplete, so its streamed text is withdrawn.
            let step = attempt.op;
            answer_stream::retract_text(
                &self.stage,
                StreamKind::Reasoning,
                step.clone(),
                turn.reasoning_texts(),
            )
            .await;
            answer_stream::retract_text(&self.stage, StreamKind::Text, step, turn.answer_texts()).await;
        }
        encode_outcome(&heard?)
    }

    /// The time that the turn has left, and its total.
    fn remaining_time(&self, turn: &AgentTurn) -> Option<(Duration, u64)> {
        let max = self.spec.budgets.seconds?;
        Some((Duration::from_secs(max).saturating_sub(turn.usage().active_time()), max))
    }

    async fn request_answer(&self, turn: &AgentTurn, attempt: &StepAttempt) -> Result<RoutedAnswer, Failure> {
        let stock = self.resources.snapshot();
        let model = self.select_model(&stock)?;
        let provider = &*model.provider;
        let tools = self.resources.toolset_for(&self.spec, &stock, &self.stage.list_programs());
        let mut specs = tools.tool_specs();
        let open = self.open_question_notes().await?;
        let may_reply = call_route::answer_task_permission(&self.spec) != Permission::Deny;
        if may_reply && open.iter().any(|note| !note.person_only) {
            specs.push(Arc::new(question_reply::answer_task_tool()));
        }
        if self.has_dispatched || turn.has_dispatched() {
            let approval = toolset::permission_for(&self.spec.approvals, [STATUS_TOOL, STATUS_TOOL]);
            specs.extend(
                (approval != Permission::Deny).then(|| Arc::new(dispatched_tasks::task_status_tool())),
            );
        }
        let (ended, takes_images) = (self.ended_tasks.clone(), provider.accepts_images());
        let offer = RequestOptions { tools: specs, open, ended, takes_images };
        let request = turn.build_request(offer);
        // A value that must match a schema is published only as the output, once it matches.
        let speaker = |speech, before| {
            let step = attempt.op.clone();
            let speaker = || AnswerStream::new(&self.stage, speech, step, provider.label(), before);
            request.output.is_none().then(speaker)
        };
        let mut speakers = AnswerStreams {
            text: speaker(StreamKind::Text, turn.answer_texts()),
            reasoning: speaker(StreamKind::Reasoning, turn.reasoning_texts()),
        };
        let span = model_call_span(provider.label(), &self.spec.name, self.stage.session());
        let insisting = self.ask_with_retry(provider, &request, attempt, &mut speakers);
        let answer = insisting.instrument(span.clone()).await?;
        record_answer_on_span(&span, &answer);
        for speaker in speakers.streams_mut() {
            speaker.finish_answer().await;
        }
        let calls = turn_record::calls_with_unique_ids(&answer);
        let repeats = |name: &str| {
            let tool = stock.tools.iter().find(|tool| tool.info().name == name);
            tool.is_none_or(|tool| tool.is_repeatable())
        };
        let is_said = |arguments: &Value| self.is_quoted_from_user(arguments);
        let route =
            |call: &ToolUse| match CallRoute::from_call(call, (&self.spec, &tools), &repeats, &is_said) {
                CallRoute::NoTarget { why } => {
                    CallRoute::NoTarget { why: stock.missing_tool_reason(&call.tool).unwrap_or(why) }
                }
                route => route,
            };
        let routes = calls.iter().map(route).collect();
        Ok(RoutedAnswer { recorded: self.to_recorded_call(model, answer), routes })
    }

    /// Questions from before this turn, in their current state. Some may have been answered since.
    async fn open_question_notes(&self) -> Result<Vec<OpenQuestionNote>, Failure> {
        if self.open_question_ids.is_empty() {
            return Ok(Vec::new());
        }
        let questions = self.list_open_questions().await?;
        Ok(question_reply::question_notes(
            questions.iter().filter(|open| self.open_question_ids.contains(&open.question.id)),
        ))
    }

    /// Retries until there is a complete answer or another attempt is useless.
    async fn ask_with_retry(
        &self,
        provider: &dyn ModelProvider,
        request: &ModelRequest,
        attempt: &StepAttempt,
        speakers: &mut AnswerStreams<'_>,
    ) -> Result<ModelAnswer, Failure> {
        let mut backoff = ModelBackoff::new(jitter_seed(&attempt.idempotency_key));
        loop {
            let silence = self.spec.model_timeout.map(Duration::from_secs);
            let error = match collect_stream(provider, request, silence, speakers).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(pause) = backoff.next_pause(&error) else {
                return Err(Failure::new(format!("{}: {error}", provider.label())));
            };
            tracing::info!(model = provider.label(), %error, ?pause, "retrying the model call");
            speakers.streams_mut().for_each(AnswerStream::discard_attempt);
            tokio::time::sleep(pause).await;
        }
    }

    fn select_model<'a>(&self, stock: &'a Snapshot) -> Result<&'a ConfiguredModel, Failure> {
        stock.find_model(self.spec.model.as_deref()).map_err(|error| Failure::new(error.to_string()))
    }

    fn to_recorded_call(&self, model: &ConfiguredModel, answer: ModelAnswer) -> RecordedModelCall {
        let cost = model.price.zip(answer.usage).map(|(price, usage)| price.cost_of(usage));
        let label = model.provider.label().to_owned();
        RecordedModelCall { answer, label, cost, ended_at: self.stage.unrecorded_now() }
    }

    /// Shortens a conversation that is too long for the model, as a recorded step.
    pub(super) async fn compact_history(&self, turn: &mut AgentTurn) -> Result<(), ProgramStop> {
        let plan = match compact::plan_compaction(turn.conversation_entries(), compact::HISTORY_TOKENS_MAX) {
            Some(plan) => plan,
            // A check does not read the earlier turns, which caused the compaction.
            None if self.stage.checked_log_has_step(COMPACT_KEY) => compact::CompactionPlan::default(),
            None => return Ok(()),
        };
        let time = self.remaining_time(turn).map(|(left, _)| left);
        let mut work = |attempt: StepAttempt| -> BoxFuture<'_, Result<Value, Failure>> {
            Box::pin(self.summarize_history(plan.clone(), time, attempt))
        };
        let (_, outcome) = self.stage.request_step(COMPACT_KEY, RetryPolicy::default(), &mut work).await;
        turn.apply_compaction(&decode_outcome(outcome)?).map_err(turn_failure)
    }

    /// Asks the model for a summary of the removed part. If the turn's time runs out, that part is
    /// removed without a summary.
    async fn summarize_history(
        &self,
        plan: compact::CompactionPlan,
        time: Option<Duration>,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let stock = self.resources.snapshot();
        let model = self.select_model(&stock)?;
        let provider = &*model.provider;
        let request = plan.summary_request();
        let mut nobody = AnswerStreams::default();
        let summing = self.ask_with_retry(provider, &request, &attempt, &mut nobody);
        let summary = match time {
            _ if provider.label() == offline::LABEL => None,
            None => Some(summing.await?),
            Some(left) => tokio::time::timeout(left, summing).await.ok().transpose()?,
        };
        let mut compacted = match summary.map(|summary| self.to_recorded_call(model, summary)) {
            None => plan.into_compacted_without_summary(),
            Some(RecordedModelCall { answer, label, cost, .. }) => CompactedHistory {
                summary_usage: Some(SummaryUsage { label, usage: answer.usage, cost }),
                ..plan.into_compacted(&answer.text)
            },
        };
        compacted.ended_at = Some(self.stage.unrecorded_now());
        compacted.to_value()
    }
}

/// Reads one answer to its end.
async fn collect_stream(
    provider: &dyn ModelProvider,
    request: &ModelRequest,
    silence: Option<Duration>,
    speakers: &mut AnswerStreams<'_>,
) -> Result<ModelAnswer, ModelError> {
    let mut deltas = provider.stream_answer(request);
    let mut gather = AnswerBuilder::new();
    while let Some(delta) = next_delta(&mut deltas, silence).await? {
        gather.push_delta(&delta);
        let (speaker, text) = match &delta {
            Delta::Text(text) => (&mut speakers.text, text),
            Delta::Reasoning(text) => (&mut speakers.reasoning, text),
            _ => continue,
        };
        if let Some(speaker) = speaker {
            speaker.push_text(text).await;
        }
    }
    Ok(gather.build())
}

/// The next piece, unless the model is silent for too long.
async fn next_delta(
    deltas: &mut DeltaStream,
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
struct AnswerStreams<'a> {
    text: Option<AnswerStream<'a>>,
    reasoning: Option<AnswerStream<'a>>,
}

impl<'a> AnswerStreams<'a> {
    fn streams_mut(&mut self) -> impl Iterator<Item = &mut AnswerStream<'a>> {
        self.reasoning.iter_mut().chain(&mut self.text)
    }
}

/// A span for one model call of a turn, with the names of OpenTelemetry's conventions.
fn model_call_span(label: &str, agent: &str, session: &SessionId) -> Span {
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
fn record_answer_on_span(span: &Span, answer: &ModelAnswer) {
    if let Some(model) = &answer.model {
        span.record("gen_ai.response.model", model.as_str());
    }
    if let Some(usage) = answer.usage {
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }
}

/// A number that differs between calls, so that calls that failed together do not retry together.
fn jitter_seed(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
