//! Random numbers in device memory: distributions, seeds, counters, arguments.

use super::support::*;

pub(super) const MASK: aclrtRandomNumFuncType = ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
pub(super) const UNIFORM: aclrtRandomNumFuncType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
pub(super) const NORMAL: aclrtRandomNumFuncType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
pub(super) const TRUNCATED: aclrtRandomNumFuncType =
    ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;

/// Numbers that the statistics look at.
pub(super) const MANY: usize = 200_000;

/// A parameter given as it is.
pub(super) fn value(bytes: &[u8]) -> aclrtRandomParaInfo {
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    aclrtRandomParaInfo {
        isAddr: 0,
        valueOrAddr: number,
        size: bytes.len() as u8,
        rsv: [0; 6],
    }
}

/// A parameter of `size` bytes given by address.
pub(super) fn at(p: *mut c_void, size: u8) -> aclrtRandomParaInfo {
    aclrtRandomParaInfo {
        isAddr: 1,
        valueOrAddr: (p as u64).to_le_bytes(),
        size,
        rsv: [0; 6],
    }
}

pub(super) fn count(n: usize) -> aclrtRandomParaInfo {
    value(&(n as u64).to_le_bytes())
}

pub(super) fn func(
    kind: aclrtRandomNumFuncType,
    first: aclrtRandomParaInfo,
    second: aclrtRandomParaInfo,
) -> aclrtRandomNumFuncParaInfo {
    // Both parameters of a uniform and of a normal distribution lie at the same places; a mask has
    // only the first.
    let both = aclrtUniformDisInfo {
        min: first,
        max: second,
    };
    aclrtRandomNumFuncParaInfo {
        funcType: kind,
        paramInfo: aclrtRandomNumFuncParaInfo_paramInfo {
            uniformDisInfo: both,
        },
    }
}

/// What a task needs on the device: room for results, and a counter at 0.
pub(super) struct Bench {
    pub(super) s: aclrtStream,
    pub(super) result: *mut c_void,
    pub(super) counter: *mut c_void,
}

