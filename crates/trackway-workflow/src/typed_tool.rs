//! A typed function as a tool of the runtime: schema derived, values converted.

use std::{error::Error, fmt, future::Future, marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use trackway_domain::{Failure, ValidationError};
use trackway_runtime::{
    StepAttempt, Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin, ToolOutput, ValueType,
};

use crate::{typed_program::json_schema_of, workflow_stop::format_error_chain};

/// A function as a tool: steps of workflow files and agents call it by its name. Its arguments are
/// checked against the schema of `I` and parsed into it before the call.
pub fn tool<I, O, E, F, Fut>(name: &str, description: &str, call: F) -> Arc<dyn Tool>
where
    I: DeserializeOwned + JsonSchema + 'static,
    O: Serialize,
    E: Into<Box<dyn Error + Send + Sync>>,
    F: Fn(I, StepAttempt) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
{
    Arc::new(TypedTool::new(name, description, call))
}

struct TypedTool<F, I> {
    info: ToolInfo,
    call: F,
    input: PhantomData<fn(I)>,
}

impl<F, I: JsonSchema> TypedTool<F, I> {
    fn new(name: &str, description: &str, call: F) -> Self {
        let info = ToolInfo {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: json_schema_of::<I>(),
            origin: ToolOrigin::Local,
        };
        Self { info, call, input: PhantomData }
    }
}

impl<F, I> fmt::Debug for TypedTool<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.info.name).finish()
    }
}

impl<I, O, E, F, Fut> Tool for TypedTool<F, I>
where
    I: DeserializeOwned,
    O: Serialize,
    E: Into<Box<dyn Error + Send + Sync>>,
    F: Fn(I, StepAttempt) -> Fut + Send + Sync,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
{
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn check_arguments(&self, arguments: &Value) -> Vec<ValidationError> {
        ValueType::for_type::<I>().check_value(arguments)
    }

    fn call(&self, arguments: Value, call: ToolCallContext) -> ToolFuture {
        let arguments = match serde_json::from_value(arguments) {
            Ok(arguments) => arguments,
            Err(error) => {
                let failure = Failure::new(format!("the arguments do not have its type: {error}"));
                return Box::pin(std::future::ready(Err(failure)));
            }
        };
        let called = (self.call)(arguments, call.attempt);
        Box::pin(async move {
            let result = called.await.map_err(|error| Failure::new(format_error_chain(&*error.into())))?;
            serde_json::to_value(result)
                .map(ToolOutput::from)
                .map_err(|error| Failure::new(format!("its result is not JSON: {error}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trackway_domain::{Caller, SessionId};
    use trackway_runtime::SchemaCache;

    use super::*;

    #[derive(serde::Deserialize, JsonSchema)]
    struct Sum {
        a: i64,
        b: i64,
    }

    async fn call(arguments: Value) -> Result<Value, Failure> {
        let sum = |Sum { a, b }, attempt: StepAttempt| async move {
            let sum = a.checked_add(b).ok_or("the numbers are too large")?;
            Ok::<_, &str>(json!([sum, attempt.number]))
        };
        let tool = TypedTool::new("sum", "Adds.", sum);
        assert_eq!(tool.info().input_schema["required"], json!(["a", "b"]));
        let op = "step:sum#0".parse().unwrap();
        let attempt = StepAttempt { idempotency_key: "k".to_owned(), number: 1, op };
        let session = SessionId::new("s").unwrap();
        let call = ToolCallContext::without_run(attempt, Caller::local_without_auth(), session);
        tool.call(arguments, call).await.map(|output| output.value)
    }

    /// Proves L14: an argument that does not fit the type is refused before the call.
    #[test]
    fn arguments_are_read_into_the_type_before_the_call() {
        #[derive(serde::Deserialize, JsonSchema)]
        struct Ping {
            #[expect(dead_code, reason = "only read into")]
            peer: std::net::IpAddr,
            #[expect(dead_code, reason = "only read into")]
            times: u8,
        }
        let ping = |_: Ping, _: StepAttempt| async { Ok::<_, &str>(()) };
        let tool = TypedTool::new("ping", "Pings.", ping);
        for (mut arguments, wrong) in [
            (json!({ "peer": "::1", "times": 3.0 }), None),
            (json!({ "peer": "::1", "times": 300 }), Some("/times")),
            (json!({ "peer": "home", "times": 3 }), Some("/peer")),
        ] {
            let problems = SchemaCache::default().parse_tool_arguments(&tool, &mut arguments);
            assert_eq!(problems.first().map(|problem| problem.path.as_str()), wrong);
            assert!(arguments["times"].is_u64(), "integral numbers are integers");
        }
    }

    #[tokio::test]
    async fn a_function_is_a_tool() {
        assert_eq!(call(json!({ "a": 1, "b": 2 })).await, Ok(json!([3, 1])));
        let large = call(json!({ "a": i64::MAX, "b": 1 })).await.unwrap_err();
        assert_eq!(large.message, "the numbers are too large");
        let wrong = call(json!({ "a": "1", "b": 1 })).await.unwrap_err();
        assert!(wrong.message.contains("do not have its type"), "{wrong:?}");
    }
}
