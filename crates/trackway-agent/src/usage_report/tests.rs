//! Usage from logs.

use serde_json::json;
use trackway_domain::Op;

use super::*;

fn model_call_event(occurrence: u32, label: &str, usage: &serde_json::Value, cost: Option<f64>) -> Event {
    let mut value = json!({
        "answer": { "text": "", "reasoning": "", "calls": [], "finish": "stop", "usage": usage },
        "label": label,
        "ended_at": 1,
    });
    if let Some(cost) = cost {
        value["cost"] = json!(cost);
    }
    let op = Op { kind: OpKind::Step, key: MODEL_KEY.into(), occurrence };
    Event::StepDone { op, outcome: StepOutcome::Ok(value) }
}

/// Proves X7: the log alone gives the usage by model, including a call without counts.
#[test]
fn a_log_says_what_was_used() {
    let log = [
        Event::Started,
        model_call_event(0, REPLY_LABEL, &json!(null), None),
        model_call_event(1, "openai/a", &json!({ "input_tokens": 10, "output_tokens": 2 }), Some(0.5)),
        model_call_event(
            2,
            "openai/a",
            &json!({ "input_tokens": 20, "output_tokens": 3, "cached_tokens": 8 }),
            Some(0.25),
        ),
        model_call_event(3, "offline-rules/1", &json!(null), None),
    ];
    let bill = ModelUsageReport::report_from_events(&log).unwrap();
    assert_eq!((bill.total.calls, bill.total.input_tokens, bill.total.output_tokens), (3, 30, 5));
    assert_eq!((bill.total.cached_tokens, bill.total.cost), (8, Some(0.75)));
    assert_eq!(bill.models["openai/a"].calls, 2);
    assert_eq!(bill.models["offline-rules/1"], ModelUsageTotals { calls: 1, ..ModelUsageTotals::default() });

    let mut sum = bill.clone();
    sum.merge_usage_report(&bill);
    assert_eq!((sum.total.calls, sum.models["openai/a"].cost), (6, Some(1.5)));
}

/// Without model calls there is no usage.
#[test]
fn a_run_without_models_has_no_bill() {
    assert_eq!(
        ModelUsageReport::report_from_events(&[
            Event::Started,
            model_call_event(0, REPLY_LABEL, &json!(null), None)
        ]),
        None
    );
    let op = Op { kind: OpKind::Step, key: MODEL_KEY.into(), occurrence: 0 };
    let other = Event::StepDone { op, outcome: StepOutcome::Ok(json!({ "limit": "late" })) };
    assert_eq!(ModelUsageReport::report_from_events(&[other]), None);
}

/// A model call for a summary costs as much as any other; a compaction without a model call costs
/// nothing.
#[test]
fn a_summary_is_on_the_bill() {
    let summed = |asked: serde_json::Value| {
        let op = Op { kind: OpKind::Step, key: COMPACT_KEY.into(), occurrence: 0 };
        let value = json!({ "summary": "s", "kept": [], "summary_usage": asked });
        Event::StepDone { op, outcome: StepOutcome::Ok(value) }
    };
    let usage = json!({ "input_tokens": 100, "output_tokens": 7 });
    let asked = json!({ "label": "openai/a", "usage": usage, "cost": 0.5 });
    let bill = ModelUsageReport::report_from_events(&[summed(asked)]).unwrap();
    assert_eq!((bill.total.calls, bill.total.input_tokens, bill.total.cost), (1, 100, Some(0.5)));
    assert_eq!(ModelUsageReport::report_from_events(&[summed(json!(null))]), None);
}
