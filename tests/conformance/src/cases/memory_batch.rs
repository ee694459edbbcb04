//! Batched synchronous copies.

use super::support::*;

const DEVICE: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_DEVICE;
const HOST: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_HOST;
/// `failIndex` when no entry is to blame.
const NO_ENTRY: usize = usize::MAX;

fn location(kind: aclrtMemLocationType) -> aclrtMemLocation {
    aclrtMemLocation {
        id: 0,
        r#type: kind,
    }
}

/// Declared locations of destination and source.
fn attribute(to: aclrtMemLocationType, from: aclrtMemLocationType) -> aclrtMemcpyBatchAttr {
    aclrtMemcpyBatchAttr {
        dstLoc: location(to),
        srcLoc: location(from),
        rsv: [0; 16],
    }
}

/// The arrays of one batch.
struct Batch {
    dsts: Vec<*mut c_void>,
    maxs: Vec<usize>,
    srcs: Vec<*mut c_void>,
    sizes: Vec<usize>,
    attrs: Vec<aclrtMemcpyBatchAttr>,
    indexes: Vec<usize>,
    /// Host bytes and device blocks, with what the blocks held before.
    host: Vec<Vec<u8>>,
    device: Vec<(*mut c_void, Vec<u8>)>,
}

impl Batch {
    /// `n` copies of 64 random bytes to device blocks, under one attribute.
    fn to_device(t: &T, n: usize) -> Self {
        let mut host: Vec<_> = (0..n).map(|_| t.random_bytes(64)).collect();
        let device: Vec<_> = (0..n).map(|_| t.filled(64)).collect();
        Self {
            dsts: device.iter().map(|(p, _)| *p).collect(),
            maxs: vec![64; n],
            srcs: host.iter_mut().map(|bytes| dst(bytes)).collect(),
            sizes: vec![64; n],
            attrs: vec![attribute(DEVICE, HOST)],
            indexes: vec![0],
            host,
            device,
        }
    }

    /// Runs the batch; returns the code and the fail index.
    fn run(&mut self) -> (aclError, usize) {
        let mut fail = UNTOUCHED;
        let code = aclrtMemcpyBatch(
            self.dsts.as_mut_ptr(),
            self.maxs.as_mut_ptr(),
            self.srcs.as_mut_ptr(),
            self.sizes.as_mut_ptr(),
            self.sizes.len(),
            self.attrs.as_mut_ptr(),
            self.indexes.as_mut_ptr(),
            self.attrs.len(),
            &raw mut fail,
        );
        (code, fail)
    }

    /// Runs the form without fail index.
    fn run_v2(&mut self) -> aclError {
        aclrtMemcpyBatchV2(
            self.dsts.as_mut_ptr(),
            self.maxs.as_mut_ptr(),
            self.srcs.as_mut_ptr(),
            self.sizes.as_mut_ptr(),
            self.sizes.len(),
            self.attrs.as_mut_ptr(),
            self.indexes.as_mut_ptr(),
            self.attrs.len(),
        )
    }

    /// No block changed.
    fn nothing_moved(&self, t: &T) {
        for (p, before) in &self.device {
            t.holds(*p, before, "block of a refused batch");
        }
    }

    /// Every block holds its source.
    fn all_moved(&self, t: &T) {
        for ((p, _), bytes) in self.device.iter().zip(&self.host) {
            t.holds(*p, bytes, "block of the batch");
        }
    }

