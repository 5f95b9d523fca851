//! The workflow for the tests of the front door.

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::{Artifact, ArtifactId, Failure, InterruptReason, Message, Part};
use trackway_runtime::{
    Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramStop, ProtocolExtension, Stage,
};

/// A workflow that follows the commands in its text.
#[derive(Debug)]
pub(crate) struct ScriptedProgram(ProgramInfo);

impl ScriptedProgram {
    pub(crate) fn new(name: &str) -> Self {
        Self(ProgramInfo {
            name: name.into(),
            kind: ProgramKind::Workflow,
            version: "1".into(),
            description: "Does what its text says.".into(),
            tags: vec![],
            examples: vec![],
            skills: Vec::new(),
            input_schema: json!({"type": "object", "required": ["text"],
                "properties": {"text": {"type": "string"}}}),
            output_schema: Value::Null,
            input_modes: ProgramInfo::MODES_DEFAULT.map(str::to_owned).into(),
            output_modes: ProgramInfo::MODES_DEFAULT.map(str::to_owned).into(),
            extensions: vec![],
            deadline: None,
        })
    }

    /// The same, for clients that support an extension.
    pub(crate) fn with_required_extension(name: &str, uri: &'static str) -> Self {
        let Self(info) = Self::new(name);
        let own = ProtocolExtension { uri: uri.into(), description: "Needed.".into(), required: true };
        Self(ProgramInfo { extensions: vec![own], ..info })
    }
}

impl Program for ScriptedProgram {
    fn info(&self) -> &ProgramInfo {
        &self.0
    }

    fn answer_without_run(&self, message: &Message) -> Option<Vec<Part>> {
        let direct = message.parts.first().and_then(Part::as_text) == Some("direct");
        direct.then(|| vec![Part::text("no task is needed for that")])
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        Box::pin(async move {
            match input["text"].as_str().unwrap_or_default() {
                "reject" => Err(ProgramStop::Rejected("not today".into())),
                "fail" => Err(ProgramStop::Failed(Failure::new("no luck"))),
                "ask" => ask_two_questions(&stage).await,
                "wait" => {
                    stage.report_status(vec![Part::text("waiting")]).await;
                    stage.sleep_durably(Duration::from_secs(3_600)).await;
                    Ok(Value::Null)
                }
                text => {
                    stage.report_status(vec![Part::text("saying it")]).await;
                    let id = ArtifactId::new("said.txt").expect("a good id");
                    stage.emit_artifact(Artifact::new(id, vec![Part::text(text)]).into()).await;
                    Ok(json!({ "said": text }))
                }
            }
        })
    }
}

/// Two questions, the first with an artifact.
async fn ask_two_questions(stage: &Stage) -> Result<Value, ProgramStop> {
    let form = ArtifactId::new("form.json").expect("a good id");
    let form = Artifact::new(form, vec![Part::data(json!({"amount": 100}))]);
    let schema = json!({"type": "object", "required": ["amount"],
        "properties": {"amount": {"type": "number", "exclusiveMinimum": 0}}});
    let prompt = vec![Part::text("How much?")];
    let (_, answer) = stage.ask_question(InterruptReason::InputRequired, prompt, schema, Some(form)).await;
    let schema = json!({"type": "object", "required": ["signature"],
        "properties": {"signature": {"type": "string"}}});
    let prompt = vec![Part::text("Sign, please.")];
    stage.ask_question(InterruptReason::AuthRequired, prompt, schema, None).await;
    Ok(json!({ "invested": answer.input["amount"] }))
}
