//! A proxy between a client and a server that can cut connections: it counts the bytes that it carries.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

#[derive(Debug)]
pub(crate) struct CuttingProxy {
    pub(crate) url: String,
    plan: Arc<Mutex<ProxyPlan>>,
    carrying: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct ProxyPlan {
    /// Connections fail while there is none.
    target: Option<SocketAddr>,
    /// How many bytes each of the next connections carries to the client; later ones have no limit.
    budgets: VecDeque<usize>,
    /// How many connections were cut in the middle.
    cuts: usize,
}

impl Drop for CuttingProxy {
    fn drop(&mut self) {
        self.carrying.abort();
    }
}

impl CuttingProxy {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let plan = Arc::new(Mutex::new(ProxyPlan::default()));
        let planned = Arc::clone(&plan);
        let carrying = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (target, budget) = {
                    let mut plan = planned.lock().unwrap();
                    let target = plan.target;
                    (target, target.and_then(|_| plan.budgets.pop_front()))
                };
                if let Some(target) = target {
                    let planned = Arc::clone(&planned);
                    tokio::spawn(async move {
                        if forward_bytes(client, target, budget.unwrap_or(usize::MAX)).await
                            == ForwardEnd::Cut
                        {
                            planned.lock().unwrap().cuts += 1;
                        }
                    });
                }
            }
        });
        Self { url, plan, carrying }
    }

    pub(crate) fn forward_to(&self, target: Option<SocketAddr>) {
        self.plan.lock().unwrap().target = target;
    }

    /// Cuts each of the next connections after this many bytes.
    pub(crate) fn cut_after(&self, budgets: impl IntoIterator<Item = usize>) {
        self.plan.lock().unwrap().budgets = budgets.into_iter().collect();
    }

    pub(crate) fn cuts(&self) -> usize {
        self.plan.lock().unwrap().cuts
    }
}

#[derive(PartialEq)]
enum ForwardEnd {
    ByASide,
    Cut,
}

/// Copies both directions, until one side closes or the budget is used up; then both sides are closed.
async fn forward_bytes(client: TcpStream, target: SocketAddr, budget: usize) -> ForwardEnd {
    let server = TcpStream::connect(target).await.unwrap();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async { tokio::io::copy(&mut from_client, &mut to_server).await };
    let answers = async {
        let mut left = budget;
        let mut buffer = [0; 4_096];
        while left > 0 {
            let most = left.min(buffer.len());
            let read = from_server.read(&mut buffer[..most]).await.unwrap_or(0);
            if read == 0 || to_client.write_all(&buffer[..read]).await.is_err() {
                return ForwardEnd::ByASide;
            }
            left -= read;
        }
        ForwardEnd::Cut
    };
    tokio::select! {
        _ = requests => ForwardEnd::ByASide,
        ended = answers => ended,
    }
}
