//! A minimal HTTP client: one kept connection, one request at a time. It does little work, so that the
//! figures are the server's.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

pub(crate) struct HttpConnection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

impl HttpConnection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream), address })
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Result<Vec<u8>> {
        self.send_request("POST", path, &[], body).await?;
        let mut whole = Vec::new();
        self.read_response(|piece| whole.extend_from_slice(piece)).await?;
        Ok(whole)
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Vec<u8>> {
        self.send_request("GET", path, &[], "").await?;
        let mut whole = Vec::new();
        self.read_response(|piece| whole.extend_from_slice(piece)).await?;
        Ok(whole)
    }

    pub(crate) async fn send_request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<()> {
        let mut whole = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            self.address,
            body.len(),
        );
        for (name, value) in headers {
            whole.extend([name, ": ", value, "\r\n"]);
        }
        whole.extend(["\r\n", body]);
        Ok(self.stream.get_mut().write_all(whole.as_bytes()).await?)
    }

    /// Reads a response and passes each chunk of its body on as it arrives.
    pub(crate) async fn read_response(&mut self, mut piece: impl FnMut(&[u8])) -> Result<()> {
        let mut line = String::new();
        let (mut length, mut chunked) = (None, false);
        loop {
            line.clear();
            if self.stream.read_line(&mut line).await? == 0 {
                bail!("the server closed the connection");
            }
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((line.as_str(), ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse::<usize>()?);
            }
            chunked |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        if !chunked {
            let mut body = vec![0; length.context("a body without length")?];
            self.stream.read_exact(&mut body).await?;
            piece(&body);
            return Ok(());
        }
        loop {
            line.clear();
            self.stream.read_line(&mut line).await?;
            let size = usize::from_str_radix(line.trim(), 16)?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).await?;
            if size == 0 {
                return Ok(());
            }
            piece(&chunk[..size]);
        }
    }
}
