//! Channels of tensors.

use std::time::{Duration, Instant};

use super::support::*;

const EMPTY: i64 = 207_013;
const FULL: i64 = 207_014;
const STOPPED: i64 = 507_901;
const ARGUMENT: i64 = 100_000;
const UNSUPPORTED: i64 = 207_000;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = transfer();
    cases.extend(objects());
    cases.extend(refusals());
    cases
}

/// A name that no other process uses.
fn name_of(text: &str) -> CString {
    CString::new(format!("{text} of {}", std::process::id())).expect("no end inside")
}

impl T {
    /// A channel of this name.
    fn channel(&self, name: &str, capacity: usize) -> *mut acltdtChannelHandle {
        let channel = acltdtCreateChannelWithCapacity(0, name_of(name).as_ptr(), capacity);
        if channel.is_null() {
            abort(&format!("no channel: {:?}", recent_text()));
        }
        channel
    }

    /// An item over these bytes, which must outlive its use.
    fn item(&self, bytes: &[u8], dims: &[i64]) -> *mut acltdtDataItem {
        let item = acltdtCreateDataItem(
            ACL_TENSOR_DATA_TENSOR,
            dims.as_ptr(),
            dims.len(),
            ACL_UINT8,
            src(bytes).cast_mut(),
            bytes.len(),
        );
        self.check(!item.is_null(), "acltdtCreateDataItem");
        item
    }

    /// A dataset with these items.
    fn dataset(&self, items: &[*mut acltdtDataItem]) -> *mut acltdtDataset {
        let dataset = acltdtCreateDataset();
        self.check(!dataset.is_null(), "acltdtCreateDataset");
        for item in items {
            self.ok(acltdtAddDataItem(dataset, *item), "acltdtAddDataItem");
        }
        dataset
    }

    /// The bytes of the n-th item.
    fn item_bytes(&self, dataset: *const acltdtDataset, index: usize) -> Vec<u8> {
        let item = acltdtGetDataItem(dataset, index);
        self.check(!item.is_null(), "acltdtGetDataItem");
        host_read(
            acltdtGetDataAddrFromItem(item),
            acltdtGetDataSizeFromItem(item),
        )
    }
}

