//! Turns with a small real model behind an OpenAI-compatible server. Ordinary runs leave these out;
//! `cargo xtask real-model` installs the model, serves it and runs them.

use std::sync::Arc;

use serde_json::json;
use trackway_agent::{ConfiguredModel, ModelEndpoint, ResourcesSnapshot, provider::open_http_provider};
use trackway_domain::{RunId, StateName};
use trackway_engine::RunView;
use trackway_testkit::{TestProcess, TestWorld};

use super::harness::{agent_spec, build_registry, response_text, send_text, start_turn, wait_until_ended};

/// The address of the server. Without it the test fails: a requested test that did nothing would
/// mislead.
#[expect(clippy::disallowed_methods, reason = "only tests that are asked for read it")]
fn stock() -> ResourcesSnapshot {
    let url = std::env::var("TRACKWAY_TEST_MODEL_URL")
        .expect("TRACKWAY_TEST_MODEL_URL is not set: run `cargo xtask real-model`, which sets it");
    let endpoint = ModelEndpoint { base_url: Some(url), ..ModelEndpoint::new("smollm2-135m") };
    let provider = Arc::new(open_http_provider("openai", &endpoint).unwrap());
    let mut stock = ResourcesSnapshot { default_model: "main".to_owned(), ..ResourcesSnapshot::default() };
    stock.models.insert("main".to_owned(), ConfiguredModel { provider, price: None });
    stock
}

/// A turn of an agent without tools, because such a small model could not use them.
fn turn(begin: impl AsyncFnOnce(&TestProcess) -> RunId) -> RunView {
    let mut spec = agent_spec();
    (spec.tools, spec.workflows) = (Vec::new(), Vec::new());
    let view = TestWorld::with_memory_store().run_to_completion(
        build_registry(&spec, &stock(), &[]),
        async |process| {
            let run = begin(&process).await;
            wait_until_ended(&process, run).await
        },
    );
    assert_eq!(view.state, StateName::Completed, "{view:?}");
    view
}

#[test]
#[ignore = "needs a model server: cargo xtask real-model"]
fn a_real_model_is_talked_with() {
    let view = turn(async |process| send_text(process, "m1", "Say hello to me.").await);
    let (output, said) = (&view.output, response_text(&view));
    assert_eq!(output["model"], "openai/smollm2-135m");
    assert!(!said.trim().is_empty(), "{output}");
    assert_eq!(output["text"], said.as_str(), "what was streamed is what was said");
    assert!(output["usage"]["output_tokens"].as_u64().unwrap() > 0, "{output}");
}

#[test]
#[ignore = "needs a model server: cargo xtask real-model"]
fn a_real_model_gives_an_output_that_fits_a_schema() {
    let schema = json!({ "type": "object", "additionalProperties": false,
        "required": ["city", "is_capital"],
        "properties": { "city": { "type": "string", "maxLength": 40 },
            "is_capital": { "type": "boolean" } } });
    let output = turn(async |process| {
        let input = json!({ "prompt": "Name the capital of France.", "output": schema });
        start_turn(process, input, None).await
    })
    .output;
    assert!(output["city"].is_string() && output["is_capital"].is_boolean(), "{output}");
}
