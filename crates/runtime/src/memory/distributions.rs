//! Random numbers of a distribution, for aclrtRandomNumAsync: how many words of the generator a number
//! takes, and what becomes of them.
//!
//! Number `i` is made of the words `i * n` and following of the stream of the generator, `n` being 1 for
//! bits of a mask and for floating-point numbers, 2 for 32-bit and 4 for 64-bit integers. What is made
//! therefore never depends on what was made before.
#![allow(unsafe_code)] // writes the numbers

use crate::half;
use crate::philox;

/// Type of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Element {
    F32,
    F16,
    Bf16,
    I32,
    U32,
    I64,
    U64,
}

impl Element {
    pub(super) fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F16 | Element::Bf16)
    }

    pub(super) fn bytes(self) -> u64 {
        match self {
            Element::F16 | Element::Bf16 => 2,
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::I64 | Element::U64 => 8,
        }
    }

    /// A floating-point number from its bytes, least significant first.
    pub(super) fn float(self, bits: u64) -> f64 {
        f64::from(match self {
            Element::F16 => half::from_f16(bits as u16),
            Element::Bf16 => half::from_bf16(bits as u16),
            _ => f32::from_bits(bits as u32),
        })
    }

    /// An integer from its bytes, extended to 64 bits by its sign.
    fn integer(self, bits: u64) -> u64 {
        match self {
            Element::I32 => i64::from(bits as i32).cast_unsigned(),
            Element::U32 => u64::from(bits as u32),
            _ => bits,
        }
    }

    fn is_below(self, a: u64, b: u64) -> bool {
        match self {
            Element::I32 | Element::I64 => a.cast_signed() < b.cast_signed(),
            _ => a < b,
        }
    }
}

/// A distribution with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    /// Bits: 0 with the probability `drop` / 2^32, else 1.
    Mask { drop: u64 },
    /// Numbers in [min, max).
    Floats { min: f64, max: f64 },
    /// Integers from `min` on, `range` of them.
    Integers { min: u64, range: u64 },
    /// Normal; `truncated` to two standard deviations around the mean.
    Normal {
        mean: f64,
        deviation: f64,
        truncated: bool,
    },
}

