//! Data buffers: descriptors of an address and a size.

use super::support::*;

fn handle(number: usize) -> *mut aclDataBuffer {
    addr(number).cast()
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.buffer.roundtrip", Setup::fresh(), |t| {
            let mut bytes = [7_u8; 100];
            let p = dst(&mut bytes);
            let b = aclCreateDataBuffer(p, 100);
            t.check(!b.is_null(), "aclCreateDataBuffer");
            t.eq(aclGetDataBufferAddr(b), p, "address");
            t.eq(aclGetDataBufferSizeV2(b), 100, "size");
            t.eq(aclGetDataBufferSize(b), 100, "32-bit size");
            t.ok(
                aclUpdateDataBuffer(b, off(p, 10), 50),
                "aclUpdateDataBuffer",
            );
            t.eq(
                aclGetDataBufferAddr(b),
                off(p, 10),
                "address after the update",
            );
            t.eq(aclGetDataBufferSizeV2(b), 50, "size after the update");
            t.ok(aclDestroyDataBuffer(b), "aclDestroyDataBuffer");
            t.eq(bytes, [7; 100], "described memory");
        }),
        case("x.buffer.empty", Setup::fresh(), |t| {
            let b = aclCreateDataBuffer(null_mut(), 0);
            t.check(!b.is_null(), "aclCreateDataBuffer(NULL, 0)");
            t.eq(aclGetDataBufferAddr(b), null_mut(), "address");
            t.eq(aclGetDataBufferSizeV2(b), 0, "size");
            t.ok(aclDestroyDataBuffer(b), "aclDestroyDataBuffer");
        }),
        case("x.buffer.large_size", Setup::device0(), |t| {
            let p = t.malloc(5 * GIB, ACL_MEM_MALLOC_HUGE_FIRST);
            let b = aclCreateDataBuffer(p, 5 * GIB);
            t.eq(aclGetDataBufferSizeV2(b), 5 * GIB, "size");
            t.ok(aclDestroyDataBuffer(b), "aclDestroyDataBuffer");
            t.usable(p, 64);
            t.free(p);
        }),
        case("x.buffer.null_handle", Setup::fresh(), |t| {
            t.fails_with(
                aclDestroyDataBuffer(null()),
                ERROR_FRONT,
                "EH0008",
                "destroy",
            );
            let code = aclUpdateDataBuffer(null_mut(), addr(64), 1);
            t.fails_with(code, ERROR_FRONT, "EH0008", "update");
            t.eq(aclGetDataBufferAddr(null()), null_mut(), "address");
            t.check(
                recent_text().is_some(),
                "aclGetDataBufferAddr(NULL) left no text",
            );
            t.eq(aclGetDataBufferSizeV2(null()), 0, "size");
            t.check(
                recent_text().is_some(),
                "aclGetDataBufferSizeV2(NULL) left no text",
            );
            t.eq(aclGetDataBufferSize(null()), 0, "32-bit size");
        }),
        case("x.buffer.invented_handles", Setup::fresh(), |t| {
            let mut heap = vec![0_u8; 64];
            let stale = aclCreateDataBuffer(addr(64), 1);
            t.ok(aclDestroyDataBuffer(stale), "aclDestroyDataBuffer");
            let heap: *mut aclDataBuffer = heap.as_mut_ptr().cast();
            for b in [handle(1), handle(0x1234), handle(usize::MAX), heap, stale] {
                let what = format!("{b:p}");
                t.check(aclDestroyDataBuffer(b) != 0, &format!("destroy of {what}"));
                t.check(
                    recent_text().is_some(),
                    &format!("destroy of {what} left no text"),
                );
                let code = aclUpdateDataBuffer(b, addr(64), 1);
                t.check(code != 0, &format!("update of {what}"));
                t.eq(
                    aclGetDataBufferAddr(b),
                    null_mut(),
                    &format!("address of {what}"),
                );
                t.eq(aclGetDataBufferSizeV2(b), 0, &format!("size of {what}"));
            }
        }),
        case("x.buffer.many", Setup::fresh(), |t| {
            let all: Vec<_> = (0..5000)
                .map(|i| aclCreateDataBuffer(addr(64 * (i + 1)), i))
                .collect();
            for (i, b) in all.iter().enumerate() {
                t.eq(aclGetDataBufferAddr(*b), addr(64 * (i + 1)), "address");
                t.eq(aclGetDataBufferSizeV2(*b), i, "size");
            }
            for b in all {
                t.ok(aclDestroyDataBuffer(b), "aclDestroyDataBuffer");
            }
        }),
    ]
}
