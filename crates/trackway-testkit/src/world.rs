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
use trackway_ports::{Journal, Wakeups};
use trackway_runtime::{LeaseTerm, Messenger, Options, Registry, Runtime, Tools};
use trackway_sqlite::SqliteJournal;

use crate::{
    CountingIds, CrashAt, Life, ManualClock, MemoryJournal,
    tap::{Tap, Tapped},
    taps::{Mortal, OwnThread},
};

/// Far longer than any test takes: only a hang gets there.
const PATIENCE: Duration = Duration::from_secs(60);

/// A thread that hangs must not hide the failure.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The usual path of a memory-backed file system. A sweep syncs many thousand times.
const MEMORY_FOLDER: &str = "/dev/shm";

/// What outlives a process.
#[derive(Debug)]
pub struct World {
    store: Store,
    pub clock: Arc<ManualClock>,
    pub ids: Arc<CountingIds>,
}

#[derive(Debug)]
enum Store {
    Memory(MemoryJournal),
    Sqlite(TempDir),
}

/// How one process differs from the default.
#[derive(Debug)]
pub struct Setup {
    pub registry: Registry,
    pub faults: Arc<CrashAt>,
    /// The interceptor between the runtime and the store.
    pub tap: Option<Arc<dyn Tap>>,
    pub recover: bool,
    /// Delivers updates to hooks.
    pub messenger: Option<Arc<dyn Messenger>>,
    /// The tools that workflow files can use.
    pub tools: Arc<Tools>,
    pub lease: LeaseTerm,
    /// How nodes wake each other.
    pub wakeups: Option<Arc<dyn Wakeups>>,
}

/// A process: a runtime on the world's store.
#[derive(Debug, Clone)]
pub struct Process {
    pub runtime: Runtime,
    pub journal: Arc<dyn Journal>,
    pub clock: Arc<ManualClock>,
    pub faults: Arc<CrashAt>,
}

impl Deref for Process {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

impl From<Registry> for Setup {
    fn from(registry: Registry) -> Self {
        Self {
            registry,
            faults: Arc::new(CrashAt::never()),
            tap: None,
            recover: true,
            messenger: None,
            tools: Arc::default(),
            lease: LeaseTerm::Sole,
            wakeups: None,
        }
    }
}

impl Setup {
    /// One of several nodes on the same store.
    #[must_use]
    pub fn node(mut self, lease: Duration, wakeups: Arc<dyn Wakeups>) -> Self {
        self.lease = LeaseTerm::Renewed(lease);
        self.wakeups = Some(wakeups);
        self
    }

    #[must_use]
    pub fn tap(mut self, tap: Arc<dyn Tap>) -> Self {
        self.tap = Some(tap);
        self
    }

    #[must_use]
    pub fn messenger(mut self, messenger: Arc<dyn Messenger>) -> Self {
        self.messenger = Some(messenger);
        self
    }

    #[must_use]
    pub fn tools(mut self, tools: Arc<Tools>) -> Self {
        self.tools = tools;
        self
    }

    #[must_use]
    pub fn faults(mut self, faults: Arc<CrashAt>) -> Self {
        self.faults = faults;
        self
    }
}

impl World {
    pub fn memory() -> Self {
        Self::new(Store::Memory(MemoryJournal::new()))
    }

    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir_in(MEMORY_FOLDER).or_else(|_| tempfile::tempdir());
        Self::new(Store::Sqlite(folder.expect("a folder for the store")))
    }

    fn new(store: Store) -> Self {
        Self { store, clock: Arc::default(), ids: Arc::default() }
    }

    /// The store's folder, if it has one.
    pub fn folder(&self) -> Option<PathBuf> {
        match &self.store {
            Store::Memory(_) => None,
            Store::Sqlite(folder) => Some(folder.path().to_owned()),
        }
    }