impl Law {
    /// A mask that drops with the probability `bits`, a number of type `element`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn mask(element: Element, bits: u64) -> Result<Law, &'static str> {
        let ratio = element.float(bits);
        if (0.0..=1.0).contains(&ratio) {
            let drop = (ratio * 32f64.exp2()).round() as u64;
            Ok(Law::Mask { drop })
        } else {
            Err("the ratio must be in [0, 1]")
        }
    }

    /// Uniform numbers.
    ///
    /// # Errors
    /// What is wrong with the bounds.
    pub(super) fn uniform(element: Element, min: u64, max: u64) -> Result<Law, &'static str> {
        if element.is_float() {
            let (min, max) = (element.float(min), element.float(max));
            if !(min.is_finite() && max.is_finite()) {
                return Err("min and max must be finite");
            }
            if min > max {
                return Err("min must not be above max");
            }
            return Ok(Law::Floats { min, max });
        }
        let (min, max) = (element.integer(min), element.integer(max));
        if !element.is_below(min, max) {
            return Err("min must be below max, which is not drawn");
        }
        let range = max.wrapping_sub(min);
        Ok(Law::Integers { min, range })
    }

    /// Normal numbers.
    ///
    /// # Errors
    /// What is wrong with the parameters.
    pub(super) fn normal(
        element: Element,
        mean: u64,
        deviation: u64,
        truncated: bool,
    ) -> Result<Law, &'static str> {
        let (mean, deviation) = (element.float(mean), element.float(deviation));
        if !(mean.is_finite() && deviation.is_finite()) {
            return Err("mean and stddev must be finite");
        }
        if deviation < 0.0 {
            return Err("stddev must not be negative");
        }
        Ok(Law::Normal {
            mean,
            deviation,
            truncated,
        })
    }

    /// Blocks of the generator that `count` numbers take.
    pub(super) fn blocks(&self, element: Element, count: u64) -> u128 {
        let words = match (self, element) {
            (Law::Integers { .. }, Element::I64 | Element::U64) => 4,
            (Law::Integers { .. }, _) => 2,
            _ => 1,
        };
        (u128::from(count) * words).div_ceil(4)
    }

    /// Writes `count` numbers: bits of bytes, the least significant first, or elements.
    ///
    /// # Safety
    /// There is room for them from `at` on, aligned to the elements.
    pub(super) unsafe fn fill(
        &self,
        element: Element,
        at: u64,
        count: u64,
        key: u64,
        counter: u128,
    ) {
        let count = count as usize;
        match *self {
            Law::Mask { drop } => {
                let mut byte = 0u8;
                draw::<1>(count, key, counter, |i, [word]| {
                    byte |= u8::from(u64::from(word) >= drop) << (i % 8);
                    if i % 8 == 7 || i + 1 == count {
                        // SAFETY: the byte of bit `i`; see the contract.
                        unsafe { (at as *mut u8).add(i / 8).write(byte) };
                        byte = 0;
                    }
                });
            }
            Law::Integers { min, range } => match element {
                Element::I64 | Element::U64 => draw::<4>(count, key, counter, |i, words| {
                    let [low, high] = [pair(words[0], words[1]), pair(words[2], words[3])];
                    let carry = (u128::from(range) * u128::from(low)) >> 64;
                    let step = ((u128::from(range) * u128::from(high) + carry) >> 64) as u64;
                    // SAFETY: number `i`; see the contract.
                    unsafe { (at as *mut u64).add(i).write(min.wrapping_add(step)) };
                }),
                _ => draw::<2>(count, key, counter, |i, [low, high]| {
                    let step = (u128::from(range) * u128::from(pair(low, high))) >> 64;
                    let value = min.wrapping_add(step as u64) as u32;
                    // SAFETY: number `i`; see the contract.
                    unsafe { (at as *mut u32).add(i).write(value) };
                }),
            },
            Law::Floats { min, max } => {
                let number = |word: u32| {
                    let part = f64::from(word >> 8) * (-24f64).exp2();
                    min + (max - min) * part
                };
                let below = (min < max).then_some(max);
                // SAFETY: by contract.
                unsafe { write(element, at, count, key, counter, number, below) };
            }
            Law::Normal {
                mean,
                deviation,
                truncated,
            } => {
                let edge = if truncated { BELOW_TWO_DEVIATIONS } else { 0.0 };
                let number = |word: u32| {
                    let part = (f64::from(word) + 0.5) * (-32f64).exp2();
                    mean + deviation * quantile(edge + part * (1.0 - 2.0 * edge))
                };
                // SAFETY: by contract.
                unsafe { write(element, at, count, key, counter, number, None) };
            }
        }
    }
}

/// Part of a normal distribution below two standard deviations under its mean.
const BELOW_TWO_DEVIATIONS: f64 = 0.022_750_131_948_179_21;

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Hands `count` groups of `N` words to `take`; `N` divides 4.
fn draw<const N: usize>(
    count: usize,
    key: u64,
    counter: u128,
    mut take: impl FnMut(usize, [u32; N]),
) {
    let per_block = 4 / N;
    for (number, first) in (0..count).step_by(per_block).enumerate() {
        let words = philox::block(key, counter.wrapping_add(number as u128));
        for part in 0..per_block.min(count - first) {
            take(first + part, std::array::from_fn(|i| words[part * N + i]));
        }
    }
}

/// Writes floating-point numbers, rounded to the type; where rounding reaches `below`, the number
/// before it.
///
/// # Safety
/// As [`Law::fill`].
unsafe fn write(
    element: Element,
    at: u64,
    count: usize,
    key: u64,
    counter: u128,
    number: impl Fn(u32) -> f64,
    below: Option<f64>,
) {
    let bound = below.map_or(f32::INFINITY, |bound| bound as f32);
    let open = below.is_some();
    let halves = |to: fn(f32) -> u16, from: fn(u16) -> f32| {
        draw::<1>(count, key, counter, |i, [word]| {
            let mut bits = to(number(word) as f32);
            if open && from(bits) >= bound {
                bits = before(to(bound));
            }
            // SAFETY: number `i`; see the contract.
            unsafe { (at as *mut u16).add(i).write(bits) };
        });
    };
    match element {
        Element::F16 => halves(half::to_f16, half::from_f16),
        Element::Bf16 => halves(half::to_bf16, half::from_bf16),
        _ => draw::<1>(count, key, counter, |i, [word]| {
            let mut value = number(word) as f32;
            if open && value >= bound {
                value = bound.next_down();
            }
            // SAFETY: number `i`; see the contract.
            unsafe { (at as *mut f32).add(i).write(value) };
        }),
    }
}

