//! What names an export: the process that has it, and a secret.
//!
//! As text (`<pid>-<32 digits>`), as 128 bytes, or as a number of 64 bits. The number has room for 42
//! bits of secret beside the process id; the others carry 128.

use std::io;

use crate::os::host;
use crate::os::shared_page::random;

/// Bits of a secret in a number; process ids have 22.
const SHORT: u32 = 42;
const MAGIC: [u8; 8] = *b"cannery1";

/// What an export is, so that a key of one kind opens nothing of another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// A block of device memory, by a key of text.
    Block = 1,
    /// A physical handle, by a number.
    Handle = 2,
    /// A physical handle, by 128 bytes.
    Fabric = 3,
}

impl Kind {
    pub(super) fn from_number(number: u32) -> Option<Kind> {
        [Kind::Block, Kind::Handle, Kind::Fabric]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    /// The exporting process.
    pub(crate) pid: i32,
    pub(crate) secret: u128,
}

impl Key {
    /// A key of this process that nobody can guess.
    pub(crate) fn fresh(kind: Kind) -> io::Result<Key> {
        let secret = random()?;
        Ok(Key {
            kind,
            pid: host::pid(),
            secret: match kind {
                Kind::Handle => secret & ((1 << SHORT) - 1),
                _ => secret,
            },
        })
    }

    /// As text of fewer than 65 characters.
    pub(crate) fn text(&self) -> String {
        format!("{}-{:032x}", self.pid, self.secret)
    }

    /// The key of a block from its text.
    pub(crate) fn from_text(text: &str) -> Option<Key> {
        let (pid, secret) = text.split_once('-')?;
        let plain = |text: &str, digits: fn(&u8) -> bool| text.bytes().all(|byte| digits(&byte));
        if secret.len() != 32
            || !plain(pid, u8::is_ascii_digit)
            || !plain(secret, u8::is_ascii_hexdigit)
        {
            return None;
        }
        Some(Key {
            kind: Kind::Block,
            pid: pid.parse().ok().filter(|pid| *pid > 0)?,
            secret: u128::from_str_radix(secret, 16).ok()?,
        })
    }

    /// As a number; only for [`Kind::Handle`].
    pub(crate) fn number(&self) -> u64 {
        u64::from(self.pid.cast_unsigned()) << SHORT | self.secret as u64
    }

    /// The key of a physical handle from its number.
    pub(crate) fn from_number(number: u64) -> Option<Key> {
        let pid = (number >> SHORT) as i32;
        (pid > 0).then_some(Key {
            kind: Kind::Handle,
            pid,
            secret: u128::from(number & ((1 << SHORT) - 1)),
        })
    }

    /// As 128 bytes.
    pub(crate) fn bytes(&self) -> [u8; 128] {
        let mut bytes = [0; 128];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.pid.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.secret.to_le_bytes());
        bytes
    }

    /// The key of a physical handle from its 128 bytes.
    pub(crate) fn from_bytes(bytes: &[u8; 128]) -> Option<Key> {
        let pid = i32::from_le_bytes(bytes[8..12].try_into().ok()?);
        let rest = bytes[12..16].iter().chain(&bytes[32..]);
        if bytes[..8] != MAGIC || pid <= 0 || rest.into_iter().any(|byte| *byte != 0) {
            return None;
        }
        Some(Key {
            kind: Kind::Fabric,
            pid,
            secret: u128::from_le_bytes(bytes[16..32].try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Kind};

    #[test]
    fn every_form_leads_back() {
        let [block, handle, fabric] = [Kind::Block, Kind::Handle, Kind::Fabric]
            .map(|kind| Key::fresh(kind).expect("random numbers"));
        assert!(block.text().len() < 65);
        assert_eq!(Key::from_text(&block.text()), Some(block));
        assert_eq!(Key::from_number(handle.number()), Some(handle));
        assert_eq!(Key::from_bytes(&fabric.bytes()), Some(fabric));
    }

    #[test]
    fn the_largest_process_id_fits_into_a_number() {
        let key = Key {
            kind: Kind::Handle,
            pid: (1 << 22) - 1,
            secret: (1 << 42) - 1,
        };
        assert_eq!(Key::from_number(key.number()), Some(key));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let digits = "0".repeat(32);
        for text in [
            "",
            "no_such_key",
            "../../etc/passwd",
            "-1",
            &format!("0-{digits}"),
            &format!("-{digits}"),
            &format!("+1-{digits}"),
            &format!("1-{digits}0"),
            &format!("99999999999-{digits}"),
            &format!("1-+{}", &digits[1..]),
        ] {
            assert_eq!(Key::from_text(text), None, "{text:?}");
        }
        assert_eq!(Key::from_number(0), None);
        assert_eq!(Key::from_number(0x1234), None);
        assert_eq!(Key::from_bytes(&[0; 128]), None);
    }
}
