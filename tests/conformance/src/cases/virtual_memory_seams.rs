//! Mappings that touch are one range to whoever copies, fills or adds up; a gap is none, and neither
//! is memory of somebody else.

use super::memory_async::{Batch, DEVICE, HOST};
use super::support::*;
use super::virtual_memory::{property, property_at};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = across();
    cases.extend(queued());
    cases.extend(ends());
    cases
}

/// Half a mapping before the first seam, the whole of the next, half of the third.
const FROM: usize = MIB + 511;
const LEN: usize = 4 * MIB + 77;

/// Three mappings side by side with random bytes, and the bytes.
fn filled(t: &T) -> (*mut c_void, Vec<u8>) {
    let v = t.mapped(3);
    let bytes = t.random_bytes(3 * HUGE_PAGE);
    t.upload(v, &bytes);
    (v, bytes)
}

/// The part that crosses both seams, replaced.
fn with_part(bytes: &[u8], part: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    all[FROM..FROM + part.len()].copy_from_slice(part);
    all
}

fn across() -> Vec<Case> {
    vec![
        case("x.vmm.seam.copy", Setup::device0(), |t| {
            let (v, bytes) = filled(t);
            let part = t.random_bytes(LEN);
            t.upload(off(v, FROM), &part);
            let bytes = with_part(&bytes, &part);
            t.holds(v, &bytes, "host to device");
            let back = t.download(off(v, FROM), LEN);
            t.same_bytes(&back, &part, "device to host");
            let (block, _) = t.filled(LEN);
            let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
            t.ok(
                aclrtMemcpy(block, LEN, off(v, FROM), LEN, kind),
                "device to device",
            );
            t.holds(block, &part, "block");
            let (from, part) = t.filled(LEN);
            t.ok(
                aclrtMemcpy(off(v, FROM), LEN, from, LEN, kind),
                "device to device",
            );
            t.holds(v, &with_part(&bytes, &part), "mappings");
        }),
        case("x.vmm.seam.set", Setup::device0(), |t| {
            let (v, bytes) = filled(t);
            t.ok(aclrtMemset(off(v, FROM), LEN, 0x15a, LEN), "aclrtMemset");
            t.holds(v, &with_part(&bytes, &vec![0x5a; LEN]), "filled bytes");
            let words = 3 * HUGE_PAGE / 4 - 2;
            let code = aclrtMemsetD32(off(v, 4), 3 * HUGE_PAGE - 4, 0x0102_0304, words);
            t.ok(code, "aclrtMemsetD32");
            let last = 3 * HUGE_PAGE - 4;
            let found = t.download(v, 3 * HUGE_PAGE);
            t.same_bytes(&found[..4], &bytes[..4], "in front of the words");
            t.same_bytes(&found[last..], &bytes[last..], "behind the words");
            let want = [4, 3, 2, 1].repeat(words);
            t.same_bytes(&found[4..last], &want, "the words");
        }),
        case("x.vmm.seam.rows", Setup::device0(), |t| {
            // 1024 rows of 4000 bytes, 4096 apart, over two seams.
            let (v, bytes) = filled(t);
            let (width, pitch, rows) = (4000, 4096, 1024);
            let host = t.random_bytes(width * rows);
            let to = off(v, MIB);
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let code = aclrtMemcpy2d(to, pitch, src(&host), width, width, rows, kind);
            t.ok(code, "aclrtMemcpy2d to the device");
            let mut want = bytes;
            for row in 0..rows {
                let at = MIB + row * pitch;
                want[at..at + width].copy_from_slice(&host[row * width..(row + 1) * width]);
            }
            t.holds(v, &want, "mappings");
            let mut back = vec![0; width * rows];
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            let code = aclrtMemcpy2d(dst(&mut back), width, to, pitch, width, rows, kind);
            t.ok(code, "aclrtMemcpy2d to the host");
            t.same_bytes(&back, &host, "rows");
        }),
        case("x.vmm.seam.batch", Setup::device0(), |t| {
            let (v, bytes) = filled(t);
            let mut parts = [t.random_bytes(LEN), t.random_bytes(FROM)];
            let mut to = [off(v, FROM), v];
            let mut from = [dst(&mut parts[0]), dst(&mut parts[1])];
            let mut sizes = [LEN, FROM];
            let location = |kind| aclrtMemLocation {
                id: 0,
                r#type: kind,
            };
            let mut attr = aclrtMemcpyBatchAttr {
                dstLoc: location(DEVICE),
                srcLoc: location(HOST),
                rsv: [0; 16],
            };
            let mut fail = UNTOUCHED;
            let code = aclrtMemcpyBatch(
                to.as_mut_ptr(),
                sizes.clone().as_mut_ptr(),
                from.as_mut_ptr(),
                sizes.as_mut_ptr(),
                2,
                &raw mut attr,
                [0].as_mut_ptr(),
                1,
                &raw mut fail,
            );
            t.ok(code, "aclrtMemcpyBatch");
            let mut want = with_part(&bytes, &parts[0]);
            want[..FROM].copy_from_slice(&parts[1]);
            t.holds(v, &want, "mappings");
        }),
        case("x.vmm.seam.host_memory", Setup::device0(), |t| {
            // The same for memory of the host, in pages of both kinds.
            let v = t.reserve(2 * HUGE_PAGE);
            let host = ACL_MEM_LOCATION_TYPE_HOST;
            let small = property_at(ACL_DDR_MEM_NORMAL, host, 0);
            let huge = property_at(ACL_DDR_MEM_HUGE, host, 0);
            t.map(off(v, HUGE_PAGE - 8192), 8192, t.physical_of(8192, &small));
            t.map(
                off(v, HUGE_PAGE),
                HUGE_PAGE,
                t.physical_of(HUGE_PAGE, &huge),
            );
            let at = off(v, HUGE_PAGE - 8000);
            let len = HUGE_PAGE + 8000;
            t.usable(at, len);
            let bytes = t.random_bytes(len);
            host_write(at, &bytes);
            let (block, _) = t.filled(len);
            let kind = ACL_MEMCPY_DEFAULT;
            t.ok(aclrtMemcpy(block, len, at, len, kind), "to the device");
            t.holds(block, &bytes, "block");
        }),
    ]
}

