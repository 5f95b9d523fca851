//! Many requests, a given number at a time.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{http_connection::HttpConnection, report::Timings};

/// Two threads, so that the client leaves the same capacity to the server on every machine.
pub(crate) fn build_tokio_runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Runs an action `count` times, `at_once` at a time, each worker with its own state.
pub(crate) async fn run_workers<S, F, Fut>(at_once: usize, count: usize, open: F) -> Result<Timings>
where
    S: Send + 'static,
    F: Fn(Arc<AtomicUsize>) -> Fut,
    Fut: Future<Output = Result<S>> + Send + 'static,
    S: LoadWorker,
{
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = Vec::new();
    for _ in 0..at_once {
        workers.push(open(next.clone()).await?);
    }
    let begun = Instant::now();
    let tasks: Vec<_> = workers
        .into_iter()
        .map(|mut worker| {
            let next = next.clone();
            tokio::spawn(async move {
                let mut each = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return anyhow::Ok(each);
                    }
                    each.push(worker.run_once(number).await?);
                }
            })
        })
        .collect();
    let mut each: Vec<Duration> = Vec::new();
    for task in tasks {
        each.extend(task.await??);
    }
    Ok(Timings::new(each, begun))
}

/// One of the parallel workers.
pub(crate) trait LoadWorker {
    /// Runs the action once and returns how long it took.
    fn run_once(&mut self, number: usize) -> impl Future<Output = Result<Duration>> + Send;
}

struct PostWorker<B> {
    connection: HttpConnection,
    path: String,
    body: Arc<B>,
}

impl<B: Fn(usize) -> String + Send + Sync> LoadWorker for PostWorker<B> {
    async fn run_once(&mut self, number: usize) -> Result<Duration> {
        let body = (self.body)(number);
        let begun = Instant::now();
        self.connection.post(&self.path, &body).await?;
        Ok(begun.elapsed())
    }
}

/// Posts bodies over kept connections.
pub(crate) async fn run_posts<B>(
    address: SocketAddr,
    path: &str,
    at_once: usize,
    count: usize,
    body: B,
) -> Result<Timings>
where
    B: Fn(usize) -> String + Send + Sync + 'static,
{
    let body = Arc::new(body);
    run_workers(at_once, count, move |_| {
        let (path, body) = (path.to_owned(), body.clone());
        async move { Ok(PostWorker { connection: HttpConnection::open(address).await?, path, body }) }
    })
    .await
}
