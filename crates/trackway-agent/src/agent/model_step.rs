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
    answer_stream::{self, AnswerArtifactStream, AnswerStreamKind},
    dispatched_tasks, question_reply,
    tool_call_route::{self, RoutedModelAnswer, ToolCallRoute},
    turn_driver::{AgentTurnDriver, decode_step_outcome, encode_step_outcome, turn_failed_stop},
};
use crate::{
    AgentTurn, ConfiguredModel, Delta, DeltaStream, ModelAnswer, ModelAnswerBuilder, ModelError,
    ModelProvider, ModelRequest, RecordedModelCall, ResourcesSnapshot, STATUS_TOOL, ToolPermission, ToolUse,
    TurnLimit, TurnRequestContext, agent_resources,
    conversation::OpenQuestionNote,
    history_compaction,
    provider::{ModelBackoff, offline},
    toolset,
    turn_record::{self, COMPACT_KEY, CompactedHistory, MODEL_KEY, SummaryCallUsage},
};

/// The outcome of a turn's model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum TurnModelOutcome {
    Answer(Box<RoutedModelAnswer>),
    /// The turn's time ended before the answer was complete.
    Late {
        limit: String,
    },
}

impl AgentTurnDriver {
    /// Calls the model once, or returns its recorded answer.
    pub(super) async fn call_model_in_step(&self, turn: &AgentTurn) -> Result<TurnModelOutcome, ProgramStop> {
        let mut work = |attempt: StepAttempt| -> BoxFuture<'_, _> {
            Box::pin(self.call_model_with_time_limit(turn, attempt))
        };
        let (_, outcome) = self.stage.run_request_step(MODEL_KEY, RetryPolicy::default(), &mut work).await;
        decode_step_outcome(outcome)
    }

    async fn call_model_with_time_limit(
        &self,
        turn: &AgentTurn,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let answered = self.request_routed_answer(turn, &attempt);
        let heard = match self.remaining_turn_time(turn) {
            None => answered.await.map(|routed| TurnModelOutcome::Answer(Box::new(routed))),
            Some((left, max)) => match tokio::time::timeout(left, answered).await {
                Ok(answered) => answered.map(|routed| TurnModelOutcome::Answer(Box::new(routed))),
                Err(_) => {
                    Ok(TurnModelOutcome::Late { limit: TurnLimit::Seconds { max, used: max }.to_string() })
                }
            },
        };
        if !matches!(heard, Ok(TurnModelOutcome::Answer(_))) {
            // The answer is incomplete, so its streamed text is withdrawn.
            let step = attempt.op;
            answer_stream::retract_step_text(
                &self.stage,
                AnswerStreamKind::Reasoning,
                step.clone(),
                turn.reasoning_texts(),
            )
            .await;
            answer_stream::retract_step_text(&self.stage, AnswerStreamKind::Text, step, turn.answer_texts())
                .await;
        }
        encode_step_outcome(&heard?)
    }

    /// The time that the turn has left, and its total.
    fn remaining_turn_time(&self, turn: &AgentTurn) -> Option<(Duration, u64)> {
        let max = self.spec.budgets.seconds?;
        Some((Duration::from_secs(max).saturating_sub(turn.turn_usage().active_turn_time()), max))
    }

    async fn request_routed_answer(
        &self,
        turn: &AgentTurn,
        attempt: &StepAttempt,
    ) -> Result<RoutedModelAnswer, Failure> {
        let stock = self.resources.current_snapshot();
        let model = self.select_agent_model(&stock)?;
        let provider = &*model.provider;
        let peer_tools = self.resources.peer_tools_for_caller(self.stage.caller());
        let programs = self.stage.list_available_programs();
        let tools = self.resources.toolset_for_agent(&self.spec, &stock, &peer_tools, &programs);
        let mut specs = tools.tool_specs();
        let open = self.load_open_question_notes().await?;
        let may_reply = tool_call_route::permission_to_answer_tasks(&self.spec) != ToolPermission::Deny;
        if may_reply && open.iter().any(|note| !note.person_only) {
            specs.push(Arc::new(question_reply::answer_task_tool_spec()));
        }
        if self.has_dispatched || turn.has_dispatched_workflow() {
            let approval = toolset::permission_for_tool_names(&self.spec.approvals, &[STATUS_TOOL]);
            specs.extend(
                (approval != ToolPermission::Deny)
                    .then(|| Arc::new(dispatched_tasks::task_status_tool_spec())),
            );
        }
        let (ended, takes_images) = (self.ended_tasks.clone(), provider.accepts_images());
        let offers_peer_workflow = tools.offers_peer_workflow();
        let offer = TurnRequestContext { tools: specs, open, ended, takes_images, offers_peer_workflow };
        let request = turn.build_model_request(offer);
        // A value that must match a schema is published only as the output, once it matches.
        let speaker = |speech, before| {
            let step = attempt.op.clone();
            let speaker =
                || AnswerArtifactStream::new(&self.stage, speech, step, provider.model_label(), before);
            request.output.is_none().then(speaker)
        };
        let mut speakers = TextAndReasoningStreams {
            text: speaker(AnswerStreamKind::Text, turn.answer_texts()),
            reasoning: speaker(AnswerStreamKind::Reasoning, turn.reasoning_texts()),
        };
        let span = model_call_span(provider.model_label(), &self.spec.name, self.stage.session_id());
        let insisting = self.call_model_with_retry(provider, &request, attempt, &mut speakers);
        let answer = insisting.instrument(span.clone()).await?;
        record_answer_on_span(&span, &answer);
        for speaker in speakers.active_streams_mut() {
            speaker.finish_answer_text().await;
        }
        let calls = turn_record::calls_with_unique_ids(&answer);
        let repeats = |name: &str| {
            let tool = stock.tools.iter().find(|tool| tool.info().name == name);
            tool.is_none_or(|tool| tool.is_repeatable())
        };
        let is_said = |arguments: &Value| self.is_answer_in_user_message(arguments);
        let route = |call: &ToolUse| match ToolCallRoute::route_from_tool_call(
            call,
            (&self.spec, &tools),
            &repeats,
            &is_said,
        ) {
            ToolCallRoute::NoTarget { why } => {
                let reason = stock.missing_tool_reason(&call.tool);
                let reason = reason.or_else(|| {
                    agent_resources::missing_peer_tool_reason(&self.spec, &peer_tools, &call.tool)
                });
                ToolCallRoute::NoTarget { why: reason.unwrap_or(why) }
            }
            route => route,
        };
        let routes = calls.iter().map(route).collect();
        Ok(RoutedModelAnswer { recorded: self.to_recorded_model_call(model, answer), routes })
    }

    /// Questions from before this turn, in their current state. Some may have been answered since.
    async fn load_open_question_notes(&self) -> Result<Vec<OpenQuestionNote>, Failure> {
        if self.open_question_ids.is_empty() {
            return Ok(Vec::new());
        }
        let questions = self.list_open_session_questions().await?;
        Ok(question_reply::to_open_question_notes(
            questions.iter().filter(|open| self.open_question_ids.contains(&open.question.id)),
        ))
    }

    /// Retries until there is a complete answer or another attempt is useless.
    async fn call_model_with_retry(
        &self,
        provider: &dyn ModelProvider,
        request: &ModelRequest,
        attempt: &StepAttempt,
        streams: &mut TextAndReasoningStreams<'_>,
    ) -> Result<ModelAnswer, Failure> {
        let mut backoff = ModelBackoff::new(retry_jitter_seed(&attempt.idempotency_key));
        loop {
            let silence = self.spec.model_timeout.map(Duration::from_secs);
            let error = match collect_streamed_answer(provider, request, silence, streams).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(pause) = backoff.next_retry_pause(&error) else {
                return Err(Failure::new(format!("{}: {error}", provider.model_label())));
            };
            tracing::info!(model = provider.model_label(), %error, ?pause, "retrying the model call");
            streams.active_streams_mut().for_each(AnswerArtifactStream::discard_attempt_text);
            tokio::time::sleep(pause).await;
        }
    }

    fn select_agent_model<'a>(
        &self,
        snapshot: &'a ResourcesSnapshot,
    ) -> Result<&'a ConfiguredModel, Failure> {
        snapshot
            .find_model_or_default(self.spec.model.as_deref())
            .map_err(|error| Failure::new(error.to_string()))
    }

    fn to_recorded_model_call(&self, model: &ConfiguredModel, answer: ModelAnswer) -> RecordedModelCall {
        let cost = model.price.zip(answer.usage).map(|(price, usage)| price.cost_of_usage(usage));
        let label = model.provider.model_label().to_owned();
        RecordedModelCall { answer, label, cost, ended_at: self.stage.unrecorded_now() }
    }

    /// Shortens a conversation that is too long for the model, as a recorded step.
    pub(super) async fn compact_turn_history(&self, turn: &mut AgentTurn) -> Result<(), ProgramStop> {
        let plan = match history_compaction::plan_history_compaction(
            turn.conversation_entries(),
            history_compaction::HISTORY_TOKENS_MAX,
        ) {
            Some(plan) => plan,
            // A check does not read the earlier turns, which caused the compaction.
            None if self.stage.checked_log_has_step(COMPACT_KEY) => {
                history_compaction::CompactionPlan::default()
            }
            None => return Ok(()),
        };
        let time = self.remaining_turn_time(turn).map(|(left, _)| left);
        let mut work = |attempt: StepAttempt| -> BoxFuture<'_, Result<Value, Failure>> {
            Box::pin(self.summarize_removed_history(plan.clone(), time, attempt))
        };
        let (_, outcome) = self.stage.run_request_step(COMPACT_KEY, RetryPolicy::default(), &mut work).await;
        turn.apply_compaction(&decode_step_outcome(outcome)?).map_err(turn_failed_stop)
    }

    /// Asks the model for a summary of the removed part. If the turn's time runs out, that part is
    /// removed without a summary.
    async fn summarize_removed_history(
        &self,
        plan: history_compaction::CompactionPlan,
        time: Option<Duration>,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let stock = self.resources.current_snapshot();
        let model = self.select_agent_model(&stock)?;
        let provider = &*model.provider;
        let request = plan.build_summary_request();
        let mut nobody = TextAndReasoningStreams::default();
        let summing = self.call_model_with_retry(provider, &request, &attempt, &mut nobody);
        let summary = match time {
            _ if provider.model_label() == offline::LABEL => None,
            None => Some(summing.await?),
            Some(left) => tokio::time::timeout(left, summing).await.ok().transpose()?,
        };
        let mut compacted = match summary.map(|summary| self.to_recorded_model_call(model, summary)) {
            None => plan.into_history_without_summary(),
            Some(RecordedModelCall { answer, label, cost, .. }) => CompactedHistory {
                summary_usage: Some(SummaryCallUsage { label, usage: answer.usage, cost }),
                ..plan.into_history_with_summary(&answer.text)
            },
        };
        compacted.ended_at = Some(self.stage.unrecorded_now());
        compacted.to_value()
    }
}