/// The next smaller number of a 16-bit type.
fn before(bits: u16) -> u16 {
    match bits {
        0 | 0x8000 => 0x8001,
        0x8001.. => bits + 1,
        _ => bits - 1,
    }
}

/// The number that a standard normal variable stays below with probability `p`, which is in (0, 1) and
/// at least 2^-34 away from both ends: the central and the middle part of Wichura's algorithm AS 241
/// (1988), with 16 digits.
fn quantile(p: f64) -> f64 {
    const CENTRE: [f64; 8] = [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ];
    const CENTRE_BELOW: [f64; 8] = [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ];
    const MIDDLE: [f64; 8] = [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ];
    const MIDDLE_BELOW: [f64; 8] = [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ];
    let polynomial =
        |factors: &[f64; 8], x: f64| factors.iter().rev().fold(0.0, |sum, f| sum * x + f);
    let away = p - 0.5;
    if away.abs() <= 0.425 {
        let x = 0.180_625 - away * away;
        return away * polynomial(&CENTRE, x) / polynomial(&CENTRE_BELOW, x);
    }
    let x = (-p.min(1.0 - p).ln()).sqrt() - 1.6;
    (polynomial(&MIDDLE, x) / polynomial(&MIDDLE_BELOW, x)).copysign(away)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        for (p, expected) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.975, 1.959_963_984_540_054),
            (BELOW_TWO_DEVIATIONS, -2.0),
            (0.001, -3.090_232_306_167_813_5),
            (1e-9, -5.997_807_015_007_686),
            (1.0 - 0.5f64.powi(33), 6.337_957_754_553_789),
        ] {
            let got = quantile(p);
            assert!((got - expected).abs() < 1e-13, "{p}: {got}");
        }
    }

    #[test]
    fn numbers_before_a_bound() {
        for bound in [1.0f32, 0.5, -3.0, 0.0, 65504.0] {
            let (f16, bf16) = (before(half::to_f16(bound)), before(half::to_bf16(bound)));
            assert!(
                half::from_f16(f16) < bound
                    && half::from_bf16(bf16) < half::from_bf16(half::to_bf16(bound))
            );
        }
    }

    #[test]
    fn a_bound_that_rounding_reaches_is_not_drawn() {
        // Halves just below 2048 are one apart, so most of [2047, 2048) rounds up.
        let (min, max) = (half::to_f16(2047.0), half::to_f16(2048.0));
        let law = Law::uniform(Element::F16, min.into(), max.into());
        let law = law.expect("good bounds");
        let mut numbers = [0u16; 64];
        // SAFETY: as many numbers as there is room for.
        unsafe { law.fill(Element::F16, numbers.as_mut_ptr() as u64, 64, 5, 0) };
        assert_eq!(numbers, [min; 64]);
    }

    #[test]
    fn integers_cover_their_range_evenly() {
        for element in [Element::I32, Element::U64] {
            let law = Law::uniform(element, 10, 13).expect("good bounds");
            let mut numbers = [0u64; 3000];
            let count = 24_000 / element.bytes();
            // SAFETY: as many numbers as there is room for.
            unsafe { law.fill(element, numbers.as_mut_ptr() as u64, count, 1, 7) };
            let mut seen = [0u64; 3];
            for number in numbers {
                let halves = [number & 0xffff_ffff, number >> 32];
                match element {
                    Element::U64 => seen[number as usize - 10] += 1,
                    _ => halves
                        .iter()
                        .for_each(|half| seen[*half as usize - 10] += 1),
                }
            }
            for times in seen {
                let expected = count / 3;
                assert!(
                    times.abs_diff(expected) < expected / 5,
                    "{element:?}: {seen:?}"
                );
            }
        }
    }
}