    /// Makes an event unreadable. Only a store in memory can do that from outside.
    pub fn damage(&self, run: RunId, seq: Seq) {
        match &self.store {
            Store::Memory(memory) => memory.damage(run, seq),
            Store::Sqlite(_) => panic!("a store on disk is damaged by its own tests"),
        }
    }

    /// Reads the store while no process runs.
    pub fn look<T, F: Future<Output = T>>(&self, look: impl FnOnce(Arc<dyn Journal>) -> F) -> T {
        let thread =
            tokio::runtime::Builder::new_current_thread().build().expect("a tokio runtime");
        thread.block_on(async {
            let journal: Arc<dyn Journal> = match &self.store {
                Store::Memory(memory) => Arc::new(memory.reopen()),
                Store::Sqlite(folder) => {
                    Arc::new(SqliteJournal::open(folder.path()).expect("the store opens"))
                }
            };
            let seen = look(journal.clone()).await;
            journal.close().await;
            seen
        })
    }

    /// One process from its start to its death: `client` is the code that uses it. When the client has
    /// finished, the process is killed. If a fault point kills it earlier, there is no result.
    pub fn process<T, F: Future<Output = T>>(
        &self,
        setup: impl Into<Setup>,
        client: impl FnOnce(Process) -> F,
    ) -> Option<T> {
        let setup = setup.into();
        let life = setup.faults.life().clone();
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a tokio runtime");
        let (process, store) = {
            let _inside = threads.enter();
            self.open(setup)
        };
        let lived = catch_unwind(AssertUnwindSafe(|| {
            threads.block_on(async {
                tokio::select! {
                    biased;
                    () = life.over() => None,
                    result = client(process) => Some(result),
                    // why: a guard against a hang; nothing waits for it.
                    () = tokio::time::sleep(PATIENCE) => panic!("nothing happens any more"),
                }
            })
        }));
        life.end();
        // The store's threads end at their next fault point. They must not overlap with the next process.
        threads.block_on(store.close());
        drop(store);
        threads.shutdown_timeout(SHUTDOWN);
        match lived {
            Ok(result) => result,
            Err(payload) if Life::took(&*payload) => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Like [`World::process`], for a process without a fault.
    pub fn run<T, F: Future<Output = T>>(
        &self,
        setup: impl Into<Setup>,
        client: impl FnOnce(Process) -> F,
    ) -> T {
        let result = self.process(setup, client);
        result.expect("a process without faults lives as long as its client")
    }

    /// Another process on the store, in addition to the one whose client calls this. It runs until it is
    /// stopped or killed.
    pub fn beside(&self, setup: impl Into<Setup>) -> Process {
        self.open(setup.into()).0
    }

    fn open(&self, setup: Setup) -> (Process, Arc<dyn Journal>) {
        let faults = setup.faults;
        let store: Arc<dyn Journal> = match &self.store {
            Store::Memory(memory) => Arc::new(Tapped::new(
                Arc::new(memory.reopen()),
                Arc::new(OwnThread::new(faults.clone())),
            )),
            Store::Sqlite(folder) => {
                let options =
                    trackway_sqlite::Options { faults: faults.clone(), ..Default::default() };
                let journal = SqliteJournal::open_with(folder.path(), options);
                Arc::new(journal.expect("the store opens"))
            }
        };
        let mortal = Arc::new(Mortal::new(faults.life().clone()));
        let mut journal: Arc<dyn Journal> = Arc::new(Tapped::new(store.clone(), mortal));
        if let Some(tap) = setup.tap {
            journal = Arc::new(Tapped::new(journal, tap));
        }
        let mut options = Options::new(journal.clone(), Arc::new(setup.registry));
        options.clock = self.clock.clone();
        options.ids = self.ids.clone();
        options.faults = faults.clone();
        options.recover = setup.recover;
        options.messenger = setup.messenger;
        options.tools = setup.tools;
        options.lease = setup.lease;
        options.wakeups = setup.wakeups;
        let process = Process {
            runtime: Runtime::start(options),
            journal,
            clock: self.clock.clone(),
            faults,
        };
        (process, store)
    }
}