fn queued() -> Vec<Case> {
    vec![
        case("x.vmm.seam.queued_copy", Setup::device0(), |t| {
            let s = t.stream();
            let (v, bytes) = filled(t);
            let (h, part) = t.pinned(LEN);
            let gate = t.hold(s);
            t.copy_async(off(v, FROM), h, LEN, s);
            t.holds(v, &bytes, "mappings while the stream waits");
            let (block, _) = t.filled(LEN);
            t.copy_async(block, off(v, FROM), LEN, s);
            let out = t.malloc_host(LEN);
            t.copy_async(out, off(v, FROM), LEN, s);
            gate.open();
            t.sync(s);
            t.holds(v, &with_part(&bytes, &part), "mappings");
            t.holds(block, &part, "block");
            t.same_bytes(&host_read(out, LEN), &part, "pinned memory");
        }),
        case("x.vmm.seam.queued_set", Setup::device0(), |t| {
            let s = t.stream();
            let (v, bytes) = filled(t);
            let code = aclrtMemsetAsync(off(v, FROM), LEN, 0xa5, LEN, s);
            t.ok(code, "aclrtMemsetAsync");
            t.sync(s);
            t.holds(v, &with_part(&bytes, &vec![0xa5; LEN]), "filled bytes");
        }),
        case("x.vmm.seam.queued_batch", Setup::device0(), |t| {
            let s = t.stream();
            let (v, bytes) = filled(t);
            let (h, part) = t.pinned(LEN);
            let mut fail = UNTOUCHED;
            let mut batch = Batch::new(&[off(v, FROM)], &[h], &[LEN], DEVICE, HOST);
            t.ok(batch.run(&raw mut fail, s), "aclrtMemcpyBatchAsync");
            t.sync(s);
            t.holds(v, &with_part(&bytes, &part), "mappings");
        }),
        case("x.vmm.seam.queued_rows", Setup::device0(), |t| {
            let s = t.stream();
            let (v, bytes) = filled(t);
            let (width, pitch, rows) = (4096, 4096, 1024);
            let (h, part) = t.pinned(width * rows);
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let to = off(v, MIB);
            let code = aclrtMemcpy2dAsync(to, pitch, h, width, width, rows, kind, s);
            t.ok(code, "aclrtMemcpy2dAsync");
            t.sync(s);
            let mut want = bytes;
            want[MIB..MIB + part.len()].copy_from_slice(&part);
            t.holds(v, &want, "mappings");
        }),
        case("x.vmm.seam.reduce", Setup::device0(), |t| {
            // Sums of small whole numbers are exact.
            let s = t.stream();
            let count = MIB;
            let number = |t: &T| (t.random() % 1000) as f32;
            let floats: [Vec<f32>; 2] =
                std::array::from_fn(|_| (0..count).map(|_| number(t)).collect());
            let raw = |all: &[f32]| {
                all.iter()
                    .flat_map(|f| f.to_le_bytes())
                    .collect::<Vec<u8>>()
            };
            let (v, w) = (t.mapped(3), t.mapped(3));
            let (to, from) = (off(v, MIB), off(w, MIB + 64));
            t.upload(to, &raw(&floats[0]));
            t.upload(from, &raw(&floats[1]));
            let kind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
            let bytes = (count * 4) as u64;
            let code = aclrtReduceAsync(to, from, bytes, kind, ACL_FLOAT, s, null_mut());
            t.ok(code, "aclrtReduceAsync");
            t.sync(s);
            let sums: Vec<f32> = floats[0]
                .iter()
                .zip(&floats[1])
                .map(|(a, b)| a + b)
                .collect();
            t.holds(to, &raw(&sums), "sums");
        }),
    ]
}

