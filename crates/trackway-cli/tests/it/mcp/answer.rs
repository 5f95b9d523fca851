//! The answer of a tool, and the rules for every answer.

use serde_json::Value;

/// The answer of one call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) json: Value,
    pub(super) is_error: bool,
    /// The questions to the person during the call.
    pub(super) asked: Vec<String>,
}

impl ToolAnswer {
    /// Parses the client's report.
    pub(super) fn from_client_report(told: &Value) -> Self {
        assert!(told.get("raised").is_none(), "T8: no call throws, but: {told}");
        let texts = told["text"].as_array().unwrap();
        assert_eq!(texts.len(), 1, "{told}");
        let asked = told["asked"].as_array().unwrap();
        let answer = Self {
            text: texts[0].as_str().unwrap().to_owned(),
            json: told["structured"].clone(),
            is_error: told["isError"].as_bool().unwrap(),
            asked: asked.iter().map(|question| question.as_str().unwrap().to_owned()).collect(),
        };
        answer.check_invariants();
        answer
    }

    /// Both forms at once, for comparing byte for byte.
    pub(super) fn text_and_json(&self) -> String {
        format!("{}\n{}", self.text, self.json)
    }

    pub(super) fn state_token(&self) -> String {
        self.json["stateToken"].as_str().unwrap_or_else(|| panic!("{self:#?}")).to_owned()
    }

    pub(super) fn ack_token(&self) -> String {
        self.json["ackToken"].as_str().unwrap_or_else(|| panic!("{self:#?}")).to_owned()
    }

    pub(super) fn step_id(&self) -> &str {
        self.json["pending"]["stepId"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    pub(super) fn prompt(&self) -> &str {
        self.json["pending"]["prompt"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    pub(super) fn is_complete(&self) -> bool {
        self.json["isComplete"].as_bool().unwrap_or_else(|| panic!("{self:#?}"))
    }

    pub(super) fn session_id(&self) -> &str {
        self.json["session"]["sessionId"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    pub(super) fn run_id(&self) -> &str {
        self.json["session"]["runId"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// The code of an error.
    pub(super) fn error_code(&self) -> &str {
        assert!(self.is_error, "{self:#?}");
        self.json["error"]["code"].as_str().unwrap()
    }

    /// The code of a block.
    pub(super) fn blocked_code(&self) -> &str {
        self.json["blocked"]["code"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// The needs of a block or of an error.
    pub(super) fn needs(&self) -> &[Value] {
        let place = if self.is_error { &self.json["error"] } else { &self.json["blocked"] };
        place["needs"].as_array().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// The need at this pointer.
    pub(super) fn need_at(&self, pointer: &str) -> &Value {
        let mut needs = self.needs().iter();
        needs.find(|need| need["pointer"] == pointer).unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// The codes of its warnings.
    pub(super) fn warning_codes(&self) -> Vec<&str> {
        let warnings = self.json["warnings"].as_array().unwrap();
        warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect()
    }

    fn check_invariants(&self) {
        if self.is_error {
            self.check_error();
        } else if self.json.get("stateToken").is_some() && self.json.get("pending").is_some() {
            self.check_position();
        }
        self.check_tokens();
    }

    /// Proves T8: errors are data.
    fn check_error(&self) {
        let error = &self.json["error"];
        let code = error["code"].as_str().unwrap_or_else(|| panic!("{self:#?}"));
        assert!(self.text.contains(code), "the code stands in the text: {self:#?}");
        for said in ["message", "next"] {
            assert!(error[said].as_str().is_some_and(|text| !text.is_empty()), "{self:#?}");
        }
        assert!(error["retryable"].is_boolean(), "{self:#?}");
    }

    /// Proves T9: an answer has every field, and is complete exactly when nothing is pending.
    fn check_position(&self) {
        let json = &self.json;
        assert_eq!(json["isComplete"], json["pending"].is_null(), "{self:#?}");
        assert!(json["warnings"].is_array() && json.get("blocked").is_some(), "{self:#?}");
        assert!(json["workflowHash"].as_str().unwrap().starts_with("sha256-"), "{self:#?}");
        assert!(json["branch"]["forked"].is_boolean(), "{self:#?}");
        // Nothing can be answered if the run is complete, or if no one may continue it.
        let is_over = ["run-ended", "not-adopted"].iter().any(|code| json["blocked"]["code"] == *code);
        let has_no_ack = is_over || json["isComplete"] == true;
        assert_eq!(json["ackToken"].is_null(), has_no_ack, "{self:#?}");
        if let Some(prompt) = json["pending"]["prompt"].as_str().filter(|_| !is_over) {
            assert!(self.text.contains(prompt.trim_end()), "the text has the prompt: {self:#?}");
        }
        for warning in json["warnings"].as_array().unwrap() {
            assert!(self.text.contains(warning["code"].as_str().unwrap()), "{self:#?}");
        }
        for need in json["blocked"]["needs"].as_array().into_iter().flatten() {
            assert!(self.text.contains(need["pointer"].as_str().unwrap()), "{self:#?}");
        }
    }

    /// Proves T7: the text has the tokens of the JSON and no others, each once, alone on its line, in a
    /// fenced block.
    fn check_tokens(&self) {
        let named = ["stateToken", "ackToken"].map(|name| self.json[name].as_str());
        let items = self.json["items"].as_array().into_iter().flatten();
        let found = items.filter_map(|item| item["stateToken"].as_str());
        let mut named: Vec<&str> = named.into_iter().flatten().chain(found).collect();
        let mut shown = tokens_in_text(&self.text);
        named.sort_unstable();
        shown.sort_unstable();
        assert_eq!(shown, named, "{self:#?}");
        let lines: Vec<&str> = self.text.lines().collect();
        for token in named {
            let line = lines.iter().position(|line| *line == token);
            let line = line.unwrap_or_else(|| panic!("alone on its line: {self:#?}"));
            assert!(lines[line - 1].starts_with("```") && lines[line + 1] == "```", "{self:#?}");
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
            assert!(token.chars().all(plain), "{token}");
        }
    }
}

/// Everything in a text that looks like a token.
fn tokens_in_text(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'));
    let is_token = |word: &&str| {
        let body = word.strip_prefix("st.v1.").or_else(|| word.strip_prefix("ack.v1."));
        body.is_some_and(|body| !body.is_empty())
    };
    words.filter(is_token).collect()
}
