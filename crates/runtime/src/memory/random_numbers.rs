//! aclrtRandomNumAsync: random numbers in device memory, in stream order.
//!
//! Numbers come from Philox-4x32-10: the key is the seed; the counter is the 128-bit number at
//! `randomCounterAddr`, which the task advances by the blocks it took. So equal seeds and counters give
//! equal bytes, and a following task goes on where this one ended. Parameters are given as they are or
//! as device addresses, which are read when the task runs. docs/differences.md says what was decided
//! here because nothing states it.
#![allow(unsafe_code)] // reads parameters and counters

use cannery_abi as abi;

use super::distributions::{Element, Law};
use super::{guard, locate};
use crate::error::{Error, Fault, Result};
use crate::process::Here;
use crate::stream::engine;
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;

/// Bytes of the counter.
const COUNTER: u64 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mask,
    Uniform,
    Normal { truncated: bool },
}

impl Kind {
    /// What is wrong with the parameters of the distribution, or the distribution.
    fn law(self, element: Element, bits: [u64; 2]) -> core::result::Result<Law, &'static str> {
        match self {
            Kind::Mask => Law::mask(element, bits[0]),
            Kind::Uniform => Law::uniform(element, bits[0], bits[1]),
            Kind::Normal { truncated } => Law::normal(element, bits[0], bits[1], truncated),
        }
    }
}

/// A parameter: its name, and its bytes or where they are.
#[derive(Clone, Copy)]
struct Parameter {
    name: &'static str,
    bytes: u8,
    given: Given,
}

#[derive(Clone, Copy)]
enum Given {
    Value(u64),
    /// Device memory, as the program names it.
    Address(u64),
    /// Device memory that was checked, where the runtime reads it.
    Place(u64),
}

impl Parameter {
    /// Checks the shape of a parameter that takes one of `sizes` bytes.
    fn of(name: &'static str, info: &abi::aclrtRandomParaInfo, sizes: &[u8]) -> Result<Parameter> {
        if !sizes.contains(&info.size) {
            let list: Vec<String> = sizes.iter().map(u8::to_string).collect();
            let cause = format!("its size must be {} bytes", list.join(" or "));
            return Err(Error::rt_cause(
                name,
                format!("of {} bytes", info.size),
                cause,
            ));
        }
        let number = u64::from_le_bytes(info.valueOrAddr);
        let given = match info.isAddr {
            0 => Given::Value(match info.size {
                8 => number,
                size => number & ((1 << (8 * size)) - 1),
            }),
            1 => Given::Address(number),
            other => {
                let cause = "isAddr must be 0 (a value) or 1 (a device address)";
                return Err(Error::rt_cause(name, format!("of isAddr {other}"), cause));
            }
        };
        Ok(Parameter {
            name,
            bytes: info.size,
            given,
        })
    }

    /// Finds what is given by address.
    fn located(self, here: &Here) -> Result<Parameter> {
        let given = match self.given {
            Given::Address(address) => {
                Given::Place(device_range(here, self.name, address, self.bytes.into())?)
            }
            other => other,
        };
        Ok(Parameter { given, ..self })
    }

