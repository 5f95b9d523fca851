//! A world in which processes start and die: one store, one clock and one source of ids that outlive
//! them.

use std::{
    future::Future,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use trackway_domain::{RunId, Seq};
use trackway_ports::{ArtifactStore, Journal, StepNoteHandler, Wakeups};
use trackway_runtime::{HookMessenger, LeaseMode, Options, ProgramRegistry, Runtime, Tools};
use trackway_sqlite::SqliteJournal;

use crate::{
    CountingIds, CrashAt, ManualClock, MemoryJournal, ProcessLife,
    interceptor::{InterceptedJournal, JournalInterceptor},
    interceptors::{OwnThreadInterceptor, ProcessLifeInterceptor},
};

/// Far longer than any test takes: only a hang gets there.
const PATIENCE: Duration = Duration::from_secs(60);

/// A thread that hangs must not hide the failure.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The usual path of a memory-backed file system. A sweep syncs many thousand times.
const MEMORY_FOLDER: &str = "/dev/shm";

/// What outlives a process.
#[derive(Debug)]
pub struct TestWorld {
    store: WorldStore,
    pub clock: Arc<ManualClock>,
    pub ids: Arc<CountingIds>,
}

#[derive(Debug)]
enum WorldStore {
    Memory(MemoryJournal),
    Sqlite(TempDir),
}

/// How one process differs from the default.
#[derive(Debug)]
pub struct ProcessSetup {
    pub registry: ProgramRegistry,
    pub faults: Arc<CrashAt>,
    /// The interceptor between the runtime and the store.
    pub interceptor: Option<Arc<dyn JournalInterceptor>>,
    pub recover: bool,
    /// Delivers updates to hooks.
    pub messenger: Option<Arc<dyn HookMessenger>>,
    /// Releases what steps began elsewhere.
    pub step_notes: Option<Arc<dyn StepNoteHandler>>,
    /// The tools that workflow files can use.
    pub tools: Arc<Tools>,
    pub lease: LeaseMode,
    /// How nodes wake each other.
    pub wakeups: Option<Arc<dyn Wakeups>>,
}

/// A process: a runtime on the world's store.
#[derive(Debug, Clone)]
pub struct TestProcess {
    pub runtime: Runtime,
    pub journal: Arc<dyn Journal>,
    pub clock: Arc<ManualClock>,
    pub faults: Arc<CrashAt>,
}

impl Deref for TestProcess {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

impl From<ProgramRegistry> for ProcessSetup {
    fn from(registry: ProgramRegistry) -> Self {
        Self {
            registry,
            faults: Arc::new(CrashAt::never_crash()),
            interceptor: None,
            recover: true,
            messenger: None,
            step_notes: None,
            tools: Arc::default(),
            lease: LeaseMode::Exclusive,
            wakeups: None,
        }
    }
}

impl ProcessSetup {
    /// One of several nodes on the same store.
    #[must_use]
    pub fn as_node_with_lease(mut self, lease: Duration, wakeups: Arc<dyn Wakeups>) -> Self {
        self.lease = LeaseMode::Renewed(lease);
        self.wakeups = Some(wakeups);
        self
    }

    #[must_use]
    pub fn with_interceptor(mut self, tap: Arc<dyn JournalInterceptor>) -> Self {
        self.interceptor = Some(tap);
        self
    }

    #[must_use]
    pub fn with_messenger(mut self, messenger: Arc<dyn HookMessenger>) -> Self {
        self.messenger = Some(messenger);
        self
    }

    #[must_use]
    pub fn with_step_notes(mut self, handler: Arc<dyn StepNoteHandler>) -> Self {
        self.step_notes = Some(handler);
        self
    }

    #[must_use]
    pub fn with_tools(mut self, tools: Arc<Tools>) -> Self {
        self.tools = tools;
        self
    }

    #[must_use]
    pub fn with_faults(mut self, faults: Arc<CrashAt>) -> Self {
        self.faults = faults;
        self
    }
}

impl TestWorld {
    pub fn with_memory_store() -> Self {
        Self::new(WorldStore::Memory(MemoryJournal::new()))
    }

    pub fn with_sqlite_store() -> Self {
        let folder = tempfile::tempdir_in(MEMORY_FOLDER).or_else(|_| tempfile::tempdir());
        Self::new(WorldStore::Sqlite(folder.expect("a folder for the store")))
    }

    fn new(store: WorldStore) -> Self {
        Self { store, clock: Arc::default(), ids: Arc::default() }
    }

    /// The store's folder, if it has one.
    pub fn store_folder(&self) -> Option<PathBuf> {
        match &self.store {
            WorldStore::Memory(_) => None,
            WorldStore::Sqlite(folder) => Some(folder.path().to_owned()),
        }
    }

    /// Makes an event unreadable. Only a store in memory can do that from outside.
    pub fn damage_event(&self, run: RunId, seq: Seq) {
        match &self.store {
            WorldStore::Memory(memory) => memory.damage_event(run, seq),
            WorldStore::Sqlite(_) => panic!("a store on disk is damaged by its own tests"),
        }
    }

    /// Reads the store while no process runs.
    pub fn inspect_store<T, F: Future<Output = T>>(&self, look: impl FnOnce(Arc<dyn Journal>) -> F) -> T {
        let thread = tokio::runtime::Builder::new_current_thread().build().expect("a tokio runtime");
        thread.block_on(async {
            let journal: Arc<dyn Journal> = match &self.store {
                WorldStore::Memory(memory) => Arc::new(memory.reopen_as_next_process()),
                WorldStore::Sqlite(folder) => {
                    Arc::new(SqliteJournal::open(folder.path()).expect("the store opens"))
                }
            };
            let seen = look(journal.clone()).await;
            journal.close_store().await;
            seen
        })
    }

    /// Reads the artifacts of the store while no process runs.
    pub fn inspect_artifacts<T, F: Future<Output = T>>(
        &self,
        look: impl FnOnce(Arc<dyn ArtifactStore>) -> F,
    ) -> T {
        let thread = tokio::runtime::Builder::new_current_thread().build().expect("a tokio runtime");
        thread.block_on(async {
            match &self.store {
                WorldStore::Memory(memory) => look(Arc::new(memory.reopen_as_next_process())).await,
                WorldStore::Sqlite(folder) => {
                    let journal = Arc::new(SqliteJournal::open(folder.path()).expect("the store opens"));
                    let seen = look(journal.clone()).await;
                    journal.close_store().await;
                    seen
                }
            }
        })
    }

    /// One process from its start to its death: `client` is the code that uses it. When the client has
    /// finished, the process is killed. If a fault point kills it earlier, there is no result.
    pub fn run_process<T, F: Future<Output = T>>(
        &self,
        setup: impl Into<ProcessSetup>,
        client: impl FnOnce(TestProcess) -> F,
    ) -> Option<T> {
        let setup = setup.into();
        let life = setup.faults.process_life().clone();
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a tokio runtime");
        let (process, store) = {
            let _inside = threads.enter();
            self.open_process(setup)
        };
        let lived = catch_unwind(AssertUnwindSafe(|| {
            threads.block_on(async {
                tokio::select! {
                    biased;
                    () = life.wait_until_over() => None,
                    result = client(process) => Some(result),
                    // why: a guard against a hang; nothing waits for it.
                    () = tokio::time::sleep(PATIENCE) => panic!("nothing happens any more"),
                }
            })
        }));
        life.end_process();
        // The store's threads end at their next fault point. They must not overlap with the next process.
        threads.block_on(store.close_store());
        drop(store);
        threads.shutdown_timeout(SHUTDOWN);
        match lived {
            Ok(result) => result,
            Err(payload) if ProcessLife::ended_thread(&*payload) => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Like [`TestWorld::run_process`], for a process without a fault.
    pub fn run_to_completion<T, F: Future<Output = T>>(
        &self,
        setup: impl Into<ProcessSetup>,
        client: impl FnOnce(TestProcess) -> F,
    ) -> T {
        let result = self.run_process(setup, client);
        result.expect("a process without faults lives as long as its client")
    }

    /// Another process on the store, in addition to the one whose client calls this. It runs until it is
    /// stopped or killed.
    pub fn start_second_process(&self, setup: impl Into<ProcessSetup>) -> TestProcess {
        self.open_process(setup.into()).0
    }

    fn open_process(&self, setup: ProcessSetup) -> (TestProcess, Arc<dyn Journal>) {
        let faults = setup.faults;
        let store: Arc<dyn Journal> = match &self.store {
            WorldStore::Memory(memory) => Arc::new(InterceptedJournal::new(
                Arc::new(memory.reopen_as_next_process()),
                Arc::new(OwnThreadInterceptor::new(faults.clone())),
            )),
            WorldStore::Sqlite(folder) => {
                let options = trackway_sqlite::SqliteOptions { faults: faults.clone(), ..Default::default() };
                let journal = SqliteJournal::open_with_options(folder.path(), options);
                Arc::new(journal.expect("the store opens"))
            }
        };
        let mortal = Arc::new(ProcessLifeInterceptor::new(faults.process_life().clone()));
        let mut journal: Arc<dyn Journal> = Arc::new(InterceptedJournal::new(store.clone(), mortal));
        if let Some(tap) = setup.interceptor {
            journal = Arc::new(InterceptedJournal::new(journal, tap));
        }
        let mut options = Options::new(journal.clone(), Arc::new(setup.registry));
        options.clock = self.clock.clone();
        options.ids = self.ids.clone();
        options.faults = faults.clone();
        options.resume_unfinished = setup.recover;
        options.messenger = setup.messenger;
        options.step_notes = setup.step_notes;
        options.tools = setup.tools;
        options.lease = setup.lease;
        options.wakeups = setup.wakeups;
        let process =
            TestProcess { runtime: Runtime::start(options), journal, clock: self.clock.clone(), faults };
        (process, store)
    }
}
