//! Copies and sets: which ranges may be touched, in which order faults are found, and what the
//! bytes are afterwards.

use super::{Code, INVALID_PARAM, Model, NO_CONTEXT, NOT_SUPPORTED, PARAM_INVALID, SUCCESS};

/// Lowest address that a program can have mapped, and the end of what it can map.
const MAPPABLE: std::ops::Range<u64> = 1 << 16..1 << 47;

/// What an address turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Inside the block of a device that begins at `start`.
    Device { device: usize, start: u64 },
    /// Host memory: of a block, or of the program.
    Host { start: Option<u64> },
}

impl End {
    pub(crate) fn device(self) -> Option<usize> {
        match self {
            End::Device { device, .. } => Some(device),
            End::Host { .. } => None,
        }
    }
}

/// The arguments of aclrtMemcpy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) dst: u64,
    pub(crate) max: u64,
    pub(crate) src: u64,
    pub(crate) count: u64,
    pub(crate) kind: i32,
}

/// The arguments of aclrtMemset (`unit` 1) and aclrtMemsetD32 (`unit` 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) at: u64,
    pub(crate) max: u64,
    pub(crate) count: u64,
    pub(crate) unit: u64,
}

impl Model {
    /// Whether a range may be touched, and what it is.
    pub(crate) fn end(&self, address: u64, bytes: u64) -> Result<End, Code> {
        if self.config.window().contains(&address) {
            return match self.find(address) {
                Some((start, block)) if bytes <= block.size - (address - start) => {
                    Ok(End::Device {
                        device: block.device.expect("the window holds device memory"),
                        start,
                    })
                }
                _ => Err(PARAM_INVALID),
            };
        }
        let fits = bytes < MAPPABLE.end && MAPPABLE.contains(&address);
        if fits && address + bytes <= MAPPABLE.end {
            let start = self.find(address).map(|(start, _)| start);
            Ok(End::Host { start })
        } else {
            Err(PARAM_INVALID)
        }
    }

    /// Whether `current` may move bytes from one device to another at once.
    fn peers_agree(&self, current: usize, a: usize, b: usize) -> bool {
        let one = self.devices[a].peers.contains(&b);
        let other = self.devices[b].peers.contains(&a);
        a == b
            || match current {
                _ if current == a => one,
                _ if current == b => other,
                _ => one && other,
            }
    }

    /// The answer to aclrtMemcpy. `Ok(None)`: success, and nothing moves.
    pub(crate) fn copy(&self, thread: usize, it: &Move) -> Result<Option<(End, End)>, Code> {
        if it.count == 0 {
            return Ok(None);
        }
        if it.dst == 0 || it.src == 0 || !(0..=5).contains(&it.kind) {
            return Err(INVALID_PARAM);
        }
        if it.count > it.max {
            return Err(PARAM_INVALID);
        }
        if it.dst == it.src {
            return Ok(None);
        }
        let current = self.current(thread).ok_or(NO_CONTEXT)?;
        let to = self.end(it.dst, it.count)?;
        let from = self.end(it.src, it.count)?;
        if let (Some(a), Some(b)) = (to.device(), from.device())
            && !self.peers_agree(current, a, b)
        {
            return Err(PARAM_INVALID);
        }
        Ok(Some((to, from)))
    }

    /// The answer to aclrtMemset: the end that is set.
    pub(crate) fn set(&self, thread: usize, it: &Fill) -> Result<Option<End>, Code> {
        if it.count == 0 {
            return Ok(None);
        }
        if it.at == 0 {
            return Err(INVALID_PARAM);
        }
        if self.current(thread).is_none() {
            return Err(NO_CONTEXT);
        }
        if it.count > it.max {
            return Err(PARAM_INVALID);
        }
        self.end(it.at, it.count).map(Some)
    }

    /// The answers to aclrtMemsetD32 that are right: the end that is set, or codes.
    pub(crate) fn set_words(&self, thread: usize, it: &Fill) -> Result<Option<End>, Vec<Code>> {
        if it.count == 0 {
            return Ok(None);
        }
        // The product of count and 4 may wrap in this comparison, as in the reference.
        if it.at == 0 || !it.at.is_multiple_of(4) || it.max < it.count.wrapping_mul(4) {
            return Err(vec![INVALID_PARAM]);
        }
        let lacks = !self.config.has("aclrtMemsetD32");
        if self.current(thread).is_none() {
            return Err(match lacks {
                true => vec![NO_CONTEXT, NOT_SUPPORTED],
                false => vec![NO_CONTEXT],
            });
        }
        if lacks {
            return Err(vec![NOT_SUPPORTED]);
        }
        let Some((start, block)) = self.find(it.at) else {
            return Err(vec![INVALID_PARAM]);
        };
        if it.count > (block.size - (it.at - start)) / 4 {
            return Err(vec![PARAM_INVALID]);
        }
        self.end(it.at, it.count * 4)
            .map(Some)
            .map_err(|code| vec![code])
    }

    /// The answer to aclrtMemFlush and aclrtMemInvalidate.
    pub(crate) fn maintain(&self, thread: usize, address: u64, size: u64) -> Code {
        if address == 0 || size == 0 {
            return INVALID_PARAM;
        }
        if self.current(thread).is_none() {
            return NO_CONTEXT;
        }
        match self.end(address, size) {
            Ok(End::Device { .. }) => SUCCESS,
            // Where host and device are one, pinned memory is device memory.
            Ok(End::Host { start: Some(_) }) if self.config.rc => SUCCESS,
            _ => PARAM_INVALID,
        }
    }
}
