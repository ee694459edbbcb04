//! Steps that ask and change nothing.

use cannery_abi::{aclrtMemLocation, aclrtMemUsageInfo, aclrtPtrAttributes};

use super::{UNTOUCHED, World};
use crate::api;
use crate::model::{
    INVALID_DEVICE, INVALID_MEMORY_TYPE, INVALID_PARAM, NO_CONTEXT, NOT_SUPPORTED, PARAM_INVALID,
    Pages,
};

const HOST: i32 = 0;
const DEVICE: i32 = 1;
const UNREGISTERED: i32 = 2;

impl World {
    pub(super) fn ask(&mut self, thread: usize) {
        match self.source.below(6) {
            0 => self.ask_info(thread),
            1 => self.ask_usage(thread),
            2 => self.ask_what(thread),
            3 => self.ask_range(thread),
            4 => self.ask_type(thread),
            _ => self.maintain(thread),
        }
    }

    /// An address of any kind: in blocks, of the program, of nobody.
    fn any_address(&mut self) -> u64 {
        match self.source.below(8) {
            0..4 => match self.some_live() {
                Some(start) => {
                    let size = self.model.blocks[&start].size;
                    let inside = self.source.below(size);
                    self.source
                        .pick(&[start, start + inside, start + size - 1, start + size])
                }
                None => self.arena.base(),
            },
            4 => self.arena_spot().address,
            5 if self.source.once_in(8) => 0,
            _ => self.stray(),
        }
    }

    fn ask_info(&mut self, thread: usize) {
        let attribute = match self.source.below(12) {
            0 => self.source.pick(&[-1, 18, 99, i32::MIN, i32::MAX]),
            _ => self.source.below(18) as i32,
        };
        let missing = self.source.below(40);
        let right = match self.model.current(thread) {
            _ if missing < 2 => Err(INVALID_PARAM),
            _ if !(0..18).contains(&attribute) => Err(INVALID_MEMORY_TYPE),
            None => Err(NO_CONTEXT),
            Some(device) => self.model.info(device, attribute),
        };
        self.note(format!(
            "thread {thread}: aclrtGetMemInfo({attribute}) -> {right:?}"
        ));
        let untouched = UNTOUCHED as usize;
        let (mut free, mut total) = (untouched, untouched);
        let null = std::ptr::null_mut();
        let code = api::aclrtGetMemInfo(
            attribute,
            if missing == 0 { null } else { &raw mut free },
            if missing == 1 { null } else { &raw mut total },
        );
        self.judge("aclrtGetMemInfo", code, &[right.err().unwrap_or(0)]);
        let expected = right.unwrap_or((UNTOUCHED, UNTOUCHED));
        let got = (free as u64, total as u64);
        self.insist(got == expected, || {
            format!("free and total are {got:?}, right is {expected:?}")
        });
    }

    fn ask_usage(&mut self, thread: usize) {
        let devices = self.model.devices.len() as i32;
        let device = match self.source.below(12) {
            0 => self.source.pick(&[-1, devices, 4096]),
            _ => self.source.below(devices as u64) as i32,
        };
        let room = self.source.pick(&[32, 32, 64, 1, 2, 0]);
        let missing = self.source.below(40);
        let right = if missing < 2 {
            INVALID_PARAM
        } else if room == 0 {
            PARAM_INVALID
        } else if !self.model.config.has("aclrtGetMemUsageInfo") {
            NOT_SUPPORTED
        } else if !(0..devices).contains(&device) {
            INVALID_DEVICE
        } else {
            0
        };
        self.note(format!(
            "thread {thread}: aclrtGetMemUsageInfo({device}, room for {room}) -> {right}"
        ));
        let empty = aclrtMemUsageInfo {
            name: [0; 32],
            curMemSize: UNTOUCHED,
            memPeakSize: 0,
            reserved: [0; 8],
        };
        let mut rows = vec![empty; 64];
        let mut count = usize::MAX;
        let code = api::aclrtGetMemUsageInfo(
            device,
            if missing == 0 {
                std::ptr::null_mut()
            } else {
                rows.as_mut_ptr()
            },
            room,
            if missing == 1 {
                std::ptr::null_mut()
            } else {
                &raw mut count
            },
        );
        self.judge("aclrtGetMemUsageInfo", code, &[right]);
        if code == 0 {
            self.compare_usage(device as usize, room, &rows, count);
        }
    }

