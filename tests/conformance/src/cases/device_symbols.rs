//! Device variables that this very program registers.

use super::support::*;

/// Bytes of the variable of most cases.
const BYTES: usize = 16;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lines();
    cases.extend(own());
    cases
}

impl T {
    /// A variable of so many bytes whose initial value is `bytes`; never released.
    fn variable(&self, bytes: Vec<u8>) -> *const c_void {
        let len = bytes.len();
        let symbol: *const c_void = Box::leak(bytes.into_boxed_slice()).as_ptr().cast();
        let end = symbol.wrapping_byte_add(len);
        let code = cannery_register_variable(symbol, len, symbol, end);
        self.ok(code, "cannery_register_variable");
        symbol
    }

    fn small_variable(&self) -> *const c_void {
        self.variable(self.random_bytes(BYTES))
    }
}

fn lines() -> Vec<Case> {
    vec![
        case("symbol.address.null_out", Setup::device0(), |t| {
            t.ret(aclrtGetSymbolAddress(t.small_variable(), null_mut()));
        }),
        case("symbol.address.null_symbol", Setup::device0(), |t| {
            let mut p = SENTINEL;
            t.ret(aclrtGetSymbolAddress(null(), &mut p));
            t.eq(p, SENTINEL, "the address");
        }),
        case("symbol.address.unknown", Setup::device0(), |t| {
            let mut p = SENTINEL;
            let local = 0_u64;
            t.ret(aclrtGetSymbolAddress((&raw const local).cast(), &mut p));
            t.eq(p, SENTINEL, "the address");
        }),
        case("symbol.from.bad_kind", Setup::device0(), |t| {
            let mut to = t.random_bytes(BYTES);
            let was = to.clone();
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let code =
                aclrtMemcpyFromSymbol(dst(&mut to), BYTES, t.small_variable(), BYTES, 0, kind);
            t.ret(code);
            t.same_bytes(&to, &was, "the destination");
        }),
        case("symbol.from.count_zero", Setup::init(), |t| {
            t.ret(aclrtMemcpyFromSymbol(null_mut(), 0, null(), 0, 99, 99));
        }),
        case("symbol.from.dst_max", Setup::device0(), |t| {
            let mut to = t.random_bytes(4);
            let was = to.clone();
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            t.ret(aclrtMemcpyFromSymbol(
                dst(&mut to),
                3,
                t.small_variable(),
                4,
                0,
                kind,
            ));
            t.same_bytes(&to, &was, "the destination");
        }),
        case("symbol.from.null_dst", Setup::device0(), |t| {
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            t.ret(aclrtMemcpyFromSymbol(
                null_mut(),
                4,
                t.small_variable(),
                4,
                0,
                kind,
            ));
        }),
        case("symbol.from.range", Setup::device0(), |t| {
            let mut to = t.random_bytes(BYTES);
            let was = to.clone();
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            let code =
                aclrtMemcpyFromSymbol(dst(&mut to), BYTES, t.small_variable(), BYTES, 8, kind);
            t.ret(code);
            t.same_bytes(&to, &was, "the destination");
        }),
        case("symbol.from.unknown", Setup::device0(), |t| {
            let mut to = t.random_bytes(4);
            let was = to.clone();
            let local = 0_u64;
            let symbol = (&raw const local).cast();
            t.ret(aclrtMemcpyFromSymbol(
                dst(&mut to),
                4,
                symbol,
                4,
                0,
                ACL_MEMCPY_DEFAULT,
            ));
            t.same_bytes(&to, &was, "the destination");
        }),
        case("symbol.from_async.null_stream", Setup::device0(), |t| {
            let mut to = t.random_bytes(4);
            let was = to.clone();
            let (symbol, kind) = (t.small_variable(), ACL_MEMCPY_DEVICE_TO_HOST);
            t.ret(aclrtMemcpyFromSymbolAsync(
                dst(&mut to),
                4,
                symbol,
                4,
                0,
                kind,
                null_mut(),
            ));
            t.same_bytes(&to, &was, "the destination");
        }),
        case("symbol.size.null_out", Setup::device0(), |t| {
            t.ret(aclrtGetSymbolSize(t.small_variable(), null_mut()));
        }),
        case("symbol.to.bad_kind", Setup::device0(), |t| {
            let from = t.random_bytes(BYTES);
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            t.ret(aclrtMemcpyToSymbol(
                t.small_variable(),
                src(&from),
                BYTES,
                0,
                kind,
            ));
        }),
        case("symbol.to.range", Setup::device0(), |t| {
            let from = t.random_bytes(1);
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            t.ret(aclrtMemcpyToSymbol(
                t.small_variable(),
                src(&from),
                1,
                BYTES,
                kind,
            ));
        }),
        case("symbol.to_async.null_src", Setup::device0(), |t| {
            let (s, symbol) = (t.stream(), t.small_variable());
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            t.ret(aclrtMemcpyToSymbolAsync(symbol, null(), 4, 0, kind, s));
            t.check(t.is_idle(s), "something was queued");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.symbol.lives_on_the_device", Setup::device0(), |t| {
            let initial = t.random_bytes(MIB + 5);
            let symbol = t.variable(initial.clone());
            let (mut p, mut size) = (null_mut(), 0);
            t.ok(aclrtGetSymbolSize(symbol, &mut size), "aclrtGetSymbolSize");
            t.eq(size, initial.len(), "bytes of the variable");
            t.ok(
                aclrtGetSymbolAddress(symbol, &mut p),
                "aclrtGetSymbolAddress",
            );
            t.check(
                p.cast_const() != symbol,
                "the device address is the host address",
            );
            t.holds(p, &initial, "initial value on the device");
            t.fails(aclrtFree(p), ERROR_PARAM, "aclrtFree of a variable");
            // Written in the middle, read back in both ways.
            let part = t.random_bytes(MIB / 2);
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let code = aclrtMemcpyToSymbol(symbol, src(&part), part.len(), 333, kind);
            t.ok(code, "aclrtMemcpyToSymbol");
            let mut want = initial.clone();
            want[333..333 + part.len()].copy_from_slice(&part);
            t.holds(p, &want, "the variable");
            let mut got = vec![0; want.len()];
            let max = got.len();
            let code =
                aclrtMemcpyFromSymbol(dst(&mut got), max, symbol, max, 0, ACL_MEMCPY_DEFAULT);
            t.ok(code, "aclrtMemcpyFromSymbol");
            t.same_bytes(&got, &want, "what was read");
            t.same_bytes(
                &host_read(symbol, initial.len()),
                &initial,
                "the host's own",
            );
        }),
        case("x.symbol.queued_copies", Setup::device0(), |t| {
            let initial = t.random_bytes(MIB);
            let symbol = t.variable(initial.clone());
            let s = t.stream();
            let (from, bytes) = t.pinned(MIB);
            let (to, _) = t.pinned(MIB);
            let gate = t.hold(s);
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let code = aclrtMemcpyToSymbolAsync(symbol, from, MIB, 0, kind, s);
            t.ok(code, "aclrtMemcpyToSymbolAsync");
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            let code = aclrtMemcpyFromSymbolAsync(to, MIB, symbol, MIB, 0, kind, s);
            t.ok(code, "aclrtMemcpyFromSymbolAsync");
            let mut p = null_mut();
            t.ok(
                aclrtGetSymbolAddress(symbol, &mut p),
                "aclrtGetSymbolAddress",
            );
            t.holds(p, &initial, "the variable before the copy's turn");
            gate.open();
            t.sync(s);
            t.holds(p, &bytes, "the variable");
            t.same_bytes(&host_read(to, MIB), &bytes, "what was read");
        }),
        case(
            "x.symbol.one_for_each_device",
            Setup::device0().devices(2),
            |t| {
                let initial = t.random_bytes(4096);
                let symbol = t.variable(initial.clone());
                let bytes = t.random_bytes(4096);
                let code = aclrtMemcpyToSymbol(symbol, src(&bytes), 4096, 0, ACL_MEMCPY_DEFAULT);
                t.ok(code, "aclrtMemcpyToSymbol");
                let mut p = null_mut();
                t.ok(
                    aclrtGetSymbolAddress(symbol, &mut p),
                    "aclrtGetSymbolAddress",
                );
                t.ok(aclrtSetDevice(1), "aclrtSetDevice");
                let mut q = null_mut();
                t.ok(
                    aclrtGetSymbolAddress(symbol, &mut q),
                    "aclrtGetSymbolAddress",
                );
                t.check(p != q, "both devices share the variable");
                t.holds(q, &initial, "on device 1");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.holds(p, &bytes, "on device 0");
            },
        ),
        case(
            "x.symbol.begins_anew_after_a_reset",
            Setup::device0(),
            |t| {
                let initial = t.random_bytes(4096);
                let symbol = t.variable(initial.clone());
                let bytes = t.random_bytes(4096);
                let code = aclrtMemcpyToSymbol(symbol, src(&bytes), 4096, 0, ACL_MEMCPY_DEFAULT);
                t.ok(code, "aclrtMemcpyToSymbol");
                t.ok(aclrtResetDevice(0), "aclrtResetDevice");
                let mut p = SENTINEL;
                t.fails(
                    aclrtGetSymbolAddress(symbol, &mut p),
                    107_002,
                    "without a device",
                );
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.ok(
                    aclrtGetSymbolAddress(symbol, &mut p),
                    "aclrtGetSymbolAddress",
                );
                t.holds(p, &initial, "the variable");
                cannery_unregister(symbol);
                t.fails(
                    aclrtGetSymbolAddress(symbol, &mut p),
                    107_043,
                    "once forgotten",
                );
            },
        ),
        case("x.symbol.products", Setup::device0().profile("310B"), |t| {
            let symbol = t.small_variable();
            let mut p = SENTINEL;
            t.fails(
                aclrtGetSymbolAddress(symbol, null_mut()),
                100_000,
                "NULL comes first",
            );
            t.fails(
                aclrtGetSymbolAddress(symbol, &mut p),
                207_000,
                "the product lacks it",
            );
            let mut to = t.random_bytes(4);
            let kind = ACL_MEMCPY_DEFAULT;
            let code = aclrtMemcpyFromSymbol(dst(&mut to), 4, symbol, 4, 0, kind);
            t.fails(code, 207_000, "aclrtMemcpyFromSymbol");
            t.eq(p, SENTINEL, "the address");
        }),
        case("x.symbol.bad_registrations", Setup::init(), |t| {
            let bytes = [0_u8; 8];
            let at: *const c_void = bytes.as_ptr().cast();
            let end = at.wrapping_byte_add(8);
            let outside = at.wrapping_byte_add(4);
            for (symbol, size, want) in [
                (null(), 8, 100_000),
                (at, 0, 100_000),
                (outside, 8, 100_000),
            ] {
                let code = cannery_register_variable(symbol, size, at, end);
                t.fails(code, want, "cannery_register_variable");
            }
        }),
    ]
}