/// Reads one answer to its end.
async fn collect_streamed_answer(
    provider: &dyn ModelProvider,
    request: &ModelRequest,
    max_silence: Option<Duration>,
    streams: &mut TextAndReasoningStreams<'_>,
) -> Result<ModelAnswer, ModelError> {
    let mut deltas = provider.stream_answer(request);
    let mut gather = ModelAnswerBuilder::new();
    while let Some(delta) = next_delta_or_silence_error(&mut deltas, max_silence).await? {
        gather.push_delta(&delta);
        let (speaker, text) = match &delta {
            Delta::Text(text) => (&mut streams.text, text),
            Delta::Reasoning(text) => (&mut streams.reasoning, text),
            _ => continue,
        };
        if let Some(speaker) = speaker {
            speaker.publish_text_delta(text).await;
        }
    }
    Ok(gather.build_answer())
}

/// The next piece, unless the model is silent for too long.
async fn next_delta_or_silence_error(
    deltas: &mut DeltaStream,
    max_silence: Option<Duration>,
) -> Result<Option<Delta>, ModelError> {
    let Some(silence) = max_silence else { return deltas.next().await.transpose() };
    match tokio::time::timeout(silence, deltas.next()).await {
        Ok(delta) => delta.transpose(),
        Err(_) => Err(ModelError::Silent { seconds: silence.as_secs() }),
    }
}

/// Streams an answer as it arrives; does nothing if the answer is not published.
#[derive(Default)]
struct TextAndReasoningStreams<'a> {
    text: Option<AnswerArtifactStream<'a>>,
    reasoning: Option<AnswerArtifactStream<'a>>,
}

impl<'a> TextAndReasoningStreams<'a> {
    fn active_streams_mut(&mut self) -> impl Iterator<Item = &mut AnswerArtifactStream<'a>> {
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
fn retry_jitter_seed(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
