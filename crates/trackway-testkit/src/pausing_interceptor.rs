//! An interceptor that pauses commits, their answers, and reads, each until the test releases it.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex},
};

use tokio::sync::watch;
use trackway_domain::RunId;
use trackway_ports::{Append, AppendCallback, Journal, MessageClaimKey, PortFuture};

use crate::{interceptor::JournalInterceptor, interceptors::lock_ignoring_poison};

type AppendFilter = Box<dyn Fn(&Append) -> bool + Send>;

/// Pauses appends, or reads of a run's events, until they are released.
#[derive(Default)]
pub struct PausingInterceptor {
    withheld: Mutex<PausedAppends>,
    count: watch::Sender<usize>,
    paused_messages: watch::Sender<usize>,
    reads: watch::Sender<HashSet<RunId>>,
    readers: watch::Sender<usize>,
    answers: Arc<watch::Sender<Vec<PausedAnswer>>>,
    /// Ids of messages whose lookup is paused.
    messages: watch::Sender<HashSet<String>>,
}

type PausedAnswer = Box<dyn FnOnce() + Send + Sync>;

#[derive(Default)]
struct PausedAppends {
    choose: Option<AppendFilter>,
    appends: Vec<(Arc<dyn Journal>, Append, AppendCallback)>,
    choose_answers: Option<AppendFilter>,
}

impl fmt::Debug for PausingInterceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl PausingInterceptor {
    pub fn new() -> Self {
        Self::default()
    }

    /// Pauses every append that the filter selects, and every later append of the same run.
    pub fn pause_appends(&self, choose: impl Fn(&Append) -> bool + Send + 'static) {
        lock_ignoring_poison(&self.withheld).choose = Some(Box::new(choose));
    }

    /// Forwards the paused appends, in order, and pauses nothing more.
    pub fn resume_appends(&self) {
        let mut withheld = lock_ignoring_poison(&self.withheld);
        withheld.choose = None;
        for (journal, append, done) in std::mem::take(&mut withheld.appends) {
            journal.append(append, done);
        }
    }

    /// Lets selected appends commit, and pauses their answers.
    pub fn pause_answers(&self, choose: impl Fn(&Append) -> bool + Send + 'static) {
        lock_ignoring_poison(&self.withheld).choose_answers = Some(Box::new(choose));
    }

    /// Resolves when this many answers are paused.
    pub async fn wait_for_paused_answers(&self, answers: usize) {
        let _ = self.answers.subscribe().wait_for(|held| held.len() >= answers).await;
    }

    /// Releases the paused answers, and stops pausing.
    pub fn resume_answers(&self) {
        lock_ignoring_poison(&self.withheld).choose_answers = None;
        for answer in self.answers.send_replace(Vec::new()) {
            answer();
        }
    }

    /// Searches the paused appends; returns the first match.
    pub fn find_in_paused_appends<T>(&self, look: impl Fn(&Append) -> Option<T>) -> Option<T> {
        let withheld = lock_ignoring_poison(&self.withheld);
        withheld.appends.iter().find_map(|(_, append, _)| look(append))
    }

    /// Resolves when this many appends in total were paused.
    pub async fn wait_for_paused_appends(&self, appends: usize) {
        let _ = self.count.subscribe().wait_for(|n| *n >= appends).await;
    }

    /// Resolves when the appends of this many messages were paused. A program's own appends do not count.
    pub async fn wait_for_paused_messages(&self, messages: usize) {
        let _ = self.paused_messages.subscribe().wait_for(|paused| *paused >= messages).await;
    }

    /// Pauses reads of this run's events.
    pub fn pause_reads(&self, run: RunId) {
        self.reads.send_modify(|held| {
            held.insert(run);
        });
    }

    /// Pauses the lookup of this message, which counts as a read.
    pub fn pause_message_lookup(&self, id: &str) {
        self.messages.send_modify(|held| {
            held.insert(id.to_owned());
        });
    }

    pub fn resume_reads(&self) {
        self.reads.send_modify(HashSet::clear);
        self.messages.send_modify(HashSet::clear);
    }

    /// Resolves when this many reads in total were paused.
    pub async fn wait_for_paused_reads(&self, reads: usize) {
        let _ = self.readers.subscribe().wait_for(|n| *n >= reads).await;
    }
}

impl PausingInterceptor {
    /// The same answer, delayed until answers are released.
    fn answer_on_resume(&self, done: AppendCallback) -> AppendCallback {
        let answers = self.answers.clone();
        // Only one thread ever calls it, which the compiler cannot know.
        let done = Mutex::new(Some(done));
        Box::new(move |result| {
            let answer = move || {
                if let Some(done) = lock_ignoring_poison(&done).take() {
                    done(result);
                }
            };
            answers.send_modify(|held| held.push(Box::new(answer)));
        })
    }
}

impl JournalInterceptor for PausingInterceptor {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        let mut withheld = lock_ignoring_poison(&self.withheld);
        let quiet = withheld.choose_answers.as_ref().is_some_and(|choose| choose(&append));
        let done = if quiet { self.answer_on_resume(done) } else { done };
        let behind = withheld.appends.iter().any(|(_, other, _)| other.run == append.run);
        let chosen = withheld.choose.as_ref().is_some_and(|choose| choose(&append));
        if behind || chosen {
            let is_message = append.message_claim.is_some();
            withheld.appends.push((journal.clone(), append, done));
            self.count.send_modify(|count| *count += 1);
            self.paused_messages.send_modify(|count| *count += usize::from(is_message));
        } else {
            journal.append(append, done);
        }
    }

    fn before_read(&self, run: Option<RunId>) -> PortFuture<'_, ()> {
        Box::pin(async move {
            if let Some(run) = run {
                self.wait_until_resumed(&self.reads, |held| held.contains(&run)).await;
            }
        })
    }

    fn before_claim_lookup(&self, key: &MessageClaimKey) -> PortFuture<'_, ()> {
        let id = key.message.as_str().to_owned();
        Box::pin(async move { self.wait_until_resumed(&self.messages, |held| held.contains(&id)).await })
    }
}

impl PausingInterceptor {
    /// Waits until something is no longer paused.
    async fn wait_until_resumed<T>(&self, held: &watch::Sender<T>, is_held: impl Fn(&T) -> bool) {
        let mut changes = held.subscribe();
        if is_held(&changes.borrow_and_update()) {
            self.readers.send_modify(|count| *count += 1);
            let _ = changes.wait_for(|held| !is_held(held)).await;
        }
    }
}