/// Every way to touch `len` bytes at `p` is refused, for a range that ends `over` bytes too late, and
/// the host bytes stay.
fn refused(t: &T, p: *mut c_void, len: usize, over: usize) {
    let tokens = format!("EE1011 expect 'ends {over} bytes beyond'");
    let is = |code: aclError, what: &str| t.fails_with(code, ERROR_PARAM, &tokens, what);
    let s = t.stream();
    let mut heap = vec![7; len];
    let (h, _) = t.pinned(len);
    let (block, before) = t.filled(len);
    let to = ACL_MEMCPY_HOST_TO_DEVICE;
    let back = ACL_MEMCPY_DEVICE_TO_HOST;
    is(aclrtMemcpy(p, len, src(&heap), len, to), "copy in");
    is(aclrtMemcpy(dst(&mut heap), len, p, len, back), "copy out");
    is(aclrtMemset(p, len, 7, len), "set");
    is(
        aclrtMemcpy2d(p, len, src(&heap), len, len, 1, to),
        "one row",
    );
    is(aclrtMemcpyAsync(p, len, h, len, to, s), "queued copy in");
    is(aclrtMemcpyAsync(h, len, p, len, back, s), "queued copy out");
    is(aclrtMemsetAsync(p, len, 7, len, s), "queued set");
    let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
    is(
        aclrtMemcpyAsync(block, len, p, len, kind, s),
        "within the device",
    );
    let sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    let bytes = (len / 4 * 4) as u64;
    let code = aclrtReduceAsync(block, p, bytes, sum, ACL_FLOAT, s, null_mut());
    t.fails(code, ERROR_PARAM, "sum");
    let mut fail = UNTOUCHED;
    let mut batch = Batch::new(&[p], &[h], &[len], DEVICE, HOST);
    t.fails(batch.run(&raw mut fail, s), ERROR_PARAM, "batch");
    t.check(t.is_idle(s), "something was queued");
    t.same_bytes(&heap, &vec![7; len], "memory of the program");
    t.holds(block, &before, "block");
}