    /// Judges a batch that must fail with this index and move nothing.
    fn refused(&mut self, t: &T, index: usize) {
        let (code, fail) = self.run();
        t.ret(code);
        t.eq(fail, index, "failIndex");
        self.nothing_moved(t);
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lines();
    cases.extend(own());
    cases
}

fn lines() -> Vec<Case> {
    vec![
        case(
            "memory.memcpy_batch.all_sizes_zero",
            Setup::device0(),
            |t| {
                let mut sizes = [0, 0];
                let mut fail = UNTOUCHED;
                t.ret(aclrtMemcpyBatch(
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    sizes.as_mut_ptr(),
                    2,
                    null_mut(),
                    null_mut(),
                    0,
                    &raw mut fail,
                ));
                t.eq(fail, NO_ENTRY, "failIndex");
            },
        ),
        case(
            "memory.memcpy_batch.dest_max_too_small",
            Setup::device0(),
            |t| {
                let mut batch = Batch::to_device(t, 1);
                batch.maxs[0] = 32;
                batch.refused(t, UNTOUCHED);
            },
        ),
        case("memory.memcpy_batch.h2d_ok", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 3);
            let (code, fail) = batch.run();
            t.ret(code);
            t.eq(fail, NO_ENTRY, "failIndex");
            batch.all_moved(t);
        }),
        case(
            "memory.memcpy_batch.index_past_end",
            Setup::device0(),
            |t| {
                let mut batch = Batch::to_device(t, 2);
                batch.attrs = vec![attribute(DEVICE, HOST); 2];
                batch.indexes = vec![0, 2];
                batch.refused(t, NO_ENTRY);
            },
        ),
        case(
            "memory.memcpy_batch.indexes_not_increasing",
            Setup::device0(),
            |t| {
                let mut batch = Batch::to_device(t, 3);
                batch.attrs = vec![attribute(DEVICE, HOST); 3];
                batch.indexes = vec![0, 2, 2];
                batch.refused(t, NO_ENTRY);
            },
        ),
        case(
            "memory.memcpy_batch.location_mismatch",
            Setup::device0(),
            |t| {
                let mut batch = Batch::to_device(t, 3);
                let mut host = vec![0x77_u8; 64];
                batch.dsts[1] = dst(&mut host);
                batch.refused(t, 1);
                t.same_bytes(&host, &[0x77; 64], "host memory");
            },
        ),
        case("memory.memcpy_batch.null_dsts", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 1);
            let mut fail = UNTOUCHED;
            t.ret(aclrtMemcpyBatch(
                null_mut(),
                batch.maxs.as_mut_ptr(),
                batch.srcs.as_mut_ptr(),
                batch.sizes.as_mut_ptr(),
                1,
                batch.attrs.as_mut_ptr(),
                batch.indexes.as_mut_ptr(),
                1,
                &raw mut fail,
            ));
            t.eq(fail, UNTOUCHED, "failIndex");
            batch.nothing_moved(t);
        }),
        case(
            "memory.memcpy_batch.num_attrs_zero",
            Setup::device0(),
            |t| {
                let mut batch = Batch::to_device(t, 2);
                batch.attrs.clear();
                batch.attrs.reserve(1);
                batch.refused(t, NO_ENTRY);
            },
        ),
        case("memory.memcpy_batch.num_zero", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 1);
            let mut fail = UNTOUCHED;
            t.ret(aclrtMemcpyBatch(
                batch.dsts.as_mut_ptr(),
                batch.maxs.as_mut_ptr(),
                batch.srcs.as_mut_ptr(),
                batch.sizes.as_mut_ptr(),
                0,
                batch.attrs.as_mut_ptr(),
                batch.indexes.as_mut_ptr(),
                1,
                &raw mut fail,
            ));
            t.eq(fail, UNTOUCHED, "failIndex");
            batch.nothing_moved(t);
        }),
        case("memory.memcpy_batch.same_side", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 2);
            let (other, _) = t.filled(64);
            batch.srcs[0] = other;
            batch.attrs = vec![attribute(DEVICE, DEVICE), attribute(DEVICE, HOST)];
            batch.indexes = vec![0, 1];
            batch.refused(t, 0);
        }),
        case("memory.memcpy_batch.too_many", Setup::device0(), |t| {
            Batch::to_device(t, 4097).refused(t, NO_ENTRY);
        }),
        case(
            "memory.memcpy_batch.unsupported_product",
            Setup::device0().profile("310P"),
            |t| {
                let mut batch = Batch::to_device(t, 2);
                batch.refused(t, UNTOUCHED);
            },
        ),
        case("memory.memcpy_batch_v2.null_sizes", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 1);
            t.ret(aclrtMemcpyBatchV2(
                batch.dsts.as_mut_ptr(),
                batch.maxs.as_mut_ptr(),
                batch.srcs.as_mut_ptr(),
                null_mut(),
                1,
                batch.attrs.as_mut_ptr(),
                batch.indexes.as_mut_ptr(),
                1,
            ));
            batch.nothing_moved(t);
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.batch.largest", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 4096);
            let (code, fail) = batch.run();
            t.ok(code, "4096 copies");
            t.eq(fail, NO_ENTRY, "failIndex");
            batch.all_moved(t);
        }),
        case("x.batch.v2_moves_bytes", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 5);
            t.ok(batch.run_v2(), "aclrtMemcpyBatchV2");
            batch.all_moved(t);
        }),
        case("x.batch.device_to_host", Setup::device0(), |t| {
            let device: Vec<_> = (0..3).map(|_| t.filled(100)).collect();
            let mut out = vec![vec![0_u8; 100]; 3];
            let mut batch = Batch::to_device(t, 3);
            batch.dsts = out.iter_mut().map(|bytes| dst(bytes)).collect();
            batch.srcs = device.iter().map(|(p, _)| *p).collect();
            batch.maxs = vec![100; 3];
            batch.sizes = vec![100; 3];
            batch.attrs = vec![attribute(HOST, DEVICE)];
            let (code, fail) = batch.run();
            t.ok(code, "device to host");
            t.eq(fail, NO_ENTRY, "failIndex");
            for ((_, bytes), got) in device.iter().zip(&out) {
                t.same_bytes(got, bytes, "host bytes");
            }
        }),
        case("x.batch.items_of_size_zero", Setup::device0(), |t| {
            // The synchronous form tolerates them.
            let mut batch = Batch::to_device(t, 3);
            batch.sizes[1] = 0;
            let (code, _) = batch.run();
            t.ok(code, "one empty item");
            t.holds(batch.device[0].0, &batch.host[0], "first block");
            t.holds(
                batch.device[1].0,
                &batch.device[1].1,
                "block of the empty item",
            );
            t.holds(batch.device[2].0, &batch.host[2], "last block");
        }),
        case(
            "x.batch.late_mismatch_moves_nothing",
            Setup::device0(),
            |t| {
                let mut batch = Batch::to_device(t, 64);
                let mut host = vec![0x77_u8; 64];
                batch.dsts[17] = dst(&mut host);
                let (code, fail) = batch.run();
                t.fails(code, ERROR_PARAM, "a bad entry in the middle");
                t.eq(fail, 17, "failIndex");
                batch.nothing_moved(t);
                t.same_bytes(&host, &[0x77; 64], "host memory");
            },
        ),
        case(
            "x.batch.arguments_before_support",
            Setup::device0().profile("310P"),
            |t| {
                let mut batch = Batch::to_device(t, 1);
                let code = aclrtMemcpyBatchV2(
                    null_mut(),
                    batch.maxs.as_mut_ptr(),
                    batch.srcs.as_mut_ptr(),
                    batch.sizes.as_mut_ptr(),
                    1,
                    batch.attrs.as_mut_ptr(),
                    batch.indexes.as_mut_ptr(),
                    1,
                );
                t.fails(code, ERROR_FRONT, "dsts NULL on a product without batches");
                t.fails(batch.run_v2(), ERROR_UNSUPPORTED, "valid arguments");
                batch.nothing_moved(t);
            },
        ),
        case("x.batch.freed_block", Setup::device0(), |t| {
            let mut batch = Batch::to_device(t, 3);
            t.free(batch.device[2].0);
            batch.device.truncate(2);
            let (code, _) = batch.run();
            t.check(code != 0, "a freed destination was accepted");
            t.pending_text("the refusal");
            batch.nothing_moved(t);
        }),
    ]
}
