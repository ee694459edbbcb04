//! Size classes of small blocks.

/// Bytes of one unit: every block starts on a multiple of it.
pub const UNIT: u64 = 64;

/// Largest small block, in units (32 KiB).
pub const MAX_SMALL_UNITS: u32 = 512;

/// Number of size classes.
pub const CLASSES: usize = 56;

/// Room for the classes in tables that are indexed by [`masked`] numbers.
pub(super) const PLACES: usize = 64;

/// Units of a slice.
const SLICE_UNITS: u32 = 1024;

/// Blocks of at least so many units have few neighbours: a span has no more than [`FEW`] for each
/// of its slices.
const FEW_UNITS: u32 = 64;
/// Object words of a slice for spans of few blocks.
pub(super) const FEW: usize = 16;
/// Object words of a slice for spans of many blocks: one for each unit.
pub(super) const MANY: usize = SLICE_UNITS as usize;

/// What follows from a class. In a table, so that a lookup needs no more of a span than the number
/// of its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Bytes of a block.
    pub(super) bytes: u32,
    /// Ceiling of 2^31 / units, so that a division is a multiplication.
    magic: u32,
    /// All ones where the object words are among those for spans of many blocks.
    pub(super) many: u32,
    /// Blocks of a span.
    pub(super) capacity: u16,
    /// Slices of a span.
    pub(super) slices: u8,
    /// Object words of a slice, as a shift.
    pub(super) word_shift: u8,
}

impl Shape {
    const fn new(class: usize) -> Self {
        let units = class_units(class);
        let slices = span_slices(class);
        let few = units >= FEW_UNITS;
        Self {
            bytes: units * UNIT as u32,
            magic: (1u32 << 31).div_ceil(units),
            capacity: (slices * SLICE_UNITS / units) as u16,
            slices: slices as u8,
            word_shift: if few { FEW.ilog2() } else { MANY.ilog2() } as u8,
            many: if few { 0 } else { u32::MAX },
        }
    }

    /// Which block a byte of the span belongs to. Beyond the last one for the bytes behind it.
    #[inline(always)]
    pub(super) fn index_of(&self, within: u64) -> u32 {
        ((within / UNIT).wrapping_mul(u64::from(self.magic)) >> 31) as u32
    }
}

static SHAPES: [Shape; PLACES] = {
    let mut shapes = [Shape::new(0); PLACES];
    let mut class = 0;
    while class < CLASSES {
        shapes[class] = Shape::new(class);
        class += 1;
    }
    shapes
};

static CLASS_OF: [u8; MAX_SMALL_UNITS as usize + 1] = {
    let mut classes = [0; MAX_SMALL_UNITS as usize + 1];
    let mut units = 1;
    while units <= MAX_SMALL_UNITS {
        classes[units as usize] = computed_class(units) as u8;
        units += 1;
    }
    classes
};

/// A class as an index below [`PLACES`], which is what it is already.
#[inline(always)]
pub(super) fn masked(class: usize) -> usize {
    class & (PLACES - 1)
}

#[inline(always)]
pub(super) fn shape(class: usize) -> &'static Shape {
    &SHAPES[masked(class)]
}

/// The class that serves `units` (1 to [`MAX_SMALL_UNITS`]).
///
/// Up to 8 units there is a class for each size, above that eight classes a doubling.
#[inline(always)]
#[must_use]
pub fn class_of(units: u32) -> usize {
    debug_assert!((1..=MAX_SMALL_UNITS).contains(&units));
    usize::from(CLASS_OF[units as usize])
}

const fn computed_class(units: u32) -> usize {
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
pub const fn class_units(class: usize) -> u32 {
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
pub const fn span_slices(class: usize) -> u32 {
    match class_units(class) {
        0..=128 => 1,
        129..=256 => 2,
        _ => 4,
    }
}

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

    /// Every byte of a span has a word, those behind the last block included: a lookup relies on it.
    #[test]
    fn words_of_a_span_fit_its_slices() {
        for class in 0..CLASSES {
            let shape = shape(class);
            let last = shape.index_of((u64::from(shape.slices) << 16) - 1);
            let capacity = u32::from(shape.capacity);
            assert!((8..=last + 1).contains(&capacity), "class {class}");
            assert!(
                last < u32::from(shape.slices) << shape.word_shift,
                "class {class}"
            );
        }
    }

    #[test]
    fn every_byte_of_a_span_leads_to_its_block() {
        for class in 0..CLASSES {
            let shape = shape(class);
            for within in (0..u64::from(shape.slices) << 16).step_by(32) {
                let expected = within / u64::from(shape.bytes);
                assert_eq!(u64::from(shape.index_of(within)), expected, "class {class}");
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