    fn compare_usage(&self, device: usize, room: usize, rows: &[aclrtMemUsageInfo], count: usize) {
        let usage = self.model.usage(device);
        let expected = usage.len().min(room);
        self.insist(count == expected, || {
            format!("{count} rows, right are {expected}: {usage:?}")
        });
        let mut before = u64::MAX;
        for row in &rows[..count] {
            let name: String = row
                .name
                .iter()
                .take_while(|byte| **byte != 0)
                .map(|byte| *byte as u8 as char)
                .collect();
            self.insist(row.curMemSize <= before, || "rows out of order".to_owned());
            self.insist(usage.get(&name) == Some(&row.curMemSize), || {
                format!("{name} has {} bytes, right is {usage:?}", row.curMemSize)
            });
            self.insist(row.memPeakSize >= row.curMemSize, || {
                format!("{name} has a peak of {} bytes", row.memPeakSize)
            });
            before = row.curMemSize;
        }
        self.insist(rows[count].curMemSize == UNTOUCHED, || {
            "a row too many was written".to_owned()
        });
    }

    fn ask_what(&mut self, thread: usize) {
        let address = self.any_address();
        let no_place = self.source.once_in(100);
        let found = self
            .model
            .find(address)
            .map(|(_, block)| match block.device {
                Some(device) => {
                    let page = match block.pages {
                        Pages::Normal => 4096,
                        Pages::Huge => 2 << 20,
                        Pages::Giant => 1 << 30,
                    };
                    (DEVICE, device as u32, Some(page))
                }
                None => (HOST, 0, None),
            });
        let (kind, id, page) = found.unwrap_or((UNREGISTERED, 0, None));
        let right = if address == 0 || no_place {
            INVALID_PARAM
        } else {
            0
        };
        self.note(format!(
            "thread {thread}: aclrtPointerGetAttributes({address:#x}) -> {right}, {kind} {id}"
        ));
        let mut attributes = aclrtPtrAttributes {
            location: aclrtMemLocation { id: 77, r#type: 77 },
            pageSize: 77,
            rsv: [77; 4],
        };
        let place = if no_place {
            std::ptr::null_mut()
        } else {
            &raw mut attributes
        };
        let code = api::aclrtPointerGetAttributes(api::pointer(address), place);
        self.judge("aclrtPointerGetAttributes", code, &[right]);
        let got = attributes.location;
        if right != 0 {
            let same = got.r#type == 77 && got.id == 77 && attributes.pageSize == 77;
            self.insist(same, || format!("a failed call wrote {attributes:?}"));
            return;
        }
        self.insist(got.r#type == kind, || {
            format!("{address:#x} is of type {}, right is {kind}", got.r#type)
        });
        if kind == DEVICE {
            self.insist(got.id == id, || {
                format!("{address:#x} is on device {}, right is {id}", got.id)
            });
        }
        if let Some(page) = page {
            self.insist(attributes.pageSize == page, || {
                format!("pages of {}, right is {page}", attributes.pageSize)
            });
        }
    }

    fn ask_range(&mut self, thread: usize) {
        let address = self.any_address();
        let missing = self.source.below(20);
        let found = self
            .model
            .find(address)
            .map(|(start, block)| (start, block.size));
        let right = match found {
            _ if address == 0 => INVALID_PARAM,
            _ if missing == 0 => PARAM_INVALID,
            Some(_) => 0,
            None => PARAM_INVALID,
        };
        self.note(format!(
            "thread {thread}: aclrtMemGetAddressRange({address:#x}) -> {right}, {found:x?}"
        ));
        let (mut base, mut size) = (UNTOUCHED, UNTOUCHED as usize);
        let base_place = match missing {
            0 | 1 => std::ptr::null_mut(),
            _ => (&raw mut base).cast(),
        };
        let size_place = match missing {
            0 | 2 => std::ptr::null_mut(),
            _ => &raw mut size,
        };
        let code = api::aclrtMemGetAddressRange(api::pointer(address), base_place, size_place);
        self.judge("aclrtMemGetAddressRange", code, &[right]);
        let (start, bytes) = match found {
            Some(found) if right == 0 => found,
            _ => (UNTOUCHED, UNTOUCHED),
        };
        let start = if missing == 1 { UNTOUCHED } else { start };
        let bytes = if missing == 2 { UNTOUCHED } else { bytes };
        self.insist((base, size as u64) == (start, bytes), || {
            format!("answered {base:#x} and {size}, right is {start:#x} and {bytes}")
        });
    }

    fn ask_type(&mut self, thread: usize) {
        const DEV: u32 = 2;
        const DVPP: u32 = 8;
        let count = self.source.below(5) as usize;
        let addresses: Vec<u64> = (0..count).map(|_| self.any_address()).collect();
        let mask = match self.source.below(10) {
            0 => self.source.pick(&[0, 1, 4, 0x20, u32::MAX]),
            _ => self.source.pick(&[DEV, DVPP, DEV | DVPP, 0x10, DEV | 0x10]),
        };
        let reserve = u32::from(self.source.once_in(40));
        let missing = self.source.below(40);
        let right = if missing < 2 || reserve != 0 {
            INVALID_PARAM
        } else if count == 0 || mask == 0 || mask & !0x1a != 0 {
            PARAM_INVALID
        } else {
            0
        };
        let fits = |address: &u64| match self.model.find(*address) {
            Some((_, block)) if block.device.is_some() => {
                let media = block.call.is_media() && !self.model.config.media_is_ordinary();
                mask & if media { DVPP } else { DEV } != 0
            }
            _ => false,
        };
        let all = addresses.iter().all(fits);
        self.note(format!(
            "thread {thread}: aclrtCheckMemType({addresses:x?}, {mask:#x}) -> {right}, {all}"
        ));
        let mut list: Vec<_> = addresses.iter().map(|a| api::pointer(*a)).collect();
        let mut result = 77;
        let code = api::aclrtCheckMemType(
            if missing == 0 {
                std::ptr::null_mut()
            } else {
                list.as_mut_ptr()
            },
            count as u32,
            mask,
            if missing == 1 {
                std::ptr::null_mut()
            } else {
                &raw mut result
            },
            reserve,
        );
        self.judge("aclrtCheckMemType", code, &[right]);
        let expected = match right {
            0 => u32::from(all),
            PARAM_INVALID => 0,
            _ => 77,
        };
        self.insist(result == expected, || {
            format!("the result is {result}, right is {expected}")
        });
    }

    fn maintain(&mut self, thread: usize) {
        let (address, size) = match self.source.below(6) {
            0 => (self.any_address(), 1),
            1 => {
                let size = self.source.pick(&[0, 1, 64, 4096, u64::MAX, u64::MAX - 63]);
                (self.any_address(), size)
            }
            _ => {
                let device = !self.source.once_in(6);
                let Some(spot) = self.block_spot(device) else {
                    return;
                };
                let over = if device && self.source.once_in(8) {
                    self.source.pick(&[1, 64, 0u64.wrapping_sub(spot.room) - 1])
                } else {
                    0
                };
                let size = if over == 0 {
                    self.source.size(spot.room)
                } else {
                    spot.room + over
                };
                (spot.address, size)
            }
        };
        let host = self.model.find(address).is_none() && self.model.end(address, 1).is_ok();
        if host && size > 1 {
            return;
        }
        let right = self.model.maintain(thread, address, size);
        let flush = self.source.once_in(2);
        let function = if flush {
            "aclrtMemFlush"
        } else {
            "aclrtMemInvalidate"
        };
        self.note(format!(
            "thread {thread}: {function}({address:#x}, {size:#x}) -> {right}"
        ));
        let pointer = api::pointer(address);
        let code = if flush {
            api::aclrtMemFlush(pointer, size as usize)
        } else {
            api::aclrtMemInvalidate(pointer, size as usize)
        };
        self.judge(function, code, &[right]);
    }
}
