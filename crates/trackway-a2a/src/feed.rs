//! The events of a task as a stream of server-sent events, for any binding.

use trackway_domain::RunId;
use trackway_http::sse::{Described, Feed, FrameKey};

use crate::{
    fault::Fault,
    ops::{Follow, Item, Place},
};

/// How a binding writes the events of a task.
pub(crate) trait Encoder: Send + Sync + 'static {
    /// Everything that differs between bindings, except for the text around an event.
    fn dialect(&self) -> &'static str;

    /// The text before and after each event.
    fn around(&self) -> (&[u8], &[u8]) {
        (b"", b"")
    }

    fn item(&self, out: &mut Vec<u8>, place: &Place, item: &Item);

    /// The failure that ends a stream, with its surrounding text.
    fn fault(&self, out: &mut Vec<u8>, fault: &Fault);
}

pub(crate) struct TaskFeed<E> {
    pub(crate) follow: Follow,
    pub(crate) encoder: E,
}

impl<E: Encoder> Feed for TaskFeed<E> {
    type Item = Item;
    type Error = Fault;

    async fn next(&mut self) -> Result<Option<Item>, Fault> {
        self.follow.next().await
    }

    async fn again(&mut self) -> Result<Option<Item>, Fault> {
        self.follow.again().await
    }

    fn describe(&self, item: &Item) -> Described {
        let run: RunId = self.follow.place.run;
        let key =
            FrameKey { run, pos: item.pos, dialect: self.encoder.dialect(), scope: item.scope };
        Described { pos: item.pos, bytes: item.bytes, key }
    }

    fn around(&self) -> (&[u8], &[u8]) {
        self.encoder.around()
    }

    fn encode(&self, item: &Item, out: &mut Vec<u8>) {
        self.encoder.item(out, &self.follow.place, item);
    }

    async fn close(&mut self, end: Result<(), Fault>) -> Vec<u8> {
        let mut out = Vec::new();
        if let Err(fault) = end {
            out.extend_from_slice(b"data: ");
            self.encoder.fault(&mut out, &fault);
            out.extend_from_slice(b"\n\n");
        }
        out
    }
}
