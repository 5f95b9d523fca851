//! Contracts of single decisions: loop control, verdicts, assessments, signals.

use serde_json::{Value, json};

use super::{object, one_of, text};

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
        "decision": one_of(&["continue", "stop"]),
        "loopId": { "type": "string", "minLength": 1, "maxLength": 64 },
        "metadata": metadata,
    });
    // `stop`, although a step before the loop that sends it skips the loop: an agent that only copies
    // the example inside of one would otherwise go round until the limit, and the registry does not
    // know where a step stands.
    (object(&["decision"], &properties), json!({ "decision": "stop" }))
}

pub(super) fn review_verdict() -> (Value, Value) {
    let categories =
        ["correctness", "security", "architecture", "ux", "performance", "testing", "style"];
    let finding = object(
        &["severity", "summary"],
        &json!({
            "severity": one_of(&["critical", "major", "minor", "nit"]),
            "summary": text(),
            "findingCategory": one_of(&categories),
        }),
    );
    let properties = json!({
        "verdict": one_of(&["clean", "minor", "blocking"]),
        "confidence": one_of(&["high", "medium", "low"]),
        "findings": { "type": "array", "items": finding },
        "summary": text(),
    });
    let example = json!({
        "verdict": "minor",
        "confidence": "high",
        "findings": [{ "severity": "minor", "summary": "An error message does not name the file" }],
        "summary": "Sound, with one thing to mend",
    });
    (object(&["verdict", "confidence", "findings", "summary"], &properties), example)
}

pub(super) fn gate_verdict() -> (Value, Value) {
    let properties = json!({
        "version": { "const": 1 },
        "verdict": one_of(&["approved", "rejected", "uncertain"]),
        "confidence": one_of(&["high", "medium", "low"]),
        "rationale": { "type": "string", "minLength": 20 },
    });
    let example = json!({
        "version": 1,
        "verdict": "approved",
        "confidence": "medium",
        "rationale": "Each criterion is met by what the step handed in.",
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
        "dimensions": { "evidence": "high" },
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
