//! A second, minimal model of a run: the name of its state, and the number of requests per
//! question. It shares no code with the code that it checks.

#[derive(Debug)]
pub(super) struct ReferenceModel {
    pub(super) state: &'static str,
    pub(super) questions: Vec<ModelQuestion>,
    /// How often the run entered `working`: by its start, by an answer, by a withdrawal.
    pub(super) works: usize,
}

#[derive(Debug)]
pub(super) struct ModelQuestion {
    /// The one valid answer among the generator's commands.
    valid: &'static [&'static str],
    pub(super) requests: u32,
    pub(super) answered: bool,
}

impl ReferenceModel {
    pub(super) fn submitted() -> Self {
        Self { state: "submitted", questions: Vec::new(), works: 0 }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, "completed" | "failed" | "canceled" | "rejected")
    }

    fn is_waiting(&self) -> bool {
        self.state.ends_with("-required")
    }

    pub(super) fn apply_command(&mut self, words: &str) {
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        if verb == "answer" || verb == "say" {
            self.apply_answer(rest);
            return;
        }
        if self.has_ended() {
            return;
        }
        match verb {
            "status" | "artifact" | "append" | "step" | "retry" | "draw" | "sleep" | "child" => {
                self.begin();
            }
            // A note that removes none is not recorded.
            "note" if rest != "pay null" => self.begin(),
            "ask" if !self.is_waiting() => {
                self.begin();
                self.ask(rest);
            }
            "withdraw" if self.is_waiting() && rest == format!("q{}", self.questions.len()) => {
                self.enter_working();
            }
            "return" => self.end("completed"),
            "error" => self.end("failed"),
            "fire" if rest == "deadline" => {
                self.close_question();
                self.state = "failed";
            }
            "cancel" => self.state = "canceled",
            "reject" => self.state = "rejected",
            _ => {}
        }
    }

    fn enter_working(&mut self) {
        self.state = "working";
        self.works += 1;
    }

    fn begin(&mut self) {
        if self.state == "submitted" {
            self.enter_working();
        }
    }

    fn close_question(&mut self) {
        if self.is_waiting() {
            self.enter_working();
        }
    }

    fn end(&mut self, state: &'static str) {
        self.begin();
        self.close_question();
        self.state = state;
    }

    fn ask(&mut self, what: &str) {
        let (state, valid): (_, &'static [_]) = match what {
            "signature" => ("auth-required", &["signature=me", "hello"]),
            _ => ("input-required", &["amount=5"]),
        };
        self.state = state;
        self.questions.push(ModelQuestion { valid, requests: 0, answered: false });
    }

    fn apply_answer(&mut self, words: &str) {
        let ended = self.has_ended();
        let named = words.split(' ').next().and_then(|word| word.strip_prefix('q'));
        let last = self.questions.len();
        let index = match named {
            Some(number) => number.parse().unwrap(),
            None if self.is_waiting() => last,
            None if self.state == "working" && last > 0 => last,
            None => return,
        };
        let open = self.is_waiting() && index == last;
        let Some(question) = self.questions.get_mut(index - 1) else {
            return;
        };
        if ended && !question.answered {
            return;
        }
        question.requests += 1;
        let payload = words.rsplit(' ').next().unwrap();
        if open && question.valid.contains(&payload) {
            question.answered = true;
            self.enter_working();
        }
    }
}
