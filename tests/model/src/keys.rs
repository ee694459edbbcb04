//! Keys of device memory against a model: memories, the addresses that lead to each, and the bytes. A
//! process imports what it exported itself; the rules are those between two, and the sharing tests have two.

use std::ffi::{c_char, c_void};

use cannery_abi as abi;

use crate::api;
use crate::config::Config;
use crate::journal::Journal;
use crate::model::PARAM_INVALID;
use crate::source::Source;

const BYTES: u64 = 2 << 20;
const KEY: usize = 65;
/// Memories at a time.
const MOST: usize = 5;

/// One piece of device memory.
struct Memory {
    /// Its own address; `None`: released.
    own: Option<u64>,
    key: Option<[c_char; KEY]>,
    /// Addresses of the imports, oldest first.
    imports: Vec<u64>,
    bytes: Vec<u8>,
}

struct World {
    source: Source,
    memories: Vec<Memory>,
    /// Free bytes of the device without any of these memories, and what one costs.
    free: usize,
    cost: Option<usize>,
    /// Huge pages, where the device has some.
    policy: abi::aclrtMemMallocPolicy,
    /// How many memories the device has room for, up to one more than there ever are.
    room: usize,
    journal: Journal,
}

/// Plays random calls. Returns how many were made, and how many kinds of answers there were.
pub(crate) fn play(config: &Config, seed: u64, steps: u64) -> (u64, usize) {
    assert_eq!(api::aclrtSetDevice(0), 0);
    let mut world = World {
        source: Source::seeded(seed ^ 0x6b65_7973),
        memories: Vec::new(),
        free: 0,
        cost: None,
        policy: abi::ACL_MEM_MALLOC_HUGE_ONLY,
        room: 0,
        journal: Journal::default(),
    };
    if !config.has("aclrtIpcMemGetExportKey") {
        let mut key = [0; KEY];
        let code =
            api::aclrtIpcMemGetExportKey(4096 as *mut c_void, 4096, key.as_mut_ptr(), KEY, 1);
        assert_eq!(code, 207_000);
        return (1, 1);
    }
    world.free = world.free_now();
    world.room = world.count_room();
    if world.room == 0 {
        world.policy = abi::ACL_MEM_MALLOC_NORMAL_ONLY;
        world.room = world.count_room();
    }
    let steps = steps / 4;
    for _ in 0..steps {
        match world.source.weighted(&[3, 3, 6, 4, 3, 8, 8]) {
            0 => world.make(),
            1 => world.export(),
            2 => world.import(),
            3 => world.close(),
            4 => world.release(),
            5 => world.write(),
            _ => world.read(),
        }
        world.charges();
    }
    (steps, world.journal.kinds())
}

impl World {
    fn free_now(&self) -> usize {
        let (mut free, mut total) = (0, 0);
        let code = api::aclrtGetMemInfo(abi::ACL_HBM_MEM, &raw mut free, &raw mut total);
        assert_eq!(code, 0, "aclrtGetMemInfo");
        free
    }

    fn count_room(&self) -> usize {
        let mut taken = Vec::new();
        let mut out = std::ptr::null_mut();
        while taken.len() <= MOST
            && api::aclrtMalloc(&raw mut out, BYTES as usize, self.policy) == 0
        {
            taken.push(out);
        }
        let room = taken.len();
        assert!(taken.into_iter().all(|one| api::aclrtFree(one) == 0));
        let _ = api::recent_text();
        room
    }

    /// Memory is charged while its own address lives, whoever imported it.
    fn charges(&mut self) {
        let alive = self.memories.iter().filter(|one| one.own.is_some()).count();
        let taken = self.free - self.free_now();
        if let (None, true) = (self.cost, alive > 0) {
            self.cost = Some(taken / alive);
        }
        assert_eq!(
            taken,
            alive * self.cost.unwrap_or(0),
            "bytes taken of the device\n{}",
            self.journal.last()
        );
    }

