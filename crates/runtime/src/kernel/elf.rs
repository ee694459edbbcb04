//! What a shared object says of itself: its machine, its segments, what it exports.

use std::collections::BTreeMap;

/// A shared object as it lies in a file.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    /// What is loaded, in addresses relative to its place.
    pub(crate) segments: Vec<Segment>,
    /// Exported functions and variables by name.
    pub(crate) symbols: BTreeMap<String, Symbol>,
}

/// A part that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) readable: bool,
}

/// An exported function or variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// Address relative to the place of the object.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) is_function: bool,
}

impl Segment {
    /// Whether a symbol lies in it: the place between segments is no memory.
    fn holds(&self, symbol: &Symbol) -> bool {
        let end = symbol.start.saturating_add(symbol.bytes);
        (self.readable || symbol.is_function)
            && self.start <= symbol.start
            && end <= self.start.saturating_add(self.bytes)
    }
}

impl Elf {
    /// Bytes from the lowest to the highest address, from 0 on.
    pub(crate) fn span(&self) -> u64 {
        let end = |segment: &Segment| segment.start.saturating_add(segment.bytes);
        self.segments.iter().map(end).max().unwrap_or(0)
    }
}

const SHARED_OBJECT: u16 = 3;
const LOAD: u32 = 1;
/// More addresses than a shared object can have.
const MOST_BYTES: u64 = 1 << 46;
const READ: u32 = 4;
const DYNAMIC_SYMBOLS: u32 = 11;
const OBJECT: u8 = 1;
const FUNCTION: u8 = 2;