fn transfer() -> Vec<Case> {
    vec![
        case("x.channel.tensors_arrive", Setup::init(), |t| {
            let channel = t.channel("tensors", 4);
            let (mut a, b) = (t.random_bytes(2 * MIB), t.random_bytes(12));
            let kept = a.clone();
            let end = acltdtCreateDataItem(
                ACL_TENSOR_DATA_END_OF_SEQUENCE,
                null(),
                0,
                ACL_FLOAT,
                null_mut(),
                0,
            );
            let sent = t.dataset(&[t.item(&a, &[2, 1024, 1024]), t.item(&b, &[12]), end]);
            t.eq(acltdtGetDatasetSize(sent), 3, "items");
            t.ok(acltdtSendTensor(channel, sent, -1), "acltdtSendTensor");
            // The bytes were taken: what the program does with its own does not matter.
            a.fill(0);
            let mut count = 0;
            t.ok(
                acltdtQueryChannelSize(channel, &raw mut count),
                "acltdtQueryChannelSize",
            );
            t.eq(count, 1, "messages");
            let got = acltdtCreateDataset();
            t.ok(acltdtReceiveTensor(channel, got, -1), "acltdtReceiveTensor");
            t.eq(acltdtGetDatasetSize(got), 3, "items");
            t.same_bytes(&t.item_bytes(got, 0), &kept, "first tensor");
            t.same_bytes(&t.item_bytes(got, 1), &b, "second tensor");
            let item = acltdtGetDataItem(got, 0);
            t.eq(acltdtGetDimNumFromItem(item), 3, "dimensions");
            let mut dims = [0i64; 4];
            let code = acltdtGetDimsFromItem(item, dims.as_mut_ptr(), 4);
            t.ok(code, "acltdtGetDimsFromItem");
            t.eq(dims, [2, 1024, 1024, 0], "shape");
            let code = acltdtGetDimsFromItem(item, dims.as_mut_ptr(), 2);
            t.fails(code, ARGUMENT, "room for two dimensions");
            t.eq(acltdtGetDataTypeFromItem(item), ACL_UINT8, "data type");
            t.eq(
                acltdtGetTensorTypeFromItem(item),
                ACL_TENSOR_DATA_TENSOR,
                "kind",
            );
            let last = acltdtGetDataItem(got, 2);
            let kind = acltdtGetTensorTypeFromItem(last);
            t.eq(kind, ACL_TENSOR_DATA_END_OF_SEQUENCE, "kind of the last");
            t.eq(
                acltdtGetDataTypeFromItem(last),
                ACL_FLOAT,
                "data type of the last",
            );
            let name = string(acltdtGetDatasetName(got));
            t.eq(
                name,
                Some(format!("tensors of {}", std::process::id())),
                "name",
            );
            t.check(
                acltdtGetDataItem(got, 3).is_null(),
                "an item beyond the last",
            );
            t.check(
                recent_text().is_some(),
                "no text for an item beyond the last",
            );
            // Received items go with their dataset.
            t.fails(acltdtDestroyDataItem(item), ARGUMENT, "a received item");
            let code = acltdtReceiveTensor(channel, got, 1);
            t.fails(code, ARGUMENT, "a dataset that has items");
            t.ok(acltdtDestroyDataset(got), "acltdtDestroyDataset");
            t.eq(
                acltdtGetDataSizeFromItem(item),
                0,
                "size of an item that went",
            );
            t.check(recent_text().is_some(), "no text for an item that went");
            t.ok(acltdtDestroyDataset(sent), "acltdtDestroyDataset");
            // The program's own do not.
            t.ok(acltdtDestroyDataItem(end), "acltdtDestroyDataItem");
            t.fails(acltdtDestroyDataItem(end), ARGUMENT, "a second time");
            t.ok(acltdtStopChannel(channel), "acltdtStopChannel");
            t.ok(acltdtDestroyChannel(channel), "acltdtDestroyChannel");
            t.fails(acltdtDestroyChannel(channel), ARGUMENT, "a second time");
        }),
        case("x.channel.two_handles_one_channel", Setup::init(), |t| {
            let (a, b) = (t.channel("shared", 2), t.channel("shared", 2));
            let other = t.channel("another", 2);
            let bytes = t.random_bytes(MIB);
            let sent = t.dataset(&[t.item(&bytes, &[1024, 1024])]);
            t.ok(acltdtSendTensor(a, sent, 0), "acltdtSendTensor");
            let got = acltdtCreateDataset();
            t.fails(acltdtReceiveTensor(other, got, 0), EMPTY, "another channel");
            t.ok(acltdtReceiveTensor(b, got, 0), "acltdtReceiveTensor");
            t.same_bytes(&t.item_bytes(got, 0), &bytes, "tensor");
            t.fails(
                acltdtReceiveTensor(a, acltdtCreateDataset(), 0),
                EMPTY,
                "taken already",
            );
            t.ok(acltdtDestroyChannel(a), "acltdtDestroyChannel");
            // It lasts while somebody has it.
            t.ok(acltdtSendTensor(b, sent, 0), "acltdtSendTensor");
            let again = t.channel("shared", 2);
            let mut count = 0;
            t.ok(
                acltdtQueryChannelSize(again, &raw mut count),
                "acltdtQueryChannelSize",
            );
            t.eq(count, 1, "messages");
            t.ok(acltdtDestroyChannel(again), "acltdtDestroyChannel");
            t.ok(acltdtDestroyChannel(b), "acltdtDestroyChannel");
            let fresh = t.channel("shared", 3);
            t.ok(
                acltdtQueryChannelSize(fresh, &raw mut count),
                "acltdtQueryChannelSize",
            );
            t.eq(count, 0, "messages of the next channel of the name");
            t.ok(acltdtDestroyChannel(fresh), "acltdtDestroyChannel");
            t.ok(acltdtDestroyChannel(other), "acltdtDestroyChannel");
        }),
        case("x.channel.full_empty_clean", Setup::init(), |t| {
            let channel = t.channel("full", 2);
            let bytes = t.random_bytes(4096);
            let sent = t.dataset(&[t.item(&bytes, &[4096])]);
            let got = acltdtCreateDataset();
            t.fails(
                acltdtReceiveTensor(channel, got, 0),
                EMPTY,
                "an empty channel",
            );
            t.ok(acltdtSendTensor(channel, sent, 0), "acltdtSendTensor");
            t.ok(acltdtSendTensor(channel, sent, 0), "acltdtSendTensor");
            let began = Instant::now();
            t.fails(acltdtSendTensor(channel, sent, 40), FULL, "a full channel");
            t.check(
                began.elapsed() >= Duration::from_millis(40),
                "it did not wait",
            );
            t.ok(acltdtCleanChannel(channel), "acltdtCleanChannel");
            let mut count = 77;
            t.ok(
                acltdtQueryChannelSize(channel, &raw mut count),
                "acltdtQueryChannelSize",
            );
            t.eq(count, 0, "messages");
            t.fails(
                acltdtReceiveTensor(channel, got, 0),
                EMPTY,
                "a channel that was cleaned",
            );
            t.ok(acltdtSendTensor(channel, sent, 0), "acltdtSendTensor");
            t.ok(acltdtDestroyChannel(channel), "acltdtDestroyChannel");
        }),
        case("x.channel.stop_wakes", Setup::init(), |t| {
            let channel = t.channel("stop", 2) as usize;
            std::thread::scope(|scope| {
                let waiter = scope.spawn(move || {
                    let channel = channel as *const acltdtChannelHandle;
                    i64::from(acltdtReceiveTensor(channel, acltdtCreateDataset(), -1))
                });
                std::thread::sleep(Duration::from_millis(60));
                t.check(!waiter.is_finished(), "it did not wait");
                let channel = channel as *mut acltdtChannelHandle;
                t.ok(acltdtStopChannel(channel), "acltdtStopChannel");
                t.eq(
                    waiter.join().expect("no panic"),
                    STOPPED,
                    "code of the waiter",
                );
                let code = acltdtSendTensor(channel, acltdtCreateDataset(), 0);
                t.fails(code, STOPPED, "a channel that was stopped");
                t.ok(acltdtDestroyChannel(channel), "acltdtDestroyChannel");
            });
        }),
    ]
}