    fn any(&mut self, fits: impl Fn(&Memory) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.memories.len())
            .filter(|at| fits(&self.memories[*at]))
            .collect();
        let at = self.source.below(fitting.len().max(1) as u64) as usize;
        fitting.get(at).copied()
    }

    fn make(&mut self) {
        if self.memories.len() == MOST {
            return;
        }
        let mut out = std::ptr::null_mut();
        let code = api::aclrtMalloc(&raw mut out, BYTES as usize, self.policy);
        let full = self.memories.len() == self.room;
        self.journal
            .judge("make".to_owned(), code, if full { 207_001 } else { 0 });
        if full {
            return;
        }
        let byte = self.source.below(256) as u8;
        let code = api::aclrtMemset(out, BYTES as usize, i32::from(byte), BYTES as usize);
        self.journal.judge("fill".to_owned(), code, 0);
        self.memories.push(Memory {
            own: Some(out as u64),
            key: None,
            imports: Vec::new(),
            bytes: vec![byte; BYTES as usize],
        });
    }

    fn export(&mut self) {
        let Some(at) = self.any(|one| one.own.is_some() && one.key.is_none()) else {
            return;
        };
        let own = self.memories[at].own.unwrap_or_default();
        let mut key = [0; KEY];
        let code = api::aclrtIpcMemGetExportKey(
            own as *mut c_void,
            BYTES as usize,
            key.as_mut_ptr(),
            KEY,
            1,
        );
        self.journal.judge(format!("export {own:#x}"), code, 0);
        assert!(key.contains(&0) && key[0] != 0, "a name that ends");
        self.memories[at].key = Some(key);
    }

    fn import(&mut self) {
        let Some(at) = self.any(|one| one.key.is_some() && one.imports.len() < 4) else {
            return;
        };
        let Some(key) = self.memories[at].key else {
            return;
        };
        let mut out = std::ptr::null_mut();
        let code = api::aclrtIpcMemImportByKey(&raw mut out, key.as_ptr(), 1);
        self.journal.judge(format!("import {at}"), code, 0);
        let fresh = out as u64;
        let mut known = self
            .memories
            .iter()
            .flat_map(|one| one.own.iter().chain(&one.imports));
        assert!(
            known.all(|address| fresh.abs_diff(*address) >= BYTES),
            "{fresh:#x} overlaps memory that is in use"
        );
        self.memories[at].imports.push(fresh);
    }

    /// The oldest import goes; without one, the name.
    fn close(&mut self) {
        let Some(at) = self.any(|one| one.key.is_some()) else {
            return;
        };
        let Some(key) = self.memories[at].key else {
            return;
        };
        let code = api::aclrtIpcMemClose(key.as_ptr());
        self.journal.judge(format!("close {at}"), code, 0);
        if self.memories[at].imports.is_empty() {
            self.memories[at].key = None;
            let mut out = std::ptr::null_mut();
            let code = api::aclrtIpcMemImportByKey(&raw mut out, key.as_ptr(), 1);
            self.journal
                .judge(format!("import-closed {at}"), code, PARAM_INVALID);
            assert!(out.is_null(), "the output of a refused import");
        } else {
            let gone = self.memories[at].imports.remove(0);
            let code = api::aclrtMemset(gone as *mut c_void, 64, 1, 64);
            self.journal
                .judge(format!("fill-closed {gone:#x}"), code, PARAM_INVALID);
        }
    }

    /// The own address goes when nobody can import any more; who imported keeps the memory, so it is released
    /// only without imports here, as the manual asks for.
    fn release(&mut self) {
        let Some(at) = self.any(|one| one.key.is_none() && one.imports.is_empty()) else {
            return;
        };
        let memory = self.memories.swap_remove(at);
        let own = memory.own.unwrap_or_default();
        let code = api::aclrtFree(own as *mut c_void);
        self.journal.judge(format!("release {own:#x}"), code, 0);
        let code = api::aclrtFree(own as *mut c_void);
        self.journal
            .judge(format!("release-twice {own:#x}"), code, PARAM_INVALID);
    }

    /// One address of a memory, and a piece of it.
    fn piece(&mut self) -> Option<(usize, u64, usize, usize)> {
        let at = self.any(|_| true)?;
        let memory = &self.memories[at];
        let addresses: Vec<u64> = memory.own.iter().chain(&memory.imports).copied().collect();
        let address = self.source.pick(&addresses);
        let from = self.source.below(BYTES);
        let len = self.source.size((BYTES - from).min(64 << 10));
        Some((at, address + from, from as usize, len as usize))
    }

    fn write(&mut self) {
        let Some((at, to, from, len)) = self.piece() else {
            return;
        };
        let fresh: Vec<u8> = (0..len).map(|_| self.source.below(256) as u8).collect();
        let source = fresh.as_ptr().cast();
        let code = api::aclrtMemcpy(
            to as *mut c_void,
            len,
            source,
            len,
            abi::ACL_MEMCPY_HOST_TO_DEVICE,
        );
        self.journal
            .judge(format!("write {to:#x}, {len} bytes"), code, 0);
        self.memories[at].bytes[from..from + len].copy_from_slice(&fresh);
    }

    fn read(&mut self) {
        let Some((at, address, from, len)) = self.piece() else {
            return;
        };
        let mut found = vec![0u8; len];
        let code = api::aclrtMemcpy(
            found.as_mut_ptr().cast(),
            len,
            address as *const c_void,
            len,
            abi::ACL_MEMCPY_DEVICE_TO_HOST,
        );
        self.journal
            .judge(format!("read {address:#x}, {len} bytes"), code, 0);
        assert!(
            found == self.memories[at].bytes[from..from + len],
            "bytes at {address:#x}, which every address of the memory shares"
        );
    }
}
