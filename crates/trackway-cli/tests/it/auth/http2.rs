//! HTTP/2 in clear, written by hand: client libraries refuse to send invalid requests.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

/// What every connection begins with (RFC 9113, 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// The preface and the client's settings, after which a server waits for a request.
pub(super) fn hello() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

/// Sends one GET on a separate connection and returns the body; empty if the request was refused without
/// one.
pub(super) fn get(address: &str, path: &str, authority: Option<&str>, host: Option<&str>) -> String {
    // Names by their number in the static table (RFC 7541, appendix A), values unchanged.
    let mut block = vec![0x82, 0x86];
    literal(&mut block, 4, path);
    if let Some(authority) = authority {
        literal(&mut block, 1, authority);
    }
    if let Some(host) = host {
        // `host` is number 38, which does not fit into the four bits of the first byte.
        literal(&mut block, 38, host);
    }
    let mut stream = TcpStream::connect(address).unwrap();
    let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &block);
    stream.write_all(&[hello(), request].concat()).unwrap();
    let mut body = Vec::new();
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            break;
        }
        let [a, b, c, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).unwrap();
        if kind == DATA {
            body.extend(payload);
        }
        let is_last = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        if is_last || matches!(kind, RST_STREAM | GOAWAY) {
            break;
        }
    }
    String::from_utf8(body).unwrap()
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A field that is not to be remembered (RFC 7541, 6.2.2).
fn literal(block: &mut Vec<u8>, name: u8, value: &str) {
    match name {
        0..15 => block.push(name),
        _ => block.extend([0x0f, name - 15]),
    }
    // Longer values would need more than one byte for their length.
    block.push(u8::try_from(value.len()).ok().filter(|length| *length < 127).unwrap());
    block.extend(value.as_bytes());
}
