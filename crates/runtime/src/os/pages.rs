//! What memory holds, page by page: kept elsewhere, and put back.

use super::copy;

/// Bytes of a page, in 64-bit words.
const WORDS: usize = 512;
/// Bytes of a page.
pub(crate) const PAGE: u64 = WORDS as u64 * 8;

type Page = [u64; WORDS];

/// The contents of one range of memory; pages of zeros take no room.
pub(crate) struct Contents {
    /// Number of each page that holds something, ascending.
    numbers: Vec<u64>,
    /// Their words, in that order.
    pages: Vec<Page>,
    count: u64,
}

/// # Safety
/// A page of mapped, readable memory.
unsafe fn read(at: u64) -> Page {
    let mut page = [0; WORDS];
    // SAFETY: per contract; the page has room, and any pattern of bits is a word. Other processes may write
    // meanwhile: then it is any mix of before and after.
    unsafe { copy::copy(page.as_mut_ptr() as u64, at, PAGE) };
    page
}

fn is_zero(page: &Page) -> bool {
    page.iter().fold(0, |all, word| all | word) == 0
}

/// Pages of a range that hold something.
///
/// # Safety
/// The range is mapped and readable, whole pages, for the whole call.
pub(crate) unsafe fn pages_in_use(at: u64, bytes: u64) -> u64 {
    let pages = 0..bytes / PAGE;
    // SAFETY: inside the range, per contract.
    let used = pages.filter(|number| !is_zero(&unsafe { read(at + number * PAGE) }));
    used.count() as u64
}

impl Contents {
    /// Keeps what the range holds now. `None`: no memory for it.
    ///
    /// # Safety
    /// As [`pages_in_use`].
    pub(crate) unsafe fn of(at: u64, bytes: u64) -> Option<Contents> {
        let mut contents = Contents {
            numbers: Vec::new(),
            pages: Vec::new(),
            count: bytes / PAGE,
        };
        for number in 0..contents.count {
            // SAFETY: inside the range, per contract.
            let page = unsafe { read(at + number * PAGE) };
            if is_zero(&page) {
                continue;
            }
            contents.numbers.try_reserve(1).ok()?;
            contents.pages.try_reserve(1).ok()?;
            contents.numbers.push(number);
            contents.pages.push(page);
        }
        Some(contents)
    }

    /// Bytes of the range.
    pub(crate) fn bytes(&self) -> u64 {
        self.count * PAGE
    }

    /// Makes the range hold it again. Pages that hold it still are not written.
    ///
    /// # Safety
    /// The range is mapped, readable and writable for the whole call, and as long as the one that was kept.
    pub(crate) unsafe fn put_back(&self, at: u64) {
        let mut kept = self.numbers.iter().zip(&self.pages).peekable();
        for number in 0..self.count {
            let place = at + number * PAGE;
            let want = kept.next_if(|(next, _)| **next == number);
            // SAFETY: inside the range, per contract.
            let now = unsafe { read(place) };
            match want {
                Some((_, page)) if now != *page => {
                    // SAFETY: inside the range, per contract.
                    unsafe { copy::copy(place, page.as_ptr() as u64, PAGE) };
                }
                None if !is_zero(&now) => {
                    // SAFETY: inside the range, per contract.
                    unsafe { copy::fill(place, 0, PAGE) };
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Contents, PAGE, pages_in_use};

    #[test]
    fn zeros_take_no_room_and_everything_comes_back() {
        let mut memory = vec![0u64; 3 * PAGE as usize];
        let (at, bytes) = (memory.as_mut_ptr() as u64, memory.len() as u64 * 8);
        memory[3] = 7;
        memory[700] = 9;
        *memory.last_mut().expect("a word") = 11;
        let before = memory.clone();
        // SAFETY: the vector is readable and writable, and nobody else uses it.
        let contents = unsafe {
            assert_eq!(pages_in_use(at, bytes), 3);
            Contents::of(at, bytes).expect("room")
        };
        assert_eq!(contents.pages.len(), 3);
        assert_eq!(contents.bytes(), bytes);
        memory[3] = 0;
        memory[4096] = 1;
        memory[701] = 1;
        // SAFETY: as above.
        unsafe { contents.put_back(at) };
        assert!(memory == before);
    }
}
