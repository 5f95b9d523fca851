//! `tck`: the scripted subject of the A2A conformance suites. Each message selects an action; see
//! `script`.

mod script;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway::{
    Artifact, ArtifactId, Ctx, File, FileSource, Message, Part, Stop, Workflow, reject,
};

use self::script::{Act, Product};

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
pub struct Tck {
    /// The time that the suite waits for a stream.
    pub patience: Duration,
}

impl Workflow for Tck {
    const NAME: &'static str = "tck";
    const DESCRIPTION: &'static str = "Does what each message of a conformance suite asks for: the subject of A2A's TCK and ACTS.";
    const TAGS: &'static [&'static str] = &["conformance"];
    const EXAMPLES: &'static [&'static str] = &["tck-complete-task", "tck-artifact-text"];
    /// The suites send media types that are not registered.
    const INPUT_MODES: &'static [&'static str] = &["*/*"];
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Value) -> Result<(), Stop> {
        let mut act = match ctx.message() {
            Some(message) => script::opening(message),
            None => input.as_str().and_then(script::of_text).unwrap_or(Act::Stay),
        };
        let mut conversing = false;
        loop {
            conversing |= act == Act::Converse;
            match act {
                Act::Ask | Act::Converse => {
                    let (_, message) =
                        ctx.ask::<Value>("The script needs input").with_message().await;
                    let goes_on = conversing && script::first_text(&message) != Some("done");
                    act = if goes_on { Act::Converse } else { script::next(&message) };
                }
                Act::Complete | Act::Answer => {
                    ctx.status("Hello from TCK").await;
                    return Ok(());
                }
                Act::Reject => {
                    reject("rejected")?;
                }
                Act::Fail => return Err(Stop::failed("The script failed")),
                Act::Make(product) => return make(&ctx, product).await,
                Act::Work => return works_for(&ctx, WORK).await,
                Act::Hold => return works_for(&ctx, HOLD).await,
                Act::Stay => {
                    works_for(&ctx, self.patience / 2).await?;
                    act = Act::Converse;
                }
                // Long enough for a client that reconnects after its stream timed out.
                Act::Linger => return works_for(&ctx, self.patience * 2).await,
            }
        }
    }

    fn answer(&self, message: &Message) -> Option<Vec<Part>> {
        let answers = script::opening(message) == Act::Answer;
        answers.then(|| vec![Part::text("Direct message response")])
    }
}

async fn works_for(ctx: &Ctx, span: Duration) -> Result<(), Stop> {
    ctx.status("Working").await;
    ctx.sleep(span).await;
    Ok(())
}

async fn make(ctx: &Ctx, product: Product) -> Result<(), Stop> {
    ctx.status("Working").await;
    match product {
        Product::Text(text) => ctx.artifact(Artifact::text("text", text)?).await,
        Product::File => ctx.artifact(file(FileSource::Base64(FILE_BASE64.to_owned()))?).await,
        Product::FileUrl => ctx.artifact(file(FileSource::Uri(FILE_URL.to_owned()))?).await,
        Product::Data => {
            ctx.artifact(Artifact::data("data", json!({ "key": "value", "count": 42 }))?).await;
        }
        Product::Chunks => {
            ctx.artifact(Artifact::text("chunks", "chunk-1 ")?.begin()).await;
            ctx.artifact(Artifact::text("chunks", "chunk-2")?.finish()).await;
        }
    }
    Ok(())
}

fn file(source: FileSource) -> Result<Artifact, Stop> {
    let file =
        File { name: Some(FILE_NAME.to_owned()), mime_type: Some(FILE_TYPE.to_owned()), source };
    Ok(Artifact::new(ArtifactId::new("file")?, vec![Part::file(file)]))
}

#[cfg(test)]
mod tests;