fn machine() -> Option<u16> {
    match std::env::consts::ARCH {
        "x86_64" => Some(62),
        "aarch64" => Some(183),
        "riscv64" => Some(243),
        "loongarch64" => Some(258),
        _ => None,
    }
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&self, at: u64) -> Result<[u8; N], String> {
        let from = usize::try_from(at).map_err(|_| cut())?;
        let end = from.checked_add(N).ok_or_else(cut)?;
        let part = self.0.get(from..end).ok_or_else(cut)?;
        part.try_into().map_err(|_| cut())
    }

    fn u16(&self, at: u64) -> Result<u16, String> {
        self.take(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: u64) -> Result<u32, String> {
        self.take(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: u64) -> Result<u64, String> {
        self.take(at).map(u64::from_le_bytes)
    }

    fn text(&self, at: u64) -> Result<String, String> {
        let rest = usize::try_from(at).ok().and_then(|at| self.0.get(at..));
        let rest = rest.ok_or_else(cut)?;
        let end = rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

fn cut() -> String {
    "it is cut short or damaged: what it refers to lies outside of it".to_owned()
}

fn sum(a: u64, b: u64) -> Result<u64, String> {
    a.checked_add(b).ok_or_else(cut)
}

/// Reads a shared object. The error says what is wrong with it.
pub(crate) fn read(bytes: &[u8]) -> Result<Elf, String> {
    if bytes.get(..4) != Some(b"\x7fELF") {
        return Err("no ELF file; build a shared object (cc -shared -fPIC)".to_owned());
    }
    let file = Bytes(bytes);
    let [class, order, ..] = file.take::<4>(4)?;
    if (class, order) != (2, 1) {
        return Err("not for 64 bits, little-endian".to_owned());
    }
    if machine() != Some(file.u16(18)?) {
        return Err(format!(
            "for machine number {}, but this is {}; build it with the compiler of this machine",
            file.u16(18)?,
            std::env::consts::ARCH
        ));
    }
    if file.u16(16)? != SHARED_OBJECT {
        return Err(
            "no shared object; link it with -shared (a plain object file is not enough)".to_owned(),
        );
    }
    let mut elf = Elf::default();
    let (table, size, count) = (file.u64(32)?, file.u16(54)?, file.u16(56)?);
    for i in 0..u64::from(count) {
        let head = sum(table, i * u64::from(size))?;
        if file.u32(head)? == LOAD {
            let segment = Segment {
                start: file.u64(sum(head, 16)?)?,
                bytes: file.u64(sum(head, 40)?)?,
                readable: file.u32(sum(head, 4)?)? & READ != 0,
            };
            let (offset, stored) = (file.u64(sum(head, 8)?)?, file.u64(sum(head, 32)?)?);
            if sum(offset, stored)? > bytes.len() as u64 {
                return Err(cut());
            }
            // The loader of the system takes these for granted.
            let in_order = elf.span() <= segment.start;
            let fits = sum(segment.start, segment.bytes)? < MOST_BYTES;
            if stored > segment.bytes || !in_order || !fits {
                return Err("damaged: its segments overlap, or are larger than it".to_owned());
            }
            elf.segments.push(segment);
        }
    }
    let (table, size, count) = (file.u64(40)?, file.u16(58)?, file.u16(60)?);
    for i in 0..u64::from(count) {
        let head = sum(table, i * u64::from(size))?;
        if file.u32(sum(head, 4)?)? == DYNAMIC_SYMBOLS {
            let names = sum(
                table,
                u64::from(file.u32(sum(head, 40)?)?) * u64::from(size),
            )?;
            let names = file.u64(sum(names, 24)?)?;
            let (start, bytes) = (file.u64(sum(head, 24)?)?, file.u64(sum(head, 32)?)?);
            read_symbols(&file, start, bytes, names, &mut elf.symbols)?;
        }
    }
    let Elf { segments, symbols } = &mut elf;
    symbols.retain(|_, symbol| segments.iter().any(|segment| segment.holds(symbol)));
    Ok(elf)
}

fn read_symbols(
    file: &Bytes<'_>,
    start: u64,
    bytes: u64,
    names: u64,
    into: &mut BTreeMap<String, Symbol>,
) -> Result<(), String> {
    const SIZE: u64 = 24;
    for i in 0..bytes / SIZE {
        let at = sum(start, i * SIZE)?;
        let [kind] = file.take::<1>(sum(at, 4)?)?;
        let (kind, defined) = (kind & 0xf, file.u16(sum(at, 6)?)? != 0);
        if defined && matches!(kind, OBJECT | FUNCTION) {
            let name = file.text(sum(names, file.u32(at)?.into())?)?;
            into.insert(
                name,
                Symbol {
                    start: file.u64(sum(at, 8)?)?,
                    bytes: file.u64(sum(at, 16)?)?,
                    is_function: kind == FUNCTION,
                },
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::read;

    /// A shared object that every machine has: this very program is one too, but may export nothing.
    fn some_object() -> Vec<u8> {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let path = maps
            .lines()
            .filter_map(|line| line.split_whitespace().nth(5))
            .find(|path| path.contains("libc.so"))
            .expect("the C library");
        std::fs::read(path).expect("its bytes")
    }

    #[test]
    fn exports_of_the_c_library() {
        let elf = read(&some_object()).expect("readable");
        let malloc = elf.symbols.get("malloc").expect("malloc");
        assert!(malloc.is_function && malloc.bytes > 0);
        assert!(elf.symbols.get("environ").is_some_and(|s| !s.is_function));
        assert!(elf.span() > malloc.start && elf.segments.len() > 1);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = some_object();
        assert!(read(b"").is_err() && read(b"\x7fELF").is_err());
        let mut state = 7u64;
        for round in 0..2000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mut bytes = whole[..(state as usize % whole.len()).max(64)].to_vec();
            // Damages the heads, which decide where it looks.
            for k in 0..8 {
                let at = (state >> k) as usize % 64.min(bytes.len());
                if at >= 20 {
                    bytes[at] = (state >> (k + round % 7)) as u8;
                }
            }
            let _ = read(&bytes);
        }
    }

    #[test]
    fn segments_that_the_file_does_not_have() {
        let whole = some_object();
        let u64_at = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().expect("8 bytes"));
        let heads = u64_at(32) as usize;
        let load = |i: &usize| whole[heads + i * 56..][..4] == super::LOAD.to_le_bytes();
        let second = (0..64).filter(load).nth(1).expect("two segments");
        let head = heads + second * 56;
        for (field, value) in [
            (8, whole.len() as u64),     // stored behind the end
            (16, 0),                     // over the first segment
            (32, u64_at(head + 40) + 1), // more stored than loaded
            (40, u64::MAX),              // round the address space
        ] {
            let mut bytes = whole.clone();
            bytes[head + field..head + field + 8].copy_from_slice(&value.to_le_bytes());
            assert!(read(&bytes).is_err(), "field {field}");
        }
    }
}
