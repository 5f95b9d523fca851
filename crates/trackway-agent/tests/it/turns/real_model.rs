//! Turns with a small real model behind an OpenAI-compatible server. Ordinary runs leave these out;
//! `cargo xtask real-model` installs the model, serves it and runs them.

use std::sync::Arc;

use serde_json::json;
use trackway_agent::{Endpoint, Model, Stock, provider::open};
use trackway_domain::{RunId, StateName};
use trackway_engine::RunView;
use trackway_testkit::{Process, World};

use super::kit::{ended, registry, say, spec, spoken, submit};

/// The address of the server. Without it the test fails: a requested test that did nothing would
/// mislead.
#[expect(clippy::disallowed_methods, reason = "only tests that are asked for read it")]
fn stock() -> Stock {
    let url = std::env::var("TRACKWAY_TEST_MODEL_URL")
        .expect("TRACKWAY_TEST_MODEL_URL is not set: run `cargo xtask real-model`, which sets it");
    let endpoint = Endpoint { base_url: Some(url), ..Endpoint::new("smollm2-135m") };
    let provider = Arc::new(open("openai", &endpoint).unwrap());
    let mut stock = Stock { default_model: "main".to_owned(), ..Stock::default() };
    stock.models.insert("main".to_owned(), Model { provider, price: None });
    stock
}

/// A turn of an agent without tools, because such a small model could not use them.
fn turn(begin: impl AsyncFnOnce(&Process) -> RunId) -> RunView {
    let mut spec = spec();
    (spec.tools, spec.workflows) = (Vec::new(), Vec::new());
    let view = World::memory().run(registry(&spec, &stock(), &[]), async |process| {
        let run = begin(&process).await;
        ended(&process, run).await
    });
    assert_eq!(view.state, StateName::Completed, "{view:?}");
    view
}

#[test]
#[ignore = "needs a model server: cargo xtask real-model"]
fn a_real_model_is_talked_with() {
    let view = turn(async |process| say(process, "m1", "Say hello to me.").await);
    let (output, said) = (&view.output, spoken(&view));
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
        submit(process, input, None).await
    })
    .output;
    assert!(output["city"].is_string() && output["is_capital"].is_boolean(), "{output}");
}
