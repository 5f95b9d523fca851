//! `echo`: returns its input as an artifact, optionally in pieces.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackway::{Artifact, Ctx, Stop, Workflow};

/// Pieces that one echo may be cut into.
/// Limit (CLI): pieces of the example `echo`.
const CHUNKS_MAX: u32 = 1_000;

#[derive(Debug, Clone)]
pub struct EchoWorkflow;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to say back.
    pub text: String,
    /// In how many pieces; 1 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub chunks: Option<u32>,
}

impl Workflow for EchoWorkflow {
    const NAME: &'static str = "echo";
    const DESCRIPTION: &'static str = "Says back the text it is given, as the artifact echo.txt.";
    const TAGS: &'static [&'static str] = &["demo", "text"];
    const EXAMPLES: &'static [&'static str] = &["Say hello back to me"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        ctx.status(format!("Echoing {} characters", input.text.chars().count())).await;
        let pieces = split_into_pieces(&input.text, input.chunks.unwrap_or(1).min(CHUNKS_MAX));
        let last = pieces.len() - 1;
        for (index, piece) in pieces.into_iter().enumerate() {
            let artifact = Artifact::text("echo.txt", piece)?.named("Echo");
            match index {
                0 if last == 0 => ctx.artifact(artifact).await,
                0 => ctx.artifact(artifact.begin()).await,
                index if index == last => ctx.artifact(artifact.finish()).await,
                _ => ctx.artifact(artifact.extend()).await,
            }
        }
        Ok(())
    }
}

/// The text in exactly `count` pieces of about the same size; the last ones may be empty.
fn split_into_pieces(text: &str, count: u32) -> Vec<String> {
    let count = count.max(1) as usize;
    let characters: Vec<char> = text.chars().collect();
    let bound = |index: usize| index * characters.len() / count;
    (0..count).map(|index| characters[bound(index)..bound(index + 1)].iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_many_as_asked_for_and_lose_nothing() {
        for (text, count) in [("", 1), ("", 3), ("héllo", 1), ("héllo", 2), ("héllo", 5), ("ab", 4)] {
            let pieces = split_into_pieces(text, count);
            assert_eq!(pieces.len(), count as usize);
            assert_eq!(pieces.concat(), text);
        }
    }
}
