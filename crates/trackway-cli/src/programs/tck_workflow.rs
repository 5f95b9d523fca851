//! `tck`: the scripted subject of the A2A conformance suites. Each message selects an action; see
//! `tck_script`.

mod tck_script;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway::{Artifact, ArtifactId, Ctx, File, FileSource, Message, Part, Stop, Workflow, reject};

use self::tck_script::{TckAction, TckArtifactKind};

/// How long a run works that a test polls; required by ACTS.
const WORK: Duration = Duration::from_secs(5);
/// How long a run waits to be canceled. Suites cancel within seconds, and a forgotten run still ends.
const HOLD: Duration = Duration::from_secs(60 * 60);

const FILE_NAME: &str = "output.txt";
const FILE_TYPE: &str = "text/plain";
/// `Generated file content` in base64.
const FILE_BASE64: &str = "R2VuZXJhdGVkIGZpbGUgY29udGVudA==";
const FILE_URL: &str = "https://example.com/output.txt";

#[derive(Debug, Clone)]
pub struct TckWorkflow {
    /// The time that the suite waits for a stream.
    pub stream_timeout: Duration,
}

impl Workflow for TckWorkflow {
    const NAME: &'static str = "tck";
    const DESCRIPTION: &'static str =
        "Does what each message of a conformance suite asks for: the subject of A2A's TCK and ACTS.";
    const TAGS: &'static [&'static str] = &["conformance"];
    const EXAMPLES: &'static [&'static str] = &["tck-complete-task", "tck-artifact-text"];
    /// The suites send media types that are not registered.
    const INPUT_MODES: &'static [&'static str] = &["*/*"];
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Value) -> Result<(), Stop> {
        let mut act = match ctx.message() {
            Some(message) => tck_script::action_for_first_message(message),
            None => input.as_str().and_then(tck_script::action_from_text).unwrap_or(TckAction::Stay),
        };
        let mut conversing = false;
        loop {
            conversing |= act == TckAction::Converse;
            match act {
                TckAction::Ask | TckAction::Converse => {
                    let (_, message) = ctx.ask::<Value>("The script needs input").with_message().await;
                    let goes_on = conversing && tck_script::first_text_part(&message) != Some("done");
                    act = if goes_on {
                        TckAction::Converse
                    } else {
                        tck_script::action_for_answer_message(&message)
                    };
                }
                TckAction::Complete | TckAction::Answer => {
                    ctx.status("Hello from TCK").await;
                    return Ok(());
                }
                TckAction::Reject => {
                    reject("rejected")?;
                }
                TckAction::Fail => return Err(Stop::failed("The script failed")),
                TckAction::Make(product) => return produce_tck_artifact(&ctx, product).await,
                TckAction::Work => return simulate_work_for(&ctx, WORK).await,
                TckAction::Hold => return simulate_work_for(&ctx, HOLD).await,
                TckAction::Stay => {
                    simulate_work_for(&ctx, self.stream_timeout / 2).await?;
                    act = TckAction::Converse;
                }
                // Long enough for a client that reconnects after its stream timed out.
                TckAction::Linger => return simulate_work_for(&ctx, self.stream_timeout * 2).await,
            }
        }
    }

    fn answer_without_run(&self, message: &Message) -> Option<Vec<Part>> {
        let answers = tck_script::action_for_first_message(message) == TckAction::Answer;
        answers.then(|| vec![Part::text("Direct message response")])
    }
}

async fn simulate_work_for(ctx: &Ctx, duration: Duration) -> Result<(), Stop> {
    ctx.status("Working").await;
    ctx.sleep(duration).await;
    Ok(())
}

async fn produce_tck_artifact(ctx: &Ctx, product: TckArtifactKind) -> Result<(), Stop> {
    ctx.status("Working").await;
    match product {
        TckArtifactKind::Text(text) => ctx.artifact(Artifact::text("text", text)?).await,
        TckArtifactKind::File => {
            ctx.artifact(build_file_artifact(FileSource::Base64(FILE_BASE64.to_owned()))?).await
        }
        TckArtifactKind::FileUrl => {
            ctx.artifact(build_file_artifact(FileSource::Uri(FILE_URL.to_owned()))?).await
        }
        TckArtifactKind::Data => {
            ctx.artifact(Artifact::data("data", json!({ "key": "value", "count": 42 }))?).await;
        }
        TckArtifactKind::Chunks => {
            ctx.artifact(Artifact::text("chunks", "chunk-1 ")?.begin()).await;
            ctx.artifact(Artifact::text("chunks", "chunk-2")?.finish()).await;
        }
    }
    Ok(())
}

fn build_file_artifact(source: FileSource) -> Result<Artifact, Stop> {
    let file = File { name: Some(FILE_NAME.to_owned()), mime_type: Some(FILE_TYPE.to_owned()), source };
    Ok(Artifact::new(ArtifactId::new("file")?, vec![Part::file(file)]))
}

#[cfg(test)]
mod tests;
