//! Kernels: argument lists, descriptions, SIMT launches, and what is asked of functions.

use super::kernel::AddArgs;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.kernel.list_in_own_memory", Setup::device0(), |t| {
            let function = t.add_kernel();
            let (mut handle_size, mut size) = (0, 0);
            let code = aclrtKernelArgsGetHandleMemSize(function, &mut handle_size);
            t.ok(code, "aclrtKernelArgsGetHandleMemSize");
            let code = aclrtKernelArgsGetMemSize(function, 24, &mut size);
            t.ok(code, "aclrtKernelArgsGetMemSize");
            t.check(handle_size > 0 && size >= 24, "sizes");
            let (handle, memory) = (CMemory::new(handle_size), CMemory::new(size));
            let list = handle.p;
            let code = aclrtKernelArgsInitByUserMem(function, list, memory.p, size);
            t.ok(code, "aclrtKernelArgsInitByUserMem");
            let s = t.stream();
            let (p, mut bytes) = t.filled(MIB);
            let (mut at, mut count, mut addend) = (p, 1_u64, 7_u64);
            let mut parameters = [null_mut(); 3];
            for (i, value) in [
                (&raw mut at).cast::<c_void>(),
                (&raw mut count).cast(),
                (&raw mut addend).cast(),
            ]
            .into_iter()
            .enumerate()
            {
                let code = aclrtKernelArgsAppend(list, value, 8, &mut parameters[i]);
                t.ok(code, "aclrtKernelArgsAppend");
            }
            // The count is corrected before the launch.
            count = MIB as u64;
            let value = (&raw mut count).cast();
            let code = aclrtKernelArgsParaUpdate(list, parameters[1], value, 4);
            t.fails(code, ERROR_PARAM, "another size");
            let code = aclrtKernelArgsParaUpdate(list, parameters[1], value, 8);
            t.ok(code, "aclrtKernelArgsParaUpdate");
            t.ok(aclrtKernelArgsFinalize(list), "aclrtKernelArgsFinalize");
            t.same_bytes(&host_read(memory.p, 8), &p.addr().to_le_bytes(), "a value");
            let code = aclrtLaunchKernelWithConfig(function, 3, s, null_mut(), list, null_mut());
            t.ok(code, "aclrtLaunchKernelWithConfig");
            let code = aclrtLaunchKernelWithConfig(function, 3, s, null_mut(), list, addr(1));
            t.fails(code, 100_000, "a reserved argument");
            t.sync(s);
            bytes.iter_mut().for_each(|b| *b = b.wrapping_add(7));
            t.holds(p, &bytes, "the bytes");
            let mut buffer = SENTINEL;
            let code = aclrtKernelArgsGetPlaceHolderBuffer(list, parameters[0], 8, &mut buffer);
            t.fails(code, ERROR_PARAM, "a buffer of a value");
            t.eq(buffer, SENTINEL, "the buffer");
            handle.check_still_owned(t);
            memory.check_still_owned(t);
        }),
        case("x.kernel.placeholders", Setup::device0(), |t| {
            // The bytes that the kernel changes travel with the launch: a kernel that crashed, or
            // changed other bytes, would show.
            let function = t.add_kernel();
            let s = t.stream();
            let mut list = null_mut();
            t.ok(
                aclrtKernelArgsInit(function, &mut list),
                "aclrtKernelArgsInit",
            );
            let (mut place, mut parameter, mut buffer) = (null_mut(), null_mut(), null_mut());
            let code = aclrtKernelArgsAppendPlaceHolder(list, &mut place);
            t.ok(code, "aclrtKernelArgsAppendPlaceHolder");
            let (mut count, mut addend) = (2000_u64, 9_u64);
            let code = aclrtKernelArgsAppend(list, (&raw mut count).cast(), 8, &mut parameter);
            t.ok(code, "aclrtKernelArgsAppend");
            let code = aclrtKernelArgsAppend(list, (&raw mut addend).cast(), 8, &mut parameter);
            t.ok(code, "aclrtKernelArgsAppend");
            t.ok(aclrtKernelArgsFinalize(list), "aclrtKernelArgsFinalize");
            let code = aclrtLaunchKernelWithConfig(function, 1, s, null_mut(), list, null_mut());
            t.fails(code, ERROR_PARAM, "a placeholder without a buffer");
            let code = aclrtKernelArgsGetPlaceHolderBuffer(list, place, 2000, &mut buffer);
            t.ok(code, "aclrtKernelArgsGetPlaceHolderBuffer");
            let bytes = t.random_bytes(2000);
            host_write(buffer, &bytes);
            let code = aclrtLaunchKernelWithConfig(function, 1, s, null_mut(), list, null_mut());
            t.ok(code, "aclrtLaunchKernelWithConfig");
            t.sync(s);
            t.same_bytes(&host_read(buffer, 2000), &bytes, "the buffer on the host");
        }),
        case("x.kernel.described_binary", Setup::device0(), |t| {
            let bytes = std::fs::read(t.c_library_path()).unwrap_or_default();
            let binary = aclrtCreateBinary(src(&bytes), bytes.len());
            t.check(!binary.is_null(), "no description");
            t.check(
                aclrtCreateBinary(null(), 8).is_null(),
                "a description of NULL",
            );
            let _ = t.pending_text("aclrtCreateBinary of NULL");
            let before = t.pools();
            let mut handle = null_mut();
            t.ok(aclrtBinaryLoad(binary, &mut handle), "aclrtBinaryLoad");
            t.ok(aclrtDestroyBinary(binary), "aclrtDestroyBinary");
            t.fails(aclrtDestroyBinary(binary), 107_017, "a second time");
            let mut other = SENTINEL;
            t.fails(
                aclrtBinaryLoad(binary, &mut other),
                107_017,
                "a dead description",
            );
            drop(bytes);
            let (mut p, mut size) = (null_mut(), 0);
            let code = aclrtBinaryGetGlobal(handle, c"environ".as_ptr(), &mut p, &mut size);
            t.ok(code, "aclrtBinaryGetGlobal");
            t.eq(size, 8, "bytes of a pointer");
            t.usable(p, 8);
            let name = c"no such variable".as_ptr();
            let code = aclrtBinaryGetGlobal(handle, name, &mut p, &mut size);
            t.fails(code, 107_042, "an unknown variable");
            let code = aclrtBinarySetExceptionCallback(handle, None, null_mut());
            t.fails(code, 100_000, "no callback");
            let mut function = null_mut();
            let code = aclrtBinaryGetFunction(handle, c"malloc".as_ptr(), &mut function);
            t.ok(code, "aclrtBinaryGetFunction");
            let mut back = null_mut();
            t.ok(
                aclrtFunctionGetBinary(function, &mut back),
                "aclrtFunctionGetBinary",
            );
            t.eq(back, handle, "the binary");
            let (mut image, mut cube, mut vector) = (null_mut(), null_mut(), SENTINEL);
            let code = aclrtBinaryGetDevAddress(handle, &mut image, &mut size);
            t.ok(code, "aclrtBinaryGetDevAddress");
            let code = aclrtGetFunctionAddr(function, &mut cube, &mut vector);
            t.ok(code, "aclrtGetFunctionAddr");
            t.check(
                cube > image && cube < off(image, size),
                "address of the code",
            );
            t.eq(vector, null_mut(), "vector code");
            let mut name = vec![0_u8; 7];
            let code = aclrtGetFunctionName(function, 6, name.as_mut_ptr().cast());
            t.fails(code, ERROR_PARAM, "a name without room");
            let code = aclrtGetFunctionName(function, 7, name.as_mut_ptr().cast());
            t.ok(code, "aclrtGetFunctionName");
            t.same_bytes(&name, b"malloc\0", "the name");
            let mut func = SENTINEL;
            let info = addr(0x1000);
            let code = aclrtGetFuncHandleFromExceptionInfo(info, &mut func);
            t.fails(code, 100_000, "an invented exception");
            let mut len = 0;
            let code = aclrtGetArgsFromExceptionInfo(info, &mut func, &mut len);
            t.fails(code, 100_000, "an invented exception");
            t.eq(func, SENTINEL, "the answer");
            t.ok(aclrtBinaryUnLoad(handle), "aclrtBinaryUnLoad");
            t.eq(before.taken(&t.pools()), (0, 0), "charge afterwards");
        }),
        case("x.kernel.parameters", Setup::device0(), |t| {
            // What the program says of a kernel's parameters: version, kind, sizes.
            let symbol = super::kernel::add_symbol();
            let mut info = vec![0_u32; 2 + 129];
            info[..5].copy_from_slice(&[1, 0, 8, 8, 1]);
            let register = |info: &[u32]| {
                let info = info.as_ptr().cast();
                cannery_register_kernel(symbol, c"add".as_ptr(), info, null(), null())
            };
            t.ok(register(&info), "cannery_register_kernel");
            let mut function = null_mut();
            t.ok(
                aclrtGetFuncBySymbol(symbol, &mut function),
                "aclrtGetFuncBySymbol",
            );
            let mut count = 0;
            let code = aclrtFunctionGetParamCount(function, &mut count);
            t.ok(code, "aclrtFunctionGetParamCount");
            t.eq(count, 3, "parameters");
            for (index, want) in [(0, (0, 8)), (1, (8, 8)), (2, (16, 1))] {
                let (mut offset, mut size) = (UNTOUCHED, UNTOUCHED);
                let code = aclrtFunctionGetParamInfo(function, index, &mut offset, &mut size);
                t.ok(code, "aclrtFunctionGetParamInfo");
                t.eq((offset, size), want, "place of a parameter");
            }
            let (mut offset, mut size) = (UNTOUCHED, UNTOUCHED);
            let code = aclrtFunctionGetParamInfo(function, 3, &mut offset, &mut size);
            t.fails(code, ERROR_PARAM, "a parameter too many");
            t.eq((offset, size), (UNTOUCHED, UNTOUCHED), "the answers");
            // Launched by its address, with an array.
            let s = t.stream();
            let (p, mut bytes) = t.filled(MIB + 1);
            let (mut at, mut count, mut addend) = (p, bytes.len() as u64, 3_u8);
            let mut array = [
                (&raw mut at).cast::<c_void>(),
                (&raw mut count).cast(),
                (&raw mut addend).cast(),
            ];
            for func in [symbol.cast_mut(), function] {
                let array = array.as_mut_ptr();
                let code = aclrtLaunchKernelWithArgsArray(func, 5, s, null_mut(), array);
                t.ok(code, "aclrtLaunchKernelWithArgsArray");
                bytes.iter_mut().for_each(|b| *b = b.wrapping_add(3));
            }
            array[1] = null_mut();
            let array = array.as_mut_ptr();
            let code = aclrtLaunchKernelWithArgsArray(function, 5, s, null_mut(), array);
            t.fails(code, 100_000, "an argument at NULL");
            t.sync(s);
            t.holds(p, &bytes, "the bytes");
            for (at, word) in [(0, 2), (1, 2), (130, 8)] {
                let mut wrong = vec![8_u32; 2 + 129];
                wrong[..2].copy_from_slice(&[1, 0]);
                wrong[130] = 0;
                wrong[at] = word;
                t.fails(register(&wrong), 100_000, "a wrong description");
            }
            cannery_unregister(symbol);
            let code = aclrtFunctionGetParamCount(function, &mut offset);
            t.fails(code, 107_017, "a kernel that is gone");
        }),
        case("x.kernel.simt", Setup::device0().profile("950"), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let (p, bytes) = t.filled(64);
            let mut args = AddArgs {
                at: p,
                bytes: 64,
                addend: 1,
            };
            let one = dim3 { x: 1, y: 1, z: 1 };
            let none = dim3 { x: 1, y: 0, z: 1 };
            for (grid, block, want) in [
                (none, one, 100_000),
                (one, none, 100_000),
                (one, one, ERROR_PARAM),
            ] {
                let code = aclrtLaunchSIMTKernelWithHostArgs(
                    function,
                    grid,
                    block,
                    0,
                    s,
                    null_mut(),
                    (&raw mut args).cast(),
                    size_of::<AddArgs>(),
                    null_mut(),
                    0,
                );
                t.fails(code, want, "aclrtLaunchSIMTKernelWithHostArgs");
                let code = aclrtLaunchSIMTKernelWithArgsArray(
                    function,
                    grid,
                    block,
                    0,
                    s,
                    null_mut(),
                    null_mut(),
                );
                t.fails(code, want, "aclrtLaunchSIMTKernelWithArgsArray");
            }
            t.check(t.is_idle(s), "something was queued");
            t.holds(p, &bytes, "the bytes");
        }),
        case("x.kernel.launch_attributes", Setup::device0(), |t| {
            // The offset shifts the block index: block 1 of 2, alone.
            let function = t.add_kernel();
            let s = t.stream();
            let (p, mut bytes) = t.filled(MIB);
            let args = AddArgs {
                at: p,
                bytes: MIB as u64,
                addend: 1,
            };
            let size = size_of::<AddArgs>();
            let on_device = t.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY);
            let (at, count, addend) = (p.addr() as u64, args.bytes, u64::from(args.addend));
            let words = [at, count, addend];
            t.upload(on_device, &words.map(u64::to_le_bytes).concat());
            let mut attribute = aclrtLaunchKernelAttr {
                id: ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET,
                value: aclrtLaunchKernelAttrValue { blockDimOffset: 5 },
            };
            let mut config = aclrtLaunchKernelCfg {
                attrs: &raw mut attribute,
                numAttrs: 1,
            };
            let code = aclrtLaunchKernelV2(function, 1, on_device, size, &mut config, s);
            t.ok(code, "aclrtLaunchKernelV2");
            t.sync(s);
            bytes
                .iter_mut()
                .skip(5)
                .for_each(|b| *b = b.wrapping_add(1));
            t.holds(p, &bytes, "the bytes");
            for (id, word) in [(0, 0), (10, 0), (1, 2), (3, 2), (5, 2), (6, 9), (9, 2)] {
                attribute.id = id;
                attribute.value = aclrtLaunchKernelAttrValue { dynUBufSize: word };
                config.attrs = &raw mut attribute;
                let code = aclrtLaunchKernelV2(function, 1, on_device, size, &mut config, s);
                t.fails(code, ERROR_PARAM, &format!("attribute {id} with {word}"));
            }
            config.attrs = null_mut();
            let code = aclrtLaunchKernelV2(function, 1, on_device, size, &mut config, s);
            t.fails(code, 100_000, "attributes at NULL");
        }),
    ]
}
