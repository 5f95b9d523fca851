//! Short forms of the ids of guided runs, so that a token that contains them is short enough to copy.
//!
//! The id of such a run is a UUIDv7 whose inner bits are fixed, so only the time and 32 random bits
//! vary. The id of a node contains the number of the event that made it. An ack is 32 random bits. Ids
//! of any other form also work, but their tokens are longer.

use uuid::Uuid;

use super::{AckId, NodeId, RunId};
use crate::Seq;

/// Bytes that name a run: the time, and the bits that distinguish runs of the same millisecond.
pub const RUN_BYTES: usize = 10;
/// Bytes that name a node of a known run.
pub const NODE_BYTES: usize = 3;
/// Bytes that name an ack of a known node.
pub const ACK_BYTES: usize = 4;

/// The fixed bytes between the time and the random bits of a run id: version 7 and the variant.
const RUN_MIDDLE: [u8; 6] = [0x70, 0, 0x80, 0, 0, 0];
/// The fixed bytes of a node id: version 8, whose other bits are free to use.
const NODE_MIDDLE: [u8; 3] = [0x80, 0, 0x80];
/// The fixed bytes at the start of an ack id.
const ACK_HEAD: [u8; 12] = [0, 0, 0, 0, 0, 0, 0x80, 0, 0x80, 0, 0, 0];

impl RunId {
    /// An id with the time and the last 32 bits of this UUID.
    #[must_use]
    pub fn compact_from_uuid(uuid: Uuid) -> Self {
        let mut bytes = *uuid.as_bytes();
        bytes[6..12].copy_from_slice(&RUN_MIDDLE);
        Self::new(Uuid::from_bytes(bytes))
    }

    /// The bytes that name the run, if its id has the short form.
    pub fn to_short_bytes(self) -> Option<[u8; RUN_BYTES]> {
        let bytes = self.uuid().into_bytes();
        let mut short = [0; RUN_BYTES];
        short[..6].copy_from_slice(&bytes[..6]);
        short[6..].copy_from_slice(&bytes[12..]);
        (Self::from_short_bytes(short) == self).then_some(short)
    }

    pub fn from_short_bytes(short: [u8; RUN_BYTES]) -> Self {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&short[..6]);
        bytes[6..12].copy_from_slice(&RUN_MIDDLE);
        bytes[12..].copy_from_slice(&short[6..]);
        Self::new(Uuid::from_bytes(bytes))
    }
}

impl NodeId {
    /// The node that the event of this number makes; `None` if the run or the number does not fit the
    /// short form.
    pub fn node_id_from_event_number(run: RunId, seq: Seq) -> Option<Self> {
        let number = u32::try_from(seq).ok()?.to_be_bytes();
        let short: [u8; NODE_BYTES] = match number {
            [0, rest @ ..] => rest,
            _ => return None,
        };
        run.to_short_bytes()?;
        Some(Self::from_short_bytes(run, short))
    }

    /// The bytes that name the node in its run, if its id has the short form.
    pub fn to_short_bytes(self, run: RunId) -> Option<[u8; NODE_BYTES]> {
        run.to_short_bytes()?;
        let short = self.uuid().into_bytes().last_chunk().copied()?;
        (Self::from_short_bytes(run, short) == self).then_some(short)
    }

    pub fn from_short_bytes(run: RunId, short: [u8; NODE_BYTES]) -> Self {
        let of = run.uuid().into_bytes();
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&of[..6]);
        bytes[6..9].copy_from_slice(&NODE_MIDDLE);
        bytes[9..13].copy_from_slice(&of[12..]);
        bytes[13..].copy_from_slice(&short);
        Self::new(Uuid::from_bytes(bytes))
    }

    /// The number of the event that made the node, if the id contains it. People use it as the node's
    /// name.
    pub fn event_number_of_node(self, run: RunId) -> Option<Seq> {
        let [a, b, c] = self.to_short_bytes(run)?;
        Some(Seq::from(u32::from_be_bytes([0, a, b, c])))
    }
}

impl AckId {
    /// An id with the last 32 bits of this UUID.
    #[must_use]
    pub fn compact_from_uuid(uuid: Uuid) -> Self {
        let bytes = uuid.into_bytes();
        Self::from_short_bytes([bytes[12], bytes[13], bytes[14], bytes[15]])
    }

    /// The bytes that name the ack, if its id has the short form.
    pub fn to_short_bytes(self) -> Option<[u8; ACK_BYTES]> {
        let short = self.uuid().into_bytes().last_chunk().copied()?;
        (Self::from_short_bytes(short) == self).then_some(short)
    }

    pub fn from_short_bytes(short: [u8; ACK_BYTES]) -> Self {
        let mut bytes = [0; 16];
        bytes[..12].copy_from_slice(&ACK_HEAD);
        bytes[12..].copy_from_slice(&short);
        Self::new(Uuid::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_read_back() {
        let uuid = Uuid::from_u128(0x0193_3c5a_77a1_7abc_8def_0123_4567_89ab);
        let run = RunId::compact_from_uuid(uuid);
        assert_eq!(run.to_string(), "run_01933c5a77a1700080000000456789ab");
        assert_eq!(RunId::from_short_bytes(run.to_short_bytes().unwrap()), run);
        assert_eq!(run.uuid().get_version_num(), 7);
        for seq in [1, 3, 300, 0x00ff_ffff] {
            let node = NodeId::node_id_from_event_number(run, seq).unwrap();
            assert_eq!(node.event_number_of_node(run), Some(seq));
            assert_eq!(NodeId::from_short_bytes(run, node.to_short_bytes(run).unwrap()), node);
            assert_eq!(node.uuid().get_version_num(), 8);
        }
        let ack = AckId::compact_from_uuid(uuid);
        assert_eq!(AckId::from_short_bytes(ack.to_short_bytes().unwrap()), ack);
    }

    #[test]
    fn other_ids_have_no_short_form() {
        let uuid = Uuid::from_u128(0x0193_3c5a_77a1_7abc_8def_0123_4567_89ab);
        let (run, short) = (RunId::new(uuid), RunId::compact_from_uuid(uuid));
        assert_eq!(run.to_short_bytes(), None);
        assert_eq!(NodeId::node_id_from_event_number(run, 3), None);
        assert_eq!(NodeId::node_id_from_event_number(short, 0x0100_0000), None);
        assert_eq!(NodeId::new(uuid).to_short_bytes(short), None);
        let other = RunId::compact_from_uuid(Uuid::from_u128(uuid.as_u128() + 1));
        assert_eq!(
            NodeId::node_id_from_event_number(other, 3).and_then(|node| node.to_short_bytes(short)),
            None
        );
        assert_eq!(AckId::new(uuid).to_short_bytes(), None);
    }
}
