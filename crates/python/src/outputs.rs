//! Results: what a C value is in Python.

use std::ffi::{CStr, c_char};

use crate::c_api::address_of;

/// What an output holds before the call, and after a call that failed: zero.
pub(crate) trait Blank {
    /// The zero of this type.
    const BLANK: Self;
}

/// Turns a C value into what the program gets.
pub(crate) trait Give {
    /// A type with a Python counterpart.
    type Given;

    /// The value for Python.
    fn give(self) -> Self::Given;
}

macro_rules! as_they_are {
    ($($ty:ty = $blank:expr;)*) => {
        $(
            impl Blank for $ty {
                const BLANK: Self = $blank;
            }

            impl Give for $ty {
                type Given = Self;

                #[inline]
                fn give(self) -> Self {
                    self
                }
            }
        )*
    };
}

as_they_are! {
    i32 = 0;
    u16 = 0;
    u32 = 0;
    i64 = 0;
    u64 = 0;
    usize = 0;
    f32 = 0.0;
}

impl<T> Blank for *mut T {
    const BLANK: Self = std::ptr::null_mut();
}

/// Pointers and handles are plain numbers in Python; null is 0.
impl<T> Give for *mut T {
    type Given = usize;

    #[inline]
    fn give(self) -> usize {
        address_of(self)
    }
}

impl Give for () {
    type Given = ();

    fn give(self) {}
}

/// A text that the library owns; null is `None`. Bytes that are no UTF-8 are replaced.
impl Give for *const c_char {
    type Given = Option<String>;

    fn give(self) -> Option<String> {
        if self.is_null() {
            return None;
        }
        // SAFETY: not null, and every function that returns a text returns a terminated one,
        // valid until the next call of its kind in this thread; it is copied at once.
        let text = unsafe { CStr::from_ptr(self) };
        Some(text.to_string_lossy().into_owned())
    }
}

/// The text in a buffer that a C function has filled, up to its terminating zero.
pub(crate) fn text_in(buffer: &[u8]) -> String {
    let end = buffer
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}
