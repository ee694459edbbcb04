//! Kernels: those of this very program, and the C library as a binary that every machine has.
#![allow(unsafe_code)] // Kernels work on what their arguments point to.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = loading();
    cases.extend(launching());
    cases
}

/// Arguments of [`add`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AddArgs {
    pub(super) at: *mut c_void,
    pub(super) bytes: u64,
    pub(super) addend: u8,
}

/// Adds a number to each byte; each block has its own.
pub(super) extern "C" fn add(args: *const AddArgs, block: u32, blocks: u32, distance: isize) {
    // SAFETY: launches in this folder give such arguments, whose memory is theirs alone until they
    // synchronise.
    let bytes = unsafe {
        let args = &*args;
        let start = args.at.cast::<u8>().wrapping_offset(distance);
        let all = std::slice::from_raw_parts_mut(start, args.bytes as usize);
        all.iter_mut().map(move |byte| (byte, args.addend))
    };
    for (byte, addend) in bytes.skip(block as usize).step_by(blocks as usize) {
        *byte = byte.wrapping_add(addend);
    }
}

/// The address by which the program knows [`add`].
pub(super) fn add_symbol() -> *const c_void {
    add as extern "C" fn(*const AddArgs, u32, u32, isize) as *const c_void
}

impl T {
    /// The handle of [`add`], as a kernel of the program.
    pub(super) fn add_kernel(&self) -> aclrtFuncHandle {
        let symbol = add_symbol();
        let code = cannery_register_kernel(symbol, c"add".as_ptr(), null(), null(), null());
        self.ok(code, "cannery_register_kernel");
        let mut function = null_mut();
        let code = aclrtGetFuncBySymbol(symbol, &mut function);
        self.ok(code, "aclrtGetFuncBySymbol");
        function
    }

    /// Launches [`add`] with arguments on the host.
    pub(super) fn launch_add(
        &self,
        function: aclrtFuncHandle,
        blocks: u32,
        mut args: AddArgs,
        stream: aclrtStream,
    ) -> aclError {
        aclrtLaunchKernelWithHostArgs(
            function,
            blocks,
            stream,
            null_mut(),
            (&raw mut args).cast(),
            size_of::<AddArgs>(),
            null_mut(),
            0,
        )
    }

    /// Path of a shared object that every machine has.
    pub(super) fn c_library_path(&self) -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines()
            .filter_map(|line| line.split_whitespace().nth(5))
            .find(|path| path.contains("libc.so"))
            .unwrap_or_else(|| abort("no C library"))
            .to_owned()
    }

    fn c_library(&self) -> (aclrtBinHandle, CString) {
        let path = self.c_library_path();
        let path = CString::new(path).unwrap_or_default();
        let mut binary = null_mut();
        let code = aclrtBinaryLoadFromFile(path.as_ptr(), null_mut(), &mut binary);
        self.ok(code, "aclrtBinaryLoadFromFile");
        (binary, path)
    }
}