fn objects() -> Vec<Case> {
    vec![case("x.channel.items", Setup::init(), |t| {
        let bytes = t.random_bytes(64);
        let data = src(&bytes).cast_mut();
        let dims = [8i64, 8];
        let make = |kind, dims: *const i64, number, data, size| {
            acltdtCreateDataItem(kind, dims, number, ACL_INT8, data, size)
        };
        let null_item = |item: *mut acltdtDataItem, what: &str| {
            t.check(item.is_null(), &format!("an item: {what}"));
            t.check(recent_text().is_some(), &format!("no text: {what}"));
        };
        null_item(make(5, dims.as_ptr(), 2, data, 64), "kind 5");
        null_item(make(-1, dims.as_ptr(), 2, data, 64), "kind -1");
        null_item(make(0, null(), 2, data, 64), "no shape");
        null_item(make(0, dims.as_ptr(), 2, null_mut(), 64), "no data");
        let negative = [8i64, -1];
        null_item(
            make(0, negative.as_ptr(), 2, data, 64),
            "a negative dimension",
        );
        let many = [1i64; 129];
        null_item(make(0, many.as_ptr(), 129, data, 64), "129 dimensions");
        let item = make(0, dims.as_ptr(), 2, data, 64);
        t.eq(acltdtGetDataAddrFromItem(item), data, "address");
        t.eq(acltdtGetDataSizeFromItem(item), 64, "size");
        let (mut number, mut index) = (UNTOUCHED, UNTOUCHED);
        let code = acltdtGetSliceInfoFromItem(item, &raw mut number, &raw mut index);
        t.ok(code, "acltdtGetSliceInfoFromItem");
        t.eq((number, index), (1, 0), "slices");
        for wild in [null_mut(), addr(64), acltdtCreateDataset().cast()] {
            let wild = wild.cast::<acltdtDataItem>();
            t.eq(acltdtGetTensorTypeFromItem(wild), -1, "kind of a wild item");
            t.check(recent_text().is_some(), "no text for a wild item");
            t.eq(
                acltdtGetDataTypeFromItem(wild),
                -1,
                "data type of a wild item",
            );
            t.check(
                acltdtGetDataAddrFromItem(wild).is_null(),
                "address of a wild item",
            );
            t.eq(
                acltdtGetDimNumFromItem(wild),
                0,
                "dimensions of a wild item",
            );
            t.fails(acltdtDestroyDataItem(wild), ARGUMENT, "a wild item");
        }
        let dataset = acltdtCreateDataset();
        t.eq(
            string(acltdtGetDatasetName(dataset)),
            Some(String::new()),
            "name",
        );
        t.fails(acltdtAddDataItem(dataset, null_mut()), ARGUMENT, "no item");
        t.fails(acltdtAddDataItem(null_mut(), item), ARGUMENT, "no dataset");
        t.eq(acltdtGetDatasetSize(dataset), 0, "items");
        t.ok(acltdtDestroyDataset(dataset), "acltdtDestroyDataset");
        t.fails(acltdtDestroyDataset(dataset), ARGUMENT, "a second time");
    })]
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.channel.arguments", Setup::init(), |t| {
            let name = name_of("arguments");
            let open = |device, name, capacity, code: &str, what: &str| {
                let channel = acltdtCreateChannelWithCapacity(device, name, capacity);
                t.check(channel.is_null(), &format!("a channel: {what}"));
                let text = t.pending_text(what);
                t.check(text.contains(code), &format!("{what}: {text}"));
            };
            open(0, null(), 2, "100000", "no name");
            open(0, c"".as_ptr(), 2, "100000", "an empty name");
            open(0, name.as_ptr(), 1, "100000", "capacity 1");
            open(0, name.as_ptr(), 8193, "100000", "capacity 8193");
            open(1, name.as_ptr(), 2, "107001", "device 1 of 1");
            open(u32::MAX, name.as_ptr(), 2, "107001", "a wild device");
            let channel = t.channel("arguments", 8192);
            open(0, name.as_ptr(), 2, "107000", "another capacity");
            let dataset = acltdtCreateDataset();
            let code = acltdtSendTensor(channel, dataset, -2);
            t.fails_with(code, ARGUMENT, "timeout -2", "timeout -2");
            t.fails(acltdtSendTensor(channel, null(), 0), ARGUMENT, "no dataset");
            t.fails(acltdtSendTensor(null(), dataset, 0), ARGUMENT, "no channel");
            t.fails(
                acltdtReceiveTensor(addr(8).cast(), dataset, 0),
                ARGUMENT,
                "a wild channel",
            );
            t.fails(
                acltdtQueryChannelSize(channel, null_mut()),
                ARGUMENT,
                "no place",
            );
            t.ok(acltdtDestroyChannel(channel), "acltdtDestroyChannel");
        }),
        case(
            "x.channel.without_capacity",
            Setup::init().profile("910"),
            |t| {
                let channel = acltdtCreateChannel(0, name_of("plain").as_ptr());
                t.check(!channel.is_null(), "acltdtCreateChannel");
                let bytes = t.random_bytes(MIB);
                let sent = t.dataset(&[t.item(&bytes, &[1024, 1024])]);
                t.ok(acltdtSendTensor(channel, sent, 0), "acltdtSendTensor");
                let mut count = 77;
                let code = acltdtQueryChannelSize(channel, &raw mut count);
                t.fails(code, UNSUPPORTED, "acltdtQueryChannelSize");
                t.eq(count, 77, "output");
                t.fails(
                    acltdtCleanChannel(channel),
                    UNSUPPORTED,
                    "acltdtCleanChannel",
                );
                let got = acltdtCreateDataset();
                t.ok(acltdtReceiveTensor(channel, got, 0), "acltdtReceiveTensor");
                t.same_bytes(&t.item_bytes(got, 0), &bytes, "tensor");
                t.ok(acltdtDestroyChannel(channel), "acltdtDestroyChannel");
            },
        ),
        case(
            "x.channel.product_without",
            Setup::init().profile("310P"),
            |t| {
                let channel = acltdtCreateChannelWithCapacity(0, c"any".as_ptr(), 2);
                t.check(channel.is_null(), "a channel");
                let text = t.pending_text("acltdtCreateChannelWithCapacity");
                t.check(
                    text.contains("310P") && text.contains("910B") && text.contains("207000"),
                    &format!("text: {text}"),
                );
                t.check(acltdtCreateDataset().is_null(), "a dataset");
            },
        ),
    ]
}