impl Bench {
    pub(super) fn new(t: &T) -> Self {
        let result = t.malloc(8 * MANY, ACL_MEM_MALLOC_HUGE_FIRST);
        let counter = t.malloc(16, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.upload(counter, &[0; 16]);
        let s = t.stream();
        Self { s, result, counter }
    }

    /// A task for `n` floats from `kind` with two parameters and a seed.
    pub(super) fn floats(
        &self,
        kind: aclrtRandomNumFuncType,
        first: f32,
        second: f32,
        seed: u64,
        n: usize,
    ) -> aclrtRandomNumTaskInfo {
        let [first, second] = [first, second].map(|x| value(&x.to_le_bytes()));
        self.task(ACL_FLOAT, func(kind, first, second), seed, n)
    }

    pub(super) fn task(
        &self,
        data_type: aclDataType,
        function: aclrtRandomNumFuncParaInfo,
        seed: u64,
        n: usize,
    ) -> aclrtRandomNumTaskInfo {
        aclrtRandomNumTaskInfo {
            dataType: data_type,
            randomNumFuncParaInfo: function,
            randomParaAddr: null_mut(),
            randomResultAddr: self.result,
            randomCounterAddr: self.counter,
            randomSeed: value(&seed.to_le_bytes()),
            randomNum: count(n),
            rsv: [0; 8],
        }
    }

    /// Queues the task.
    pub(super) fn queue(&self, t: &T, info: &aclrtRandomNumTaskInfo) {
        t.ok(self.ask(info), "aclrtRandomNumAsync");
    }

    pub(super) fn ask(&self, info: &aclrtRandomNumTaskInfo) -> aclError {
        aclrtRandomNumAsync(info, self.s, null_mut())
    }

    /// Runs the task and returns the bytes it made, of a marked result.
    pub(super) fn bytes(&self, t: &T, info: &aclrtRandomNumTaskInfo, len: usize) -> Vec<u8> {
        t.ok(aclrtMemset(self.result, len + 8, 0xa5, len + 8), "mark");
        self.queue(t, info);
        t.sync(self.s);
        let bytes = t.download(self.result, len + 8);
        t.same_bytes(&bytes[len..], &[0xa5; 8], "bytes behind the result");
        bytes[..len].to_vec()
    }

    pub(super) fn counter(&self, t: &T) -> u128 {
        let bytes = t.download(self.counter, 16);
        bytes
            .iter()
            .rev()
            .fold(0, |sum, b| sum << 8 | u128::from(*b))
    }

    pub(super) fn set_counter(&self, t: &T, number: u128) {
        t.upload(self.counter, &number.to_le_bytes());
    }

    pub(super) fn run_floats(&self, t: &T, info: &aclrtRandomNumTaskInfo, n: usize) -> Vec<f64> {
        let bytes = self.bytes(t, info, 4 * n);
        let number = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        bytes.chunks_exact(4).map(number).collect()
    }
}

fn mean_and_deviation(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// The numbers have this mean and this deviation, within a share of the deviation.
fn has_moments(t: &T, numbers: &[f64], mean: f64, deviation: f64) {
    let got = mean_and_deviation(numbers);
    // Six times what chance does to a mean.
    let near = 6.0 * deviation / (numbers.len() as f64).sqrt();
    t.check(
        (got.0 - mean).abs() < near && (got.1 - deviation).abs() < near,
        &format!("mean and deviation {got:?}, expected {mean} and {deviation} within {near}"),
    );
}

fn between(t: &T, numbers: &[f64], from: f64, to: f64, what: &str) -> f64 {
    let inside = numbers.iter().filter(|x| (from..to).contains(*x)).count();
    t.check(inside > 0, what);
    inside as f64 / numbers.len() as f64
}

/// A share of the numbers, within what chance does to it.
fn near_share(t: &T, got: f64, want: f64, what: &str) {
    let near = 6.0 * (want * (1.0 - want) / MANY as f64).sqrt();
    t.check(
        (got - want).abs() < near,
        &format!("{what}: {got}, expected {want} within {near}"),
    );
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * (-24f64).exp2(),
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * f64::from(exponent - 15).exp2(),
    }
}

fn bf16(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = laws();
    cases.extend(streams_of_numbers());
    cases.extend(in_stream_order());
    cases.extend(super::random_arguments::cases());
    cases
}

fn laws() -> Vec<Case> {
    vec![
        case("x.random.uniform", Setup::device0(), |t| {
            let b = Bench::new(t);
            for (min, max) in [(0.0f32, 1.0f32), (-3.0, 5.0)] {
                let info = b.floats(UNIFORM, min, max, 11, MANY);
                let numbers = b.run_floats(t, &info, MANY);
                let (min, max) = (f64::from(min), f64::from(max));
                let width = max - min;
                has_moments(t, &numbers, (min + max) / 2.0, width / 12f64.sqrt());
                t.check(
                    numbers.iter().all(|x| (min..max).contains(x)),
                    "a number is outside of [min, max)",
                );
                for tenth in 0..10 {
                    let from = min + width * f64::from(tenth) / 10.0;
                    let share = between(t, &numbers, from, from + width / 10.0, "a tenth is empty");
                    near_share(t, share, 0.1, "a tenth of the numbers");
                }
            }
            let info = b.floats(UNIFORM, 2.5, 2.5, 11, 100);
            let numbers = b.run_floats(t, &info, 100);
            t.check(numbers.iter().all(|x| *x == 2.5), "min is max");
        }),
        case("x.random.normal", Setup::device0(), |t| {
            let b = Bench::new(t);
            for (mean, deviation) in [(0.0f32, 1.0f32), (-10.0, 0.5)] {
                let info = b.floats(NORMAL, mean, deviation, 3, MANY);
                let numbers = b.run_floats(t, &info, MANY);
                let (mean, deviation) = (f64::from(mean), f64::from(deviation));
                has_moments(t, &numbers, mean, deviation);
                for (reach, want) in [(1.0, 0.682_689), (2.0, 0.954_500), (3.0, 0.997_300)] {
                    let reach = reach * deviation;
                    let share = between(t, &numbers, mean - reach, mean + reach, "empty middle");
                    near_share(t, share, want, "numbers around the mean");
                }
                between(
                    t,
                    &numbers,
                    mean + 3.5 * deviation,
                    f64::MAX,
                    "no upper tail",
                );
                between(
                    t,
                    &numbers,
                    f64::MIN,
                    mean - 3.5 * deviation,
                    "no lower tail",
                );
            }
            let info = b.floats(NORMAL, 4.0, 0.0, 3, 100);
            let numbers = b.run_floats(t, &info, 100);
            t.check(numbers.iter().all(|x| *x == 4.0), "a deviation of 0");
        }),
        case("x.random.truncated_normal", Setup::device0(), |t| {
            let b = Bench::new(t);
            let info = b.floats(TRUNCATED, 1.0, 2.0, 5, MANY);
            let numbers = b.run_floats(t, &info, MANY);
            // Deviation of a normal distribution that is cut at two deviations: 0.8796 of it.
            has_moments(t, &numbers, 1.0, 2.0 * 0.879_626);
            t.check(
                numbers.iter().all(|x| (-3.0..=5.0).contains(x)),
                "a number is more than two deviations away",
            );
            let share = between(t, &numbers, -1.0, 3.0, "empty middle");
            near_share(t, share, 0.682_689 / 0.954_500, "numbers around the mean");
            between(t, &numbers, 4.9, 5.0, "no number near the upper end");
            between(t, &numbers, -3.0, -2.9, "no number near the lower end");
        }),
        case("x.random.mask", Setup::device0(), |t| {
            let b = Bench::new(t);
            let ratio = |ratio: f32| func(MASK, value(&ratio.to_le_bytes()), value(&[]));
            for part in [0.25f32, 0.9] {
                let info = b.task(ACL_FLOAT, ratio(part), 8, MANY);
                let bytes = b.bytes(t, &info, MANY / 8);
                let kept: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
                let share = f64::from(kept) / MANY as f64;
                near_share(t, share, 1.0 - f64::from(part), "kept bits");
                for bit in 0..8 {
                    let kept = bytes.iter().filter(|byte| *byte >> bit & 1 == 1).count();
                    t.check(
                        kept > 0 && kept < bytes.len(),
                        &format!("bit {bit} never changes"),
                    );
                }
            }
            // Bits that no number has are 0; what is not given is not touched.
            let bytes = b.bytes(t, &b.task(ACL_FLOAT, ratio(0.0), 8, 13), 2);
            t.same_bytes(&bytes, &[0xff, 0x1f], "13 bits, none dropped");
            let bytes = b.bytes(t, &b.task(ACL_FLOAT, ratio(1.0), 8, 13), 2);
            t.same_bytes(&bytes, &[0, 0], "13 bits, all dropped");
        }),
        case("x.random.sixteen_bits", Setup::device0(), |t| {
            let b = Bench::new(t);
            let types = [
                (ACL_FLOAT16, 0xc000u16, 0x4400u16, half as fn(u16) -> f64),
                (ACL_BF16, 0xc000, 0x4080, bf16),
            ];
            for (data_type, minus_two, four, number) in types {
                let pair = [minus_two, four].map(|x| value(&x.to_le_bytes()));
                for kind in [UNIFORM, NORMAL, TRUNCATED] {
                    let info = b.task(data_type, func(kind, pair[0], pair[1]), 21, MANY);
                    let bytes = b.bytes(t, &info, 2 * MANY);
                    let numbers: Vec<f64> = bytes
                        .chunks_exact(2)
                        .map(|b| number(u16::from_le_bytes([b[0], b[1]])))
                        .collect();
                    // In each case the parameters are -2 and 4.
                    let (mean, deviation) = match kind {
                        UNIFORM => (1.0, 6.0 / 12f64.sqrt()),
                        NORMAL => (-2.0, 4.0),
                        _ => (-2.0, 4.0 * 0.879_626),
                    };
                    has_moments(t, &numbers, mean, deviation);
                    if kind == UNIFORM {
                        let inside = numbers.iter().all(|x| (-2.0..4.0).contains(x));
                        t.check(inside, "a number is outside of [min, max)");
                    }
                }
                // A mask takes its ratio in that type: 4 is none, and half of it is.
                let ratio = |bits: u16| func(MASK, value(&bits.to_le_bytes()), value(&[]));
                let code = b.ask(&b.task(data_type, ratio(four), 1, 8));
                t.fails(code, ERROR_PARAM, "a ratio of 4");
            }
        }),
        case("x.random.integers", Setup::device0(), |t| {
            let b = Bench::new(t);
            let n = 60_000;
            let types: [(aclDataType, usize, i64); 4] = [
                (ACL_INT32, 4, -1),
                (ACL_UINT32, 4, 1),
                (ACL_INT64, 8, -1),
                (ACL_UINT64, 8, 1),
            ];
            for (data_type, size, sign) in types {
                // A die, from -3 or 3 on.
                let low = 3 * sign;
                let pair = [low, low + 6].map(|x| value(&x.to_le_bytes()[..size]));
                let info = b.task(data_type, func(UNIFORM, pair[0], pair[1]), 77, n);
                let bytes = b.bytes(t, &info, size * n);
                let mut seen = [0u32; 6];
                for number in bytes.chunks_exact(size) {
                    let mut wide = [if number[size - 1] >> 7 == 1 { 0xff } else { 0 }; 8];
                    wide[..size].copy_from_slice(number);
                    let side = i64::from_le_bytes(wide).wrapping_sub(low);
                    match seen.get_mut(side as usize) {
                        Some(times) => *times += 1,
                        None => abort(&format!("{side} away from the lower bound")),
                    }
                }
                for times in seen {
                    let even = times.abs_diff(n as u32 / 6) < 600;
                    t.check(even, &format!("type {data_type}: {seen:?} of {n}"));
                }
            }
            // The whole range of a type, where naive arithmetic overflows.
            let pair = [i64::MIN, i64::MAX].map(|x| value(&x.to_le_bytes()));
            let info = b.task(ACL_INT64, func(UNIFORM, pair[0], pair[1]), 77, n);
            let bytes = b.bytes(t, &info, 8 * n);
            let negative = bytes.chunks_exact(8).filter(|b| b[7] >> 7 == 1).count();
            t.check(
                negative.abs_diff(n / 2) < 900,
                &format!("{negative} of {n} are negative"),
            );
        }),
    ]
}

fn streams_of_numbers() -> Vec<Case> {
    vec![
        case("x.random.seeds", Setup::device0(), |t| {
            let b = Bench::new(t);
            for kind in [UNIFORM, NORMAL, TRUNCATED] {
                let made = |seed: u64| {
                    b.set_counter(t, 5);
                    b.bytes(t, &b.floats(kind, 0.0, 1.0, seed, 1000), 4000)
                };
                let first = made(1);
                t.same_bytes(&made(1), &first, "an equal seed");
                for seed in [0, 2, 1 << 32 | 1, u64::MAX] {
                    t.check(
                        made(seed) != first,
                        &format!("seed {seed:#x} gives the same"),
                    );
                }
            }
            let mut info = b.floats(UNIFORM, 0.0, 1.0, 9, 100);
            b.set_counter(t, 0);
            let wide = b.bytes(t, &info, 400);
            info.randomSeed = value(&9u32.to_le_bytes());
            b.set_counter(t, 0);
            t.same_bytes(&b.bytes(t, &info, 400), &wide, "a seed of 4 bytes");
        }),
        case("x.random.counter_goes_on", Setup::device0(), |t| {
            let b = Bench::new(t);
            // A block of the generator has four words; floats take one each.
            let whole = b.bytes(t, &b.floats(UNIFORM, 0.0, 1.0, 4, 40), 160);
            t.eq(b.counter(t), 10, "counter after 40 floats");
            b.set_counter(t, 0);
            let mut parts = b.bytes(t, &b.floats(UNIFORM, 0.0, 1.0, 4, 16), 64);
            t.eq(b.counter(t), 4, "counter after 16 floats");
            parts.extend(b.bytes(t, &b.floats(UNIFORM, 0.0, 1.0, 4, 24), 96));
            t.same_bytes(&parts, &whole, "two tasks, one after the other");
            b.set_counter(t, 0);
            b.bytes(t, &b.floats(UNIFORM, 0.0, 1.0, 4, 5), 20);
            t.eq(b.counter(t), 2, "counter after 5 floats");
            // It has 128 bits.
            b.set_counter(t, u128::from(u64::MAX));
            b.bytes(t, &b.floats(UNIFORM, 0.0, 1.0, 4, 8), 32);
            t.eq(b.counter(t), (1 << 64) + 1, "counter across 64 bits");
            b.set_counter(t, u128::MAX);
            b.bytes(t, &b.floats(UNIFORM, 0.0, 1.0, 4, 4), 16);
            t.eq(b.counter(t), 0, "counter across 128 bits");
            b.set_counter(t, 0);
            let pair = [0i64, 9].map(|x| value(&x.to_le_bytes()));
            b.bytes(
                t,
                &b.task(ACL_INT64, func(UNIFORM, pair[0], pair[1]), 4, 3),
                24,
            );
            t.eq(b.counter(t), 3, "counter after 3 integers of 64 bits");
        }),
        case("x.random.known_numbers", Setup::device0(), |t| {
            // Philox-4x32-10 of key 0 and counter 0 begins with 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
            let b = Bench::new(t);
            let numbers = b.run_floats(t, &b.floats(UNIFORM, 0.0, 1.0, 0, 4), 4);
            let words = [0x6627_e8d5u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
            for (got, word) in numbers.iter().zip(words) {
                t.eq(*got, f64::from(word >> 8) / 16_777_216.0, "a number");
            }
            b.set_counter(t, 0);
            let half = func(MASK, value(&0.5f32.to_le_bytes()), value(&[]));
            let bytes = b.bytes(t, &b.task(ACL_FLOAT, half, 0, 4), 1);
            t.same_bytes(
                &bytes,
                &[0b1110],
                "four bits, the first in the lowest place",
            );
        }),
    ]
}

fn in_stream_order() -> Vec<Case> {
    vec![
        case("x.random.waits_its_turn", Setup::device0(), |t| {
            let b = Bench::new(t);
            t.ok(aclrtMemset(b.result, 4096, 0, 4096), "aclrtMemset");
            let gate = t.hold(b.s);
            b.queue(t, &b.floats(UNIFORM, 1.0, 2.0, 6, 1000));
            // The description was read: it may go.
            let kept = t.malloc(4000, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.copy_async(kept, b.result, 4000, b.s);
            t.holds(b.result, &[0; 4000], "the result before its turn");
            t.eq(b.counter(t), 0, "the counter before its turn");
            gate.open();
            t.sync(b.s);
            let result = t.download(b.result, 4000);
            t.check(result.iter().any(|byte| *byte != 0), "nothing was made");
            t.holds(kept, &result, "a copy queued behind it");
        }),
        case("x.random.parameters_by_address", Setup::device0(), |t| {
            let b = Bench::new(t);
            let plain = b.bytes(t, &b.floats(UNIFORM, -1.0, 3.0, 1234, 50), 200);
            b.set_counter(t, 0);
            // min, max, seed and count at odd places; their values come when the task's turn comes.
            let p = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.upload(p, &[0xff; 64]);
            let mut info = b.task(
                ACL_FLOAT,
                func(UNIFORM, at(off(p, 1), 4), at(off(p, 5), 4)),
                0,
                1,
            );
            info.randomSeed = at(off(p, 9), 8);
            info.randomNum = at(off(p, 17), 4);
            info.randomParaAddr = p;
            let mut place = vec![0xff];
            place.extend((-1.0f32).to_le_bytes());
            place.extend(3.0f32.to_le_bytes());
            place.extend(1234u64.to_le_bytes());
            place.extend(50u32.to_le_bytes());
            let gate = t.hold(b.s);
            t.ok(aclrtMemset(b.result, 208, 0xa5, 208), "mark");
            b.queue(t, &info);
            t.upload(p, &place);
            gate.open();
            t.sync(b.s);
            t.holds(b.result, &plain, "the same numbers");
            t.holds(off(b.result, 200), &[0xa5; 8], "bytes behind the result");
            t.eq(b.counter(t), 13, "counter");
        }),
        case("x.random.bad_values_by_address", Setup::device0(), |t| {
            let b = Bench::new(t);
            let p = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
            let mut place = 1.0f32.to_le_bytes().to_vec();
            place.extend((-1.0f32).to_le_bytes());
            place.extend(((8 * MANY) as u64 * 4).to_le_bytes());
            t.upload(p, &place);
            t.ok(aclrtMemset(b.result, 64, 0xa5, 64), "mark");
            let one = value(&1.0f32.to_le_bytes());
            let mut long = b.task(ACL_FLOAT, func(UNIFORM, one, one), 0, 1);
            long.randomNum = at(off(p, 8), 8);
            let tasks = [
                b.task(ACL_FLOAT, func(UNIFORM, at(p, 4), at(off(p, 4), 4)), 0, 1),
                b.task(ACL_FLOAT, func(NORMAL, at(p, 4), at(off(p, 4), 4)), 0, 1),
                b.task(ACL_FLOAT, func(MASK, at(off(p, 4), 4), one), 0, 1),
                long,
            ];
            for (i, info) in tasks.iter().enumerate() {
                b.queue(t, info);
                let code = aclrtSynchronizeStream(b.s);
                t.fails(code, ERROR_PARAM, &format!("task {i}"));
                t.holds(b.result, &[0xa5; 64], "the result");
                t.eq(b.counter(t), 0, "counter");
            }
            // No numbers at all are no mistake.
            t.upload(off(p, 8), &[0; 8]);
            b.queue(t, &tasks[3]);
            t.sync(b.s);
            t.holds(b.result, &[0xa5; 64], "the result");
        }),
    ]
}
