//! Host memory that the steps touch directly.

/// Memory of the program itself: heap memory, unknown to the library.
#[derive(Debug)]
pub(crate) struct Arena {
    bytes: Vec<u8>,
    /// What it must hold.
    shadow: Vec<u16>,
}

impl Arena {
    pub(crate) fn new(len: usize) -> Self {
        Self {
            bytes: vec![0; len],
            shadow: vec![0; len],
        }
    }

    pub(crate) fn base(&self) -> u64 {
        self.bytes.as_ptr() as u64
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Expected bytes from an address on.
    pub(crate) fn expected(&self, address: u64, len: u64) -> &[u16] {
        let at = (address - self.base()) as usize;
        &self.shadow[at..at + len as usize]
    }

    /// Remembers what the library must have written.
    pub(crate) fn expect(&mut self, address: u64, bytes: &[u16]) {
        let at = (address - self.base()) as usize;
        self.shadow[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes without the library.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) {
        poke(address, bytes);
        let expected: Vec<u16> = bytes.iter().copied().map(u16::from).collect();
        self.expect(address, &expected);
    }
}

/// Reads memory of this process: heap memory of the program, or a live block that the host may
/// touch.
pub(crate) fn peek(address: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    // SAFETY: callers pass ranges inside memory that is mapped and readable; no reference to it
    // is held elsewhere while steps run, for they run one at a time.
    unsafe {
        std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), len as usize);
    }
    bytes
}

/// Writes memory of this process, as [`peek`] reads it.
pub(crate) fn poke(address: u64, bytes: &[u8]) {
    // SAFETY: as in `peek`, and writable.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len());
    }
}
