//! What importer and broker say to each other: one record each, of fixed length.

use super::key::{Key, Kind};

/// First word of both; changes with the layout.
const MAGIC: u32 = 0x4341_4e31;

pub(super) const REQUEST: usize = 32;
pub(super) const REPLY: usize = 56;

/// What an export is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct About {
    /// Bytes that are shared, whole pages.
    pub(crate) bytes: u64,
    /// Bytes that the exporter named.
    pub(crate) requested: u64,
    /// Device of the exporter as the machine counts them; `u32::MAX`: host memory.
    pub(crate) device: u32,
    /// Number of its kind of pages.
    pub(crate) pages: u32,
    /// Whatever else the kind of export needs.
    pub(crate) more: [u64; 2],
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// The memory comes with the reply.
    Granted = 0,
    /// There is no such export.
    Unknown = 1,
    /// There is, and the sender is not on its white list.
    NotListed = 2,
    /// The request does not come from the process that connected.
    Stranger = 3,
}

/// As it goes over the socket.
pub(super) fn request(key: &Key) -> [u8; REQUEST] {
    let mut bytes = [0; REQUEST];
    bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[4..8].copy_from_slice(&(key.kind as u32).to_le_bytes());
    bytes[16..32].copy_from_slice(&key.secret.to_le_bytes());
    bytes
}

/// Kind and secret of a request.
pub(super) fn read_request(bytes: &[u8]) -> Option<(Kind, u128)> {
    let bytes: &[u8; REQUEST] = bytes.try_into().ok()?;
    if word(bytes, 0) != MAGIC {
        return None;
    }
    let secret = u128::from_le_bytes(bytes[16..32].try_into().ok()?);
    Some((Kind::from_number(word(bytes, 4))?, secret))
}

pub(super) fn reply(status: Status, about: &About) -> [u8; REPLY] {
    let mut bytes = [0; REPLY];
    bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
    bytes[4..8].copy_from_slice(&(status as u32).to_le_bytes());
    bytes[8..16].copy_from_slice(&about.bytes.to_le_bytes());
    bytes[16..24].copy_from_slice(&about.requested.to_le_bytes());
    bytes[24..28].copy_from_slice(&about.device.to_le_bytes());
    bytes[28..32].copy_from_slice(&about.pages.to_le_bytes());
    bytes[32..40].copy_from_slice(&about.more[0].to_le_bytes());
    bytes[40..48].copy_from_slice(&about.more[1].to_le_bytes());
    bytes
}

pub(super) fn read_reply(bytes: &[u8]) -> Option<(Status, About)> {
    let bytes: &[u8; REPLY] = bytes.try_into().ok()?;
    if word(bytes, 0) != MAGIC {
        return None;
    }
    let status = match word(bytes, 4) {
        0 => Status::Granted,
        1 => Status::Unknown,
        2 => Status::NotListed,
        3 => Status::Stranger,
        _ => return None,
    };
    let about = About {
        bytes: long(bytes, 8),
        requested: long(bytes, 16),
        device: word(bytes, 24),
        pages: word(bytes, 28),
        more: [long(bytes, 32), long(bytes, 40)],
    };
    Some((status, about))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_as_they_were_written() {
        let key = Key::fresh(Kind::Fabric).expect("random numbers");
        assert_eq!(read_request(&request(&key)), Some((key.kind, key.secret)));
        let about = About {
            bytes: 1 << 40,
            requested: 77,
            device: 5,
            pages: 2,
            more: [u64::MAX, 1],
        };
        let read = read_reply(&reply(Status::NotListed, &about));
        assert_eq!(read, Some((Status::NotListed, about)));
    }

    #[test]
    fn other_bytes_are_no_record() {
        assert_eq!(read_request(&[0; REQUEST]), None);
        assert_eq!(read_request(b"hello"), None);
        assert_eq!(read_reply(&[0xff; REPLY]), None);
        assert_eq!(read_reply(&[]), None);
    }
}