fn loading() -> Vec<Case> {
    vec![
        case(
            "x.kernel.load_charges_and_unload_gives_back",
            Setup::device0(),
            |t| {
                let before = t.pools();
                let (binary, _) = t.c_library();
                let mut at = null_mut();
                let mut size = 0;
                let code = aclrtBinaryGetDevAddress(binary, &mut at, &mut size);
                t.ok(code, "aclrtBinaryGetDevAddress");
                let (huge, normal) = before.taken(&t.pools());
                t.check(
                    huge + normal >= i64::try_from(size).unwrap_or(i64::MAX) && size > MIB,
                    "the binary is charged",
                );
                t.fails(aclrtFree(at), ERROR_PARAM, "aclrtFree of a binary");
                let head = t.download(at, 4);
                t.same_bytes(&head, b"\x7fELF", "head of the image");
                t.ok(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
                t.eq(before.taken(&t.pools()), (0, 0), "charge afterwards");
                t.fails(aclrtBinaryUnLoad(binary), 107_017, "a second unload");
            },
        ),
        case("x.kernel.not_a_binary", Setup::device0(), |t| {
            let mut binary = SENTINEL;
            let code = aclrtBinaryLoadFromFile(c"/no/such.so".as_ptr(), null_mut(), &mut binary);
            t.fails_with(code, 107_009, "param=binPath", "a file that is missing");
            let code =
                aclrtBinaryLoadFromFile(c"/proc/self/maps".as_ptr(), null_mut(), &mut binary);
            t.fails_with(code, ERROR_PARAM, "EE1014", "a text file");
            let code = aclrtBinaryLoadFromFile(null(), null_mut(), &mut binary);
            t.fails_with(code, 100_000, "EH0008 param=binPath", "NULL");
            for len in [4, 64, 4096] {
                let mut bytes = t.random_bytes(len);
                let code = aclrtBinaryLoadFromData(src(&bytes), len, null(), &mut binary);
                t.fails_with(code, ERROR_PARAM, "EE1014", "random bytes");
                bytes[..4].copy_from_slice(b"\x7fELF");
                let code = aclrtBinaryLoadFromData(src(&bytes), len, null(), &mut binary);
                t.fails_with(code, ERROR_PARAM, "EE1014", "random bytes behind a head");
            }
            let device = t.malloc(4096, ACL_MEM_MALLOC_NORMAL_ONLY);
            let code = aclrtBinaryLoadFromData(device, 4096, null(), &mut binary);
            t.fails(code, ERROR_PARAM, "device memory");
            t.eq(binary, SENTINEL, "the handle");
        }),
        case("x.kernel.options", Setup::device0(), |t| {
            let (first, path) = t.c_library();
            let mut function = null_mut();
            for (kind, value, code) in [
                (1, 0, 0),
                (1, 2, ERROR_PARAM),
                (2, ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE, 0),
                (2, 7, ERROR_PARAM),
                (3, 2, 0),
                (3, 3, ERROR_PARAM),
                (4, 0, ERROR_PARAM),
            ] {
                let mut option = aclrtBinaryLoadOption {
                    r#type: kind,
                    value: aclrtBinaryLoadOptionValue { magic: value },
                };
                let mut options = aclrtBinaryLoadOptions {
                    options: &raw mut option,
                    numOpt: 1,
                };
                let mut binary = null_mut();
                let got = aclrtBinaryLoadFromFile(path.as_ptr(), &mut options, &mut binary);
                let what = format!("option {kind} with {value:#x}");
                if code != 0 {
                    t.fails(got, code, &what);
                    continue;
                }
                t.ok(got, &what);
                let (name, other) = (c"malloc".as_ptr(), c"my_kernel".as_ptr());
                let cpu = aclrtRegisterCpuFunc(binary, name, other, &mut function);
                if kind == 3 {
                    t.ok(cpu, "aclrtRegisterCpuFunc");
                } else {
                    t.fails(cpu, ERROR_PARAM, "aclrtRegisterCpuFunc of another kind");
                    let code = aclrtBinaryGetFunction(binary, name, &mut function);
                    t.ok(code, "aclrtBinaryGetFunction");
                }
                let mut value = -1;
                let attribute = ACL_FUNC_ATTR_KERNEL_TYPE;
                let code = aclrtGetFunctionAttribute(function, attribute, &mut value);
                t.ok(code, "aclrtGetFunctionAttribute");
                let kinds = [
                    ACL_KERNEL_TYPE_AICORE,
                    ACL_KERNEL_TYPE_VECTOR,
                    ACL_KERNEL_TYPE_AICPU,
                ];
                t.eq(value, i64::from(kinds[kind as usize - 1]), "kernel type");
                t.ok(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
            }
            t.ok(aclrtBinaryUnLoad(first), "aclrtBinaryUnLoad");
        }),
        case("x.kernel.facts_of_a_function", Setup::device0(), |t| {
            let (binary, _) = t.c_library();
            let mut function = null_mut();
            let code = aclrtBinaryGetFunction(binary, c"no such".as_ptr(), &mut function);
            t.fails(code, 507_027, "an unknown function");
            let code = aclrtBinaryGetFunction(binary, c"environ".as_ptr(), &mut function);
            t.fails(code, 507_027, "a variable");
            t.eq(function, null_mut(), "the handle");
            let code = aclrtBinaryGetFunction(binary, c"malloc".as_ptr(), &mut function);
            t.ok(code, "aclrtBinaryGetFunction");
            let mut again = null_mut();
            let code = aclrtBinaryGetFunction(binary, c"malloc".as_ptr(), &mut again);
            t.ok(code, "aclrtBinaryGetFunction");
            t.eq(again, function, "the same function");
            let (mut cube, mut vector) = (0, UNTOUCHED);
            let code = aclrtGetFunctionSize(function, &mut cube, &mut vector);
            t.ok(code, "aclrtGetFunctionSize");
            t.check(cube > 0 && vector == 0, "sizes of the code");
            let mut count = UNTOUCHED;
            let code = aclrtFunctionGetParamCount(function, &mut count);
            t.fails(code, ERROR_PARAM, "parameters that nothing describes");
            let code = aclrtBinaryGetFunctionByEntry(binary, 1, &mut again);
            t.fails(code, 207_000, "aclrtBinaryGetFunctionByEntry");
            let mut size = UNTOUCHED;
            let code = aclrtFunctionGetAvailDynUbufPerBlock(function, 1, &mut size);
            t.fails(code, 100_000, "flags");
            let code = aclrtFunctionGetAvailDynUbufPerBlock(function, 0, &mut size);
            t.ok(code, "aclrtFunctionGetAvailDynUbufPerBlock");
            t.eq(size, 0, "dynamic buffer");
            t.ok(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
            let code = aclrtGetFunctionSize(function, &mut cube, &mut vector);
            t.fails(code, 107_017, "a function of an unloaded binary");
        }),
        case(
            "x.kernel.unload_elsewhere",
            Setup::device0().devices(2),
            |t| {
                let (binary, _) = t.c_library();
                let home = t.context();
                let other = t.create_context(1);
                t.fails(aclrtBinaryUnLoad(binary), ERROR_PARAM, "in another context");
                t.ok(aclrtDestroyContext(other), "aclrtDestroyContext");
                t.ok(aclrtSetCurrentContext(home), "aclrtSetCurrentContext");
                t.ok(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
            },
        ),
        case("x.kernel.reset_takes_the_image", Setup::device0(), |t| {
            let (binary, _) = t.c_library();
            let mut function = null_mut();
            let code = aclrtBinaryGetFunction(binary, c"malloc".as_ptr(), &mut function);
            t.ok(code, "aclrtBinaryGetFunction");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let before = t.pools();
            let (mut at, mut size) = (SENTINEL, 0);
            let code = aclrtBinaryGetDevAddress(binary, &mut at, &mut size);
            t.ok(code, "aclrtBinaryGetDevAddress");
            t.eq(at, null_mut(), "address of the image");
            let code = aclrtLaunchKernelWithHostArgs(
                function,
                1,
                null_mut(),
                null_mut(),
                null_mut(),
                0,
                null_mut(),
                0,
            );
            t.fails(code, ERROR_PARAM, "a launch after the reset");
            // Blocks at the same place are not disturbed by the end of the binary.
            let block = t.malloc(4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
            t.usable(block, 4 * MIB);
            t.free(block);
            t.eq(before.taken(&t.pools()), (0, 0), "charge afterwards");
        }),
        case("x.kernel.sync_address", Setup::device0(), |t| {
            let (mut first, mut second) = (null_mut(), null_mut());
            t.ok(
                aclrtGetHardwareSyncAddr(&mut first),
                "aclrtGetHardwareSyncAddr",
            );
            t.ok(
                aclrtGetHardwareSyncAddr(&mut second),
                "aclrtGetHardwareSyncAddr",
            );
            t.eq(first, second, "the address");
            t.holds(first, &[0; 4096], "the page");
        }),
        case("x.kernel.products", Setup::device0().profile("310P"), |t| {
            let mut p = SENTINEL;
            let code = aclrtGetHardwareSyncAddr(&mut p);
            t.fails(code, 207_000, "aclrtGetHardwareSyncAddr");
            t.fails(
                aclrtGetHardwareSyncAddr(null_mut()),
                100_000,
                "NULL comes first",
            );
            t.eq(p, SENTINEL, "the address");
        }),
    ]
}

fn launching() -> Vec<Case> {
    vec![
        case("x.kernel.launch_moves_bytes", Setup::device0(), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let (p, mut bytes) = t.filled(MIB + 77);
            for (blocks, addend) in [(1, 1), (3, 200), (64, 9)] {
                let args = AddArgs {
                    at: p,
                    bytes: bytes.len() as u64,
                    addend,
                };
                t.ok(t.launch_add(function, blocks, args, s), "launch");
                bytes.iter_mut().for_each(|b| *b = b.wrapping_add(addend));
            }
            t.sync(s);
            t.holds(p, &bytes, "the bytes");
        }),
        case("x.kernel.device_args", Setup::device0(), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let (p, mut bytes) = t.filled(MIB);
            let args = AddArgs {
                at: p,
                bytes: MIB as u64,
                addend: 3,
            };
            let size = size_of::<AddArgs>();
            // SAFETY: as many bytes as the arguments have.
            let raw = unsafe { std::slice::from_raw_parts((&raw const args).cast::<u8>(), size) };
            let on_device = t.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.upload(on_device, raw);
            let code = aclrtLaunchKernel(function, 5, on_device, size, s);
            t.ok(code, "aclrtLaunchKernel");
            t.sync(s);
            bytes.iter_mut().for_each(|b| *b = b.wrapping_add(3));
            t.holds(p, &bytes, "the bytes");
            let host = t.malloc_host(64);
            for (data, size, want, what) in [
                (null_mut(), 8, 100_000, "NULL"),
                (on_device, 0, 100_000, "0 bytes"),
                (host, 8, ERROR_PARAM, "host memory"),
                (
                    off(on_device, size),
                    MIB,
                    ERROR_PARAM,
                    "a range beyond its block",
                ),
                (addr(0x1234), 8, ERROR_PARAM, "an invented address"),
            ] {
                let code = aclrtLaunchKernel(function, 1, data, size, s);
                t.fails(code, want, what);
            }
            t.check(t.is_idle(s), "something was queued");
        }),
        case("x.kernel.in_stream_order", Setup::device0(), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let (p, bytes) = t.filled(MIB);
            let gate = t.hold(s);
            let args = AddArgs {
                at: p,
                bytes: MIB as u64,
                addend: 1,
            };
            t.ok(t.launch_add(function, 2, args, s), "launch");
            std::thread::sleep(HOLD);
            t.holds(p, &bytes, "the bytes before the kernel's turn");
            gate.open();
            t.sync(s);
            let want: Vec<u8> = bytes.iter().map(|b| b.wrapping_add(1)).collect();
            t.holds(p, &want, "the bytes afterwards");
        }),
        case("x.kernel.arguments_are_given_back", Setup::device0(), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let (p, _) = t.filled(64);
            let args = AddArgs {
                at: p,
                bytes: 64,
                addend: 1,
            };
            t.ok(t.launch_add(function, 1, args, s), "launch");
            t.sync(s);
            let before = t.pools();
            for _ in 0..1000 {
                t.ok(t.launch_add(function, 1, args, s), "launch");
            }
            t.sync(s);
            t.eq(before.taken(&t.pools()), (0, 0), "charge afterwards");
        }),
        case(
            "x.kernel.dropped_launches_give_back",
            Setup::device0(),
            |t| {
                let function = t.add_kernel();
                let s = t.stream();
                let (p, bytes) = t.filled(64);
                let args = AddArgs {
                    at: p,
                    bytes: 64,
                    addend: 1,
                };
                t.ok(t.launch_add(function, 1, args, t.stream()), "launch");
                t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
                let now = t.download(p, 64);
                let before = t.pools();
                let gate = t.hold(s);
                gate.reached(t);
                for _ in 0..100 {
                    t.ok(t.launch_add(function, 1, args, s), "launch");
                }
                t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
                gate.open();
                t.sync(s);
                t.holds(p, &now, "the bytes");
                t.check(now != bytes, "the first launch ran");
                t.eq(before.taken(&t.pools()), (0, 0), "charge afterwards");
            },
        ),
        case("x.kernel.bad_launches", Setup::device0().devices(2), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let (p, bytes) = t.filled(64);
            let args = AddArgs {
                at: p,
                bytes: 64,
                addend: 1,
            };
            t.fails(t.launch_add(null_mut(), 1, args, s), 100_000, "no function");
            t.fails_with(
                t.launch_add(function, 0, args, s),
                100_000,
                "param=numBlocks",
                "no blocks",
            );
            t.fails(t.launch_add(s, 1, args, s), 107_017, "a stream as function");
            t.fails(
                t.launch_add(addr(77), 1, args, s),
                107_017,
                "an invented function",
            );
            let dead = t.dead_stream();
            t.fails(
                t.launch_add(function, 1, args, dead),
                107_017,
                "a dead stream",
            );
            let foreign = t.foreign_stream();
            t.fails(
                t.launch_add(function, 1, args, foreign),
                107_003,
                "a foreign stream",
            );
            let code = aclrtLaunchKernelWithArgsArray(function, 1, s, null_mut(), null_mut());
            t.fails(
                code,
                ERROR_PARAM,
                "an array for a kernel that nothing describes",
            );
            let code = aclrtLaunchKernelWithConfig(function, 1, s, null_mut(), addr(9), null_mut());
            t.fails(code, 107_017, "an invented list");
            t.check(t.is_idle(s), "something was queued");
            t.holds(p, &bytes, "the bytes");
            let symbol = addr(0x40_0000);
            let mut out = SENTINEL;
            t.fails(
                aclrtGetFuncBySymbol(symbol, &mut out),
                107_043,
                "an unknown symbol",
            );
            t.eq(out, SENTINEL, "the handle");
        }),
        case("x.kernel.lists", Setup::device0(), |t| {
            let function = t.add_kernel();
            let mut list = null_mut();
            t.ok(
                aclrtKernelArgsInit(function, &mut list),
                "aclrtKernelArgsInit",
            );
            let mut value = 5_u64;
            let mut parameter = null_mut();
            for _ in 0..128 {
                let at = (&raw mut value).cast();
                let code = aclrtKernelArgsAppend(list, at, 8, &mut parameter);
                t.ok(code, "aclrtKernelArgsAppend");
            }
            let at = (&raw mut value).cast();
            let code = aclrtKernelArgsAppend(list, at, 8, &mut parameter);
            t.fails(code, ERROR_PARAM, "the 129th parameter");
            let code = aclrtKernelArgsAppend(list, null_mut(), 8, &mut parameter);
            t.fails(code, 100_000, "NULL");
            let s = t.stream();
            let code = aclrtLaunchKernelWithConfig(function, 1, s, null_mut(), list, null_mut());
            t.fails(code, ERROR_PARAM, "a list that is not complete");
            t.fails(
                aclrtKernelArgsFinalize(addr(8)),
                107_017,
                "an invented list",
            );
            t.ok(aclrtKernelArgsFinalize(list), "aclrtKernelArgsFinalize");
            let at = (&raw mut value).cast();
            let code = aclrtKernelArgsAppend(list, at, 8, &mut parameter);
            t.fails(code, ERROR_PARAM, "a parameter behind the end");
        }),
    ]
}
