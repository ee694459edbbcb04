//! Size classes of small blocks.

/// Bytes of one unit: every block starts on a multiple of it.
pub const UNIT: u64 = 64;

/// Largest small block, in units (32 KiB).
pub const MAX_SMALL_UNITS: u32 = 512;

/// Number of size classes.
pub const CLASSES: usize = 56;

/// The class that serves `units` (1 to [`MAX_SMALL_UNITS`]).
///
/// Up to 8 units there is a class for each size, above that eight classes a doubling.
#[inline]
#[must_use]
pub fn class_of(units: u32) -> usize {
    debug_assert!((1..=MAX_SMALL_UNITS).contains(&units));
    let n = units - 1;
    if n < 8 {
        return n as usize;
    }
    let top = 31 - n.leading_zeros();
    ((top - 2) * 8 + ((n >> (top - 3)) & 7)) as usize
}

/// The block size of a class, in units.
#[inline]
#[must_use]
pub fn class_units(class: usize) -> u32 {
    let class = class as u32;
    if class < 8 {
        return class + 1;
    }
    let top = class / 8 + 2;
    ((8 + (class & 7)) << (top - 3)) + (1 << (top - 3))
}

/// How many slices a span of this class takes: enough for eight blocks or more.
#[inline]
#[must_use]
pub fn span_slices(class: usize) -> u32 {
    match class_units(class) {
        0..=128 => 1,
        129..=256 => 2,
        _ => 4,
    }
}

/// Blocks of at least so many units have few neighbours: their words fit the record of the span.
pub(super) const INLINE_UNITS: u32 = 64;
/// Words in the record of a span.
pub(super) const INLINE_WORDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_fits_its_class_and_no_smaller_one() {
        for units in 1..=MAX_SMALL_UNITS {
            let class = class_of(units);
            assert!(class < CLASSES);
            assert!(class_units(class) >= units, "{units} in class {class}");
            if class > 0 {
                assert!(class_units(class - 1) < units, "{units} in class {class}");
            }
            assert!(class_units(class) * 8 <= units * 9 + 8, "waste of {units}");
        }
        assert_eq!(class_units(CLASSES - 1), MAX_SMALL_UNITS);
    }

    #[test]
    fn words_of_large_classes_fit_the_record() {
        for class in 0..CLASSES {
            let blocks = span_slices(class) * 1024 / class_units(class);
            assert!(blocks >= 8);
            if class_units(class) >= INLINE_UNITS {
                assert!(blocks as usize <= INLINE_WORDS, "class {class}");
            }
        }
    }

    #[test]
    fn multiples_of_a_page_have_a_class_of_their_own() {
        for pages in 1..=8 {
            assert_eq!(class_units(class_of(pages * 64)), pages * 64);
        }
    }
}