fn ends() -> Vec<Case> {
    vec![
        case("x.vmm.seam.not_over_a_gap", Setup::device0(), |t| {
            let v = t.reserve(4 * HUGE_PAGE);
            for part in [0, 1, 3] {
                t.map(off(v, part * HUGE_PAGE), HUGE_PAGE, t.physical(HUGE_PAGE));
            }
            let bytes = t.random_bytes(2 * HUGE_PAGE);
            t.upload(v, &bytes);
            refused(t, off(v, 3 * MIB), 2 * MIB, MIB);
            refused(t, off(v, 2 * HUGE_PAGE - 4), 8, 4);
            t.holds(v, &bytes, "mappings in front of the gap");
            // To the last byte, and beyond the reservation.
            t.usable(off(v, 3 * HUGE_PAGE + 5), HUGE_PAGE - 5);
            refused(t, off(v, 3 * HUGE_PAGE + 5), HUGE_PAGE, 5);
            // Closed, it is one range; opened again, none.
            let middle = off(v, 2 * HUGE_PAGE);
            let h = t.physical(HUGE_PAGE);
            t.map(middle, HUGE_PAGE, h);
            t.usable(v, 4 * HUGE_PAGE);
            t.unmap(middle);
            refused(t, off(v, 3 * MIB), 2 * MIB, MIB);
        }),
        case(
            "x.vmm.seam.not_to_another_device",
            Setup::device0().devices(2),
            |t| {
                let v = t.reserve_at(HUGE_PAGE, addr(17 << 40));
                let w = t.reserve_at(HUGE_PAGE, off(v, HUGE_PAGE));
                t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
                let other = property_at(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 1);
                t.map(w, HUGE_PAGE, t.physical_of(HUGE_PAGE, &other));
                refused(t, off(v, MIB), 2 * MIB, MIB);
                t.usable(v, HUGE_PAGE);
                t.usable(w, HUGE_PAGE);
            },
        ),
        case("x.vmm.seam.not_to_the_host", Setup::device0(), |t| {
            let v = t.reserve_at(HUGE_PAGE, addr(17 << 40));
            let w = t.reserve_at(HUGE_PAGE, off(v, HUGE_PAGE));
            t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
            let host = property_at(ACL_DDR_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST, 0);
            t.map(w, HUGE_PAGE, t.physical_of(HUGE_PAGE, &host));
            refused(t, off(v, MIB), 2 * MIB, MIB);
        }),
        case("x.vmm.seam.of_two_reservations", Setup::device0(), |t| {
            // What counts is what is mapped, not how the addresses were reserved.
            let v = t.reserve_at(HUGE_PAGE, addr(17 << 40));
            let w = t.reserve_at(HUGE_PAGE, off(v, HUGE_PAGE));
            t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
            t.map(
                w,
                HUGE_PAGE,
                t.physical_of(HUGE_PAGE, &property(ACL_MEM_P2P_HUGE)),
            );
            t.usable(v, 2 * HUGE_PAGE);
        }),
        case("x.vmm.seam.without_rights", Setup::device0(), |t| {
            let v = t.reserve(2 * HUGE_PAGE);
            t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
            let (w, h) = (off(v, HUGE_PAGE), t.physical(HUGE_PAGE));
            let code = aclrtMemMapNoAccess(w, HUGE_PAGE, 0, h, 0);
            t.ok(code, "aclrtMemMapNoAccess");
            let heap = t.random_bytes(2 * MIB);
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let at = off(v, MIB);
            let code = aclrtMemcpy(at, 2 * MIB, src(&heap), 2 * MIB, kind);
            t.fails_with(
                code,
                ERROR_PARAM,
                "param=dst expect 'aclrtMemSetAccess'",
                "copy into memory without rights",
            );
            t.set_access(w, HUGE_PAGE, super::virtual_memory::device0());
            t.usable(at, 2 * MIB);
        }),
    ]
}