    fn value(&self) -> Option<u64> {
        match self.given {
            Given::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The value when the task runs.
    fn read(&self) -> u64 {
        let Given::Place(at) = self.given else {
            return self.value().unwrap_or_default();
        };
        let mut bytes = [0; 8];
        for (i, byte) in bytes.iter_mut().take(self.bytes.into()).enumerate() {
            // SAFETY: device memory that was checked at submission; memory of the runtime stays mapped.
            *byte = unsafe { (at as *const u8).add(i).read() };
        }
        u64::from_le_bytes(bytes)
    }
}

/// Where the runtime touches `bytes` bytes of memory of the device of the caller.
fn device_range(here: &Here, name: &'static str, address: u64, bytes: u64) -> Result<u64> {
    let spot = locate::range(here.runtime, name, address, bytes)?;
    match spot.device {
        Some(device) if [here.device().index(), locate::EVERY_DEVICE].contains(&device) => {
            locate::note_touch(here, &spot, address, bytes, true);
            Ok(spot.at)
        }
        Some(device) => Err(Error::address(
            name,
            address,
            format!(
                "memory of device {device}, but the stream belongs to device {}",
                here.device().index()
            ),
        )),
        None => Err(Error::address(
            name,
            address,
            "host memory; device memory is needed",
        )),
    }
}

fn kind_of(func_type: i32) -> Result<Kind> {
    Ok(match func_type {
        abi::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK => Kind::Mask,
        abi::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS => Kind::Uniform,
        abi::ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS => Kind::Normal { truncated: false },
        abi::ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS => Kind::Normal { truncated: true },
        other => {
            return Err(Error::rt_value(
                "funcType",
                other,
                "0 (dropout bit mask), 1 (uniform), 2 (normal) or 3 (truncated normal)",
            ));
        }
    })
}

fn element_of(data_type: i32, kind: Kind) -> Result<Element> {
    let element = match data_type {
        abi::ACL_FLOAT => Some(Element::F32),
        abi::ACL_FLOAT16 => Some(Element::F16),
        abi::ACL_BF16 => Some(Element::Bf16),
        abi::ACL_INT32 => Some(Element::I32),
        abi::ACL_UINT32 => Some(Element::U32),
        abi::ACL_INT64 => Some(Element::I64),
        abi::ACL_UINT64 => Some(Element::U64),
        _ => None,
    };
    let fits = |element: &Element| element.is_float() || kind == Kind::Uniform;
    element.filter(fits).ok_or_else(|| {
        let expected = match kind {
            Kind::Uniform => "float, float16, bfloat16, or an integer of 32 or 64 bits",
            _ => "float, float16 or bfloat16",
        };
        Error::rt_value("dataType", data_type, expected)
    })
}

/// Parameters of the distribution; a mask has one.
fn parameters_of(
    info: &abi::aclrtRandomNumFuncParaInfo,
    kind: Kind,
    element: Element,
) -> Result<[Parameter; 2]> {
    let sizes = [element.bytes() as u8];
    let of = |name, info: &abi::aclrtRandomParaInfo| Parameter::of(name, info, &sizes);
    // SAFETY: every member of the union consists of plain bytes, and all bytes of the union belong to
    // the structure that the program passed.
    unsafe {
        match kind {
            Kind::Mask => {
                let ratio = of(
                    "dropoutRation",
                    &info.paramInfo.dropoutBitmaskInfo.dropoutRation,
                )?;
                Ok([ratio, ratio])
            }
            Kind::Uniform => {
                let bounds = &info.paramInfo.uniformDisInfo;
                Ok([of("min", &bounds.min)?, of("max", &bounds.max)?])
            }
            Kind::Normal { .. } => {
                let shape = &info.paramInfo.normalDisInfo;
                Ok([of("mean", &shape.mean)?, of("stddev", &shape.stddev)?])
            }
        }
    }
}

/// A task, checked as far as its parameters were known.
struct Job {
    here: Here,
    kind: Kind,
    element: Element,
    parameters: [Parameter; 2],
    seed: Parameter,
    count: Parameter,
    /// As the program names it.
    result: u64,
    counter_at: u64,
}

/// Queues the generation of random numbers.
///
/// # Errors
/// 100000 for NULL (the description, the result, the counter) and the reserved argument; 107017; 107000
/// for unknown distributions, types that the distribution does not have, sizes and values of
/// parameters, and a count of 0; 107002, 107003; 107000 for ranges that are no memory of the device of
/// the stream, and a result that is not aligned to its elements; 207000 where the product lacks it;
/// 207001 when the host runs out of memory. What is wrong with values given by address fails the
/// stream: 107000 at the next synchronisation.
pub fn generate(
    info: Option<&abi::aclrtRandomNumTaskInfo>,
    stream: u64,
    reserve: u64,
) -> Result<()> {
    let Some(info) = info else {
        return Err(Error::null("taskInfo"));
    };
    if reserve != 0 {
        return Err(Fault::Param {
            param: "reserve",
            cause: "reserved, must be NULL".to_owned(),
        }
        .into());
    }
    let (result, counter) = (info.randomResultAddr as u64, info.randomCounterAddr as u64);
    for (name, address) in [("randomResultAddr", result), ("randomCounterAddr", counter)] {
        if address == 0 {
            return Err(Error::null(name));
        }
    }
    if stream != 0 {
        find("stream", stream)?;
    }
    let kind = kind_of(info.randomNumFuncParaInfo.funcType)?;
    let element = element_of(info.dataType, kind)?;
    let parameters = parameters_of(&info.randomNumFuncParaInfo, kind, element)?;
    let seed = Parameter::of("randomSeed", &info.randomSeed, &[4, 8])?;
    let count = Parameter::of("randomNum", &info.randomNum, &[4, 8])?;
    if let [Some(first), Some(second)] = parameters.map(|parameter| parameter.value())
        && let Err(cause) = kind.law(element, [first, second])
    {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "paramInfo",
            cause,
        ));
    }
    if count.value() == Some(0) {
        return Err(Error::rt_value("randomNum", 0, "a number above 0"));
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let [first, second] = parameters;
    let job = Job {
        here,
        kind,
        element,
        parameters: [first.located(&here)?, second.located(&here)?],
        seed: seed.located(&here)?,
        count: count.located(&here)?,
        result,
        counter_at: device_range(&here, "randomCounterAddr", counter, COUNTER)?,
    };
    if info.randomParaAddr as u64 != 0 {
        // Room for parameters on the device, which is not needed here.
        device_range(&here, "randomParaAddr", info.randomParaAddr as u64, 1)?;
    }
    // A count that is not known yet is checked when it is.
    job.room(count.value().unwrap_or(1))?;
    engine::submit(
        stream,
        Task::Compute(std::sync::Arc::new(move || job.run())),
    );
    Ok(())
}

impl Job {
    /// Where `count` numbers go.
    fn room(&self, count: u64) -> Result<u64> {
        let (unit, bytes) = match self.kind {
            Kind::Mask => (1, Some(count.div_ceil(8))),
            _ => {
                let unit = self.element.bytes();
                (unit, count.checked_mul(unit))
            }
        };
        let Some(bytes) = bytes else {
            return Err(Error::rt_value(
                "randomNum",
                count,
                "a number whose bytes fit 64 bits",
            ));
        };
        let at = device_range(&self.here, "randomResultAddr", self.result, bytes)?;
        if !self.result.is_multiple_of(unit) {
            return Err(Error::address(
                "randomResultAddr",
                self.result,
                "is not aligned to its elements",
            ));
        }
        guard::touch(at, bytes)?;
        Ok(at)
    }

    /// The task. Returns 0 or the code of its failure.
    fn run(&self) -> i32 {
        let [first, second] = self.parameters.map(|parameter| parameter.read());
        let count = self.count.read();
        let (Ok(law), Ok(at)) = (
            self.kind.law(self.element, [first, second]),
            self.room(count),
        ) else {
            return abi::ACL_ERROR_RT_PARAM_INVALID;
        };
        let place = self.counter_at as *mut [u64; 2];
        // SAFETY: 16 bytes of device memory, checked at submission; any bytes are numbers.
        let [low, high] = unsafe { place.read_unaligned() };
        let counter = u128::from(high) << 64 | u128::from(low);
        // SAFETY: `room` checked the range and its alignment.
        unsafe { law.fill(self.element, at, count, self.seed.read(), counter) };
        let next = counter.wrapping_add(law.blocks(self.element, count));
        // SAFETY: as for the reading.
        unsafe { place.write_unaligned([next as u64, (next >> 64) as u64]) };
        0
    }
}
