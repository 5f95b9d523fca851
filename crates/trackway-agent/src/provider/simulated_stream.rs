//! A complete answer as the stream that a model would have sent: text word by word, then the calls.

use futures_util::{StreamExt as _, stream};

use super::{Delta, DeltaStream};
use crate::conversation::ModelAnswer;

/// The answer as a stream that is immediately available.
pub(crate) fn simulate_stream(answer: &ModelAnswer) -> DeltaStream {
    stream::iter(answer_deltas(answer).into_iter().map(Ok)).boxed()
}

/// The deltas that add up to the answer.
pub(crate) fn answer_deltas(answer: &ModelAnswer) -> Vec<Delta> {
    let mut deltas = vec![Delta::Start { model: answer.model.clone() }];
    deltas.extend(split_words(&answer.reasoning).map(|word| Delta::Reasoning(word.to_owned())));
    deltas.extend(split_words(&answer.text).map(|word| Delta::Text(word.to_owned())));
    for (slot, call) in answer.calls.iter().enumerate() {
        deltas.push(Delta::Call { slot, id: Some(call.id.clone()), tool: call.tool.clone() });
        deltas.push(Delta::Arguments { slot, text: call.arguments.arguments_to_text() });
        deltas.extend(call.echo.clone().map(|value| Delta::Echo { slot, value }));
    }
    deltas.push(Delta::End(answer.finish));
    deltas.extend(answer.usage.map(Delta::Usage));
    deltas.push(Delta::Done);
    deltas
}

/// The text in words, each with the following space, so that nothing is lost.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}
