//! Contracts of single decisions: loop control, verdicts, assessments, signals.

use serde_json::{Value, json};

use super::{object, one_of, text};
use crate::choice::choice;

const DECISIONS: [&str; 2] = ["continue", "stop"];
const SEVERITIES: [&str; 4] = ["critical", "major", "minor", "nit"];
const VERDICTS: [&str; 3] = ["clean", "minor", "blocking"];
const GATE_VERDICTS: [&str; 3] = ["approved", "rejected", "uncertain"];
const CONFIDENCES: [&str; 3] = ["high", "medium", "low"];

pub(super) fn loop_control() -> (Value, Value) {
    let metadata = json!({
        "type": "object",
        "properties": {
            "reason": { "type": "string", "maxLength": 1024 },
            "issuesFound": { "type": "integer", "minimum": 0 },
            "iterationIndex": { "type": "integer", "minimum": 0 },
            "confidence": { "type": "integer", "minimum": 0, "maximum": 100 },
        },
    });
    let properties = json!({
        "decision": one_of(&DECISIONS),
        "loopId": { "type": "string", "minLength": 1, "maxLength": 64 },
        "metadata": metadata,
    });
    (object(&["decision"], &properties), json!({ "decision": choice(&DECISIONS) }))
}

pub(super) fn review_verdict() -> (Value, Value) {
    let categories =
        ["correctness", "security", "architecture", "ux", "performance", "testing", "style"];
    let finding = object(
        &["severity", "summary"],
        &json!({
            "severity": one_of(&SEVERITIES),
            "summary": text(),
            "findingCategory": one_of(&categories),
        }),
    );
    let properties = json!({
        "verdict": one_of(&VERDICTS),
        "confidence": one_of(&CONFIDENCES),
        "findings": { "type": "array", "items": finding },
        "summary": text(),
    });
    let example = json!({
        "verdict": choice(&VERDICTS),
        "confidence": choice(&CONFIDENCES),
        "findings": [{ "severity": choice(&SEVERITIES), "summary": "An error message does not name the file" }],
        "summary": "What the review comes to, in one sentence",
    });
    (object(&["verdict", "confidence", "findings", "summary"], &properties), example)
}

pub(super) fn gate_verdict() -> (Value, Value) {
    let properties = json!({
        "version": { "const": 1 },
        "verdict": one_of(&GATE_VERDICTS),
        "confidence": one_of(&CONFIDENCES),
        "rationale": { "type": "string", "minLength": 20 },
    });
    let example = json!({
        "version": 1,
        "verdict": choice(&GATE_VERDICTS),
        "confidence": choice(&CONFIDENCES),
        "rationale": "Which criteria are met, and which are not, and why.",
    });
    (object(&["version", "verdict", "confidence", "rationale"], &properties), example)
}

pub(super) fn assessment() -> (Value, Value) {
    let judged = object(
        &["level"],
        &json!({ "level": text(), "rationale": { "type": "string", "minLength": 1, "maxLength": 512 } }),
    );
    let properties = json!({
        "assessmentId": { "type": "string", "minLength": 1, "maxLength": 64 },
        "dimensions": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": { "anyOf": [text(), judged] },
        },
        "summary": { "type": "string", "maxLength": 1024 },
    });
    let example = json!({
        "assessmentId": "readiness",
        "dimensions": { "evidence": choice(&["a level of this dimension"]) },
    });
    (object(&["dimensions"], &properties), example)
}

pub(super) fn coordinator_signal() -> (Value, Value) {
    let kinds = ["progress", "finding", "data_needed", "approval_needed", "blocked"];
    let properties = json!({
        "signalKind": one_of(&kinds),
        "payload": { "type": "object" },
        "sessionId": { "type": "string" },
    });
    let example = json!({
        "signalKind": "progress",
        "payload": { "summary": "The first half is done" },
    });
    (object(&["signalKind", "payload"], &properties), example)
}
