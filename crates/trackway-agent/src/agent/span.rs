//! Spans around model calls, with the names that OpenTelemetry has for them.

use tracing::{Span, field::Empty};

use trackway_domain::SessionId;

use crate::Answer;

/// A span for one model call of an agent's turn.
pub(super) fn model_call(label: &str, agent: &str, session: &SessionId) -> Span {
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

/// Notes on the span what was answered.
pub(super) fn answered(span: &Span, answer: &Answer) {
    if let Some(model) = &answer.model {
        span.record("gen_ai.response.model", model.as_str());
    }
    if let Some(usage) = answer.usage {
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }
}
