//! A code that must come, or else a note.

/// Notes a code that is not the one that must come.
#[track_caller]
pub(crate) fn expect(got: i32, want: i32, what: &str) {
    let line = std::panic::Location::caller();
    crate::trouble::unless(got == want, || {
        format!(
            "{what}: {got}, expected {want} ({line}): {}",
            crate::api::said()
        )
    });
}
