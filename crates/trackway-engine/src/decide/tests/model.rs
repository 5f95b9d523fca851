//! A second, minimal model of a run: the name of its state, and the number of requests per
//! question. It shares no code with the code that it checks.

#[derive(Debug)]
pub(super) struct Model {
    pub(super) state: &'static str,
    pub(super) questions: Vec<Question>,
    /// How often the run entered `working`: by its start, by an answer, by a withdrawal.
    pub(super) works: usize,
}

#[derive(Debug)]
pub(super) struct Question {
    /// The one valid answer among the generator's commands.
    valid: &'static [&'static str],
    pub(super) requests: u32,
    pub(super) answered: bool,
}

impl Model {
    pub(super) fn submitted() -> Self {
        Self { state: "submitted", questions: Vec::new(), works: 0 }
    }

    pub(super) fn ended(&self) -> bool {
        matches!(self.state, "completed" | "failed" | "canceled" | "rejected")
    }

    fn waits(&self) -> bool {
        self.state.ends_with("-required")
    }

    pub(super) fn tell(&mut self, words: &str) {
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        if verb == "answer" || verb == "say" {
            self.hear(rest);
            return;
        }
        if self.ended() {
            return;
        }
        match verb {
            "status" | "artifact" | "append" | "step" | "retry" | "draw" | "sleep" | "child" => {
                self.begin();
            }
            "ask" if !self.waits() => {
                self.begin();
                self.ask(rest);
            }
            "withdraw" if self.waits() && rest == format!("q{}", self.questions.len()) => {
                self.work();
            }
            "return" => self.end("completed"),
            "error" => self.end("failed"),
            "fire" if rest == "deadline" => {
                self.leave_question();
                self.state = "failed";
            }
            "cancel" => self.state = "canceled",
            "reject" => self.state = "rejected",
            _ => {}
        }
    }

    fn work(&mut self) {
        self.state = "working";
        self.works += 1;
    }

    fn begin(&mut self) {
        if self.state == "submitted" {
            self.work();
        }
    }

    fn leave_question(&mut self) {
        if self.waits() {
            self.work();
        }
    }

    fn end(&mut self, state: &'static str) {
        self.begin();
        self.leave_question();
        self.state = state;
    }

    fn ask(&mut self, what: &str) {
        let (state, valid): (_, &'static [_]) = match what {
            "signature" => ("auth-required", &["signature=me", "hello"]),
            _ => ("input-required", &["amount=5"]),
        };
        self.state = state;
        self.questions.push(Question { valid, requests: 0, answered: false });
    }

    fn hear(&mut self, words: &str) {
        let ended = self.ended();
        let named = words.split(' ').next().and_then(|word| word.strip_prefix('q'));
        let last = self.questions.len();
        let index = match named {
            Some(number) => number.parse().unwrap(),
            None if self.waits() => last,
            None if self.state == "working" && last > 0 => last,
            None => return,
        };
        let open = self.waits() && index == last;
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
            self.work();
        }
    }
}
