//! What models tell of kernels that they hold, and kernels with other parameters; notes that the program adds to
//! captured tasks.

#![allow(unsafe_code)] // looks at parameters that models show

use super::graph::*;
use super::kernel::AddArgs;
use super::support::*;

impl T {
    fn set_parameters(&self, task: aclmdlRITask, mut params: aclmdlRITaskParams) {
        let code = aclmdlRITaskSetParams(task, &raw mut params);
        self.ok(code, "aclmdlRITaskSetParams");
    }
}

/// The parameters of a kernel.
fn launch(params: &aclmdlRITaskParams) -> aclmdlRIKernelTaskParams {
    // SAFETY: every member of the union is numbers and pointers.
    unsafe { params.detail.kernelTaskParams }
}

/// Arguments that a model shows.
fn shown(params: &aclmdlRITaskParams) -> AddArgs {
    // SAFETY: as many bytes as `AddArgs` has, says the caller.
    unsafe { launch(params).args.cast::<AddArgs>().read_unaligned() }
}

fn plus(bytes: &[u8], number: u8) -> Vec<u8> {
    bytes.iter().map(|byte| byte.wrapping_add(number)).collect()
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    arguments(&mut list);
    list.extend(refusals());
    list.push(case("x.graph.notes", Setup::device0(), notes));
    list
}

fn arguments(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.kernel.host_arguments", |t| {
        let s = t.stream();
        let function = t.add_kernel();
        let (p, bytes) = t.filled(LEN);
        let (q, other) = t.filled(LEN);
        let args = AddArgs {
            at: p,
            bytes: LEN as u64,
            addend: 3,
        };
        let model = t.model(s, || t.ok(t.launch_add(function, 5, args, s), "a kernel"));
        let task = t.tasks(s)[0];
        let params = t.params(task);
        t.eq(params.r#type, ACL_MODEL_RI_TASK_KERNEL, "kind");
        t.eq(
            (params.opInfoPtr, params.opInfoSize),
            (null_mut(), 0),
            "notes",
        );
        let kernel = launch(&params);
        t.eq(kernel.funcHandle, function, "function");
        t.eq(kernel.numBlocks, 5, "blocks");
        t.eq(kernel.isHostArgs, 1, "where the arguments are");
        t.eq(
            kernel.argsSize,
            size_of::<AddArgs>(),
            "bytes of the arguments",
        );
        t.eq(kernel.cfg, null_mut(), "attributes");
        let seen = shown(&params);
        t.eq(
            (seen.at, seen.bytes, seen.addend),
            (p, LEN as u64, 3),
            "arguments",
        );
        // What is shown is a copy: writing to it changes nothing before it is set.
        let place = kernel.args.cast::<u8>().wrapping_add(16);
        // SAFETY: the addend among the arguments shown above.
        unsafe { place.write(99) };
        t.replay(model, s);
        t.sync(s);
        t.holds(p, &plus(&bytes, 3), "as captured");
        let mut changed = AddArgs {
            at: q,
            bytes: LEN as u64,
            addend: 7,
        };
        let mut params = t.params(task);
        params.detail.kernelTaskParams = aclmdlRIKernelTaskParams {
            args: (&raw mut changed).cast(),
            numBlocks: 2,
            ..kernel
        };
        t.set_parameters(task, params);
        // The call took them.
        changed.addend = 55;
        t.replay(model, s);
        t.sync(s);
        t.holds(p, &plus(&bytes, 6), "before aclmdlRIUpdate");
        t.ok(aclmdlRIUpdate(model), "aclmdlRIUpdate");
        t.replay(model, s);
        t.replay(model, s);
        t.sync(s);
        t.holds(q, &plus(&other, 14), "with other parameters");
        t.holds(p, &plus(&bytes, 6), "the first block");
        let seen = t.params(task);
        t.eq(shown(&seen).addend, 7, "an argument now");
        t.eq(launch(&seen).numBlocks, 2, "blocks now");
        t.eq(changed.addend, 55, "what the program has");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.kernel.device_arguments", |t| {
        let s = t.stream();
        let function = t.add_kernel();
        let (p, bytes) = t.filled(LEN);
        let room = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
        let size = size_of::<AddArgs>();
        let put = |addend: u8| {
            let mut raw = [0_u8; size_of::<AddArgs>()];
            raw[..8].copy_from_slice(&(p as u64).to_le_bytes());
            raw[8..16].copy_from_slice(&(LEN as u64).to_le_bytes());
            raw[16] = addend;
            t.upload(room, &raw);
        };
        put(4);
        let model = t.model(s, || {
            let code = aclrtLaunchKernel(function, 3, room, size, s);
            t.ok(code, "aclrtLaunchKernel");
        });
        let task = t.tasks(s)[0];
        let mut params = t.params(task);
        let kernel = launch(&params);
        t.eq((kernel.args, kernel.isHostArgs), (room, 0), "the arguments");
        t.eq(
            (kernel.argsSize, kernel.numBlocks),
            (size, 3),
            "their size, and blocks",
        );
        t.replay(model, s);
        t.sync(s);
        put(10);
        t.replay(model, s);
        t.sync(s);
        t.holds(
            p,
            &plus(&bytes, 14),
            "arguments are read when the model runs",
        );
        // From the host instead, and back.
        let mut own = AddArgs {
            at: p,
            bytes: LEN as u64,
            addend: 100,
        };
        params.detail.kernelTaskParams = aclmdlRIKernelTaskParams {
            args: (&raw mut own).cast(),
            isHostArgs: 1,
            ..kernel
        };
        for (params, sum) in [
            (params, 114),
            (
                aclmdlRITaskParams {
                    detail: aclmdlRITaskParams_detail {
                        kernelTaskParams: kernel,
                    },
                    ..params
                },
                124,
            ),
        ] {
            t.set_parameters(task, params);
            t.ok(aclmdlRIUpdate(model), "aclmdlRIUpdate");
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &plus(&bytes, sum), "arguments from elsewhere");
        }
        t.destroy_model(model);
    });
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.graph.kernel.attributes", Setup::device0(), attributes),
        case("x.graph.kernel.refusals", Setup::device0(), |t| {
            let s = t.stream();
            let function = t.add_kernel();
            let (p, bytes) = t.filled(LEN);
            let args = AddArgs {
                at: p,
                bytes: LEN as u64,
                addend: 3,
            };
            let model = t.model(s, || {
                t.ok(t.launch_add(function, 1, args, s), "a kernel");
                t.ok(aclrtValueWrite(p, 1, 0, s), "aclrtValueWrite");
            });
            let tasks = t.tasks(s);
            let right = t.params(tasks[0]);
            let set = |task, change: &dyn Fn(&mut aclmdlRIKernelTaskParams)| {
                let mut params = right;
                // SAFETY: every member of the union is numbers and pointers.
                change(unsafe { &mut params.detail.kernelTaskParams });
                aclmdlRITaskSetParams(task, &raw mut params)
            };
            let one = tasks[0];
            t.fails(
                set(one, &|k| k.funcHandle = null_mut()),
                ERROR_FRONT,
                "no function",
            );
            t.fails(
                set(one, &|k| k.funcHandle = s),
                DEAD,
                "a stream as a function",
            );
            t.fails(set(one, &|k| k.numBlocks = 0), ERROR_FRONT, "no blocks");
            t.fails(
                set(one, &|k| k.args = null_mut()),
                ERROR_FRONT,
                "no arguments",
            );
            let host = |k: &mut aclmdlRIKernelTaskParams| k.isHostArgs = 0;
            t.fails(set(one, &host), ERROR_PARAM, "host memory as device memory");
            t.fails(set(tasks[1], &|_| {}), KIND, "parameters of another kind");
            t.ok(aclmdlRIUpdate(model), "aclmdlRIUpdate");
            t.replay(model, s);
            t.sync(s);
            let mut want = plus(&bytes, 3);
            want[..8].copy_from_slice(&1_u64.to_le_bytes());
            t.holds(p, &want, "nothing was changed");
            t.destroy_model(model);
        }),
    ]
}

fn attributes(t: &T) {
    let s = t.stream();
    let function = t.add_kernel();
    let (p, _) = t.filled(LEN);
    let mut args = AddArgs {
        at: p,
        bytes: LEN as u64,
        addend: 3,
    };
    let attribute = |id, word: u32| aclrtLaunchKernelAttr {
        id,
        value: aclrtLaunchKernelAttrValue {
            rsv: [word, 0, 0, 0],
        },
    };
    let mut attributes = [
        attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 1),
        attribute(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, 11),
        attribute(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, 12),
        attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, 1),
    ];
    let mut cfg = aclrtLaunchKernelCfg {
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len(),
    };
    let model = t.model(s, || {
        let code = aclrtLaunchKernelWithHostArgs(
            function,
            1,
            s,
            &raw mut cfg,
            (&raw mut args).cast(),
            size_of::<AddArgs>(),
            null_mut(),
            0,
        );
        t.ok(code, "aclrtLaunchKernelWithHostArgs");
        t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, s), "aclrtMemsetAsync");
    });
    let tasks = t.tasks(s);
    let ask = |task, id| {
        let mut value = aclrtLaunchKernelAttrValue { rsv: [0xa5a5; 4] };
        let code = aclmdlRIKernelTaskGetAttribute(task, id, &raw mut value);
        // SAFETY: every member of the union is numbers.
        (code, unsafe { value.rsv })
    };
    let want = [
        (ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 1),
        (ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, 12),
        (ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE, 0),
        (ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP, 0),
        (ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, 0),
        (ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING, 0),
    ];
    for (id, word) in want {
        let what = format!("attribute {id}");
        t.eq(ask(tasks[0], id), (0, [word, 0, 0, 0]), &what);
    }
    for id in 3..=5 {
        let (code, value) = ask(tasks[0], id);
        t.fails(code, ERROR_UNSUPPORTED, "one that cannot be asked for");
        t.eq(value, [0xa5a5; 4], "output");
    }
    for id in [0, 10, -1] {
        t.fails(ask(tasks[0], id).0, ERROR_PARAM, "one that does not exist");
    }
    t.fails(ask(tasks[1], 1).0, KIND, "a fill");
    t.fails(ask(s, 1).0, DEAD, "a stream as a task");
    t.fails(ask(null_mut(), 1).0, ERROR_FRONT, "no task");
    let code = aclmdlRIKernelTaskGetAttribute(tasks[0], 1, null_mut());
    t.fails(code, ERROR_FRONT, "no place");
    // The attributes that a task shows.
    let params = t.params(tasks[0]);
    let cfg = launch(&params).cfg;
    // SAFETY: shown by the model, which lives.
    let (second, count) = unsafe { ((*(*cfg).attrs.add(1)).value.timeout, (*cfg).numAttrs) };
    t.eq((second, count), (11, 4), "attributes");
    t.destroy_model(model);
}

fn notes(t: &T) {
    let s = t.stream();
    let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let fill = |value| t.ok(aclrtMemsetAsync(p, LEN, value, LEN, s), "aclrtMemsetAsync");
    let info = t.random_bytes(65_536);
    let operator = |size: usize| aclrtCacheLastTaskOpInfo(src(&info), size);
    let name = "x".repeat(100);
    let json = CString::new(format!("{{\"name\": \"{name}\"}}")).unwrap_or_default();
    let more = |text: &CString, size| aclrtCacheLastTaskExtendInfo(text.as_ptr(), size);
    let size = json.as_bytes().len();
    fill(9);
    t.fails(operator(8), NOT_CAPTURED, "outside of a capture");
    t.fails(more(&json, size), NOT_CAPTURED, "outside of a capture");
    t.begin(s, GLOBAL);
    t.fails(operator(8), NOT_CAPTURED, "before the first task");
    fill(0);
    t.fails_with(
        operator(8),
        ERROR_PARAM,
        "aclrtSetStreamAttribute",
        "a stream that takes none",
    );
    let mut value = aclrtStreamAttrValue { failureMode: 1 };
    let code = aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_CACHE_OP_INFO, &raw mut value);
    t.ok(code, "aclrtSetStreamAttribute");
    fill(1);
    t.fails(aclrtCacheLastTaskOpInfo(null(), 8), ERROR_FRONT, "no notes");
    t.fails(operator(0), ERROR_FRONT, "none");
    t.fails(operator(65_537), ERROR_FRONT, "too many");
    t.fails(
        aclrtCacheLastTaskExtendInfo(null(), 8),
        ERROR_FRONT,
        "no text",
    );
    t.fails(more(&json, 0), ERROR_FRONT, "none");
    for bytes in [&b"{\"a\": \"\xff\"}"[..], &b"{\"a\": \"\xc3"[..]] {
        let wrong = CString::new(bytes).unwrap_or_default();
        t.fails_with(more(&wrong, bytes.len()), ERROR_FRONT, "UTF-8", "no UTF-8");
    }
    // What is kept of it ends within a character.
    let wide = CString::new(format!("\"{}\"", "\u{e9}".repeat(5_000))).unwrap_or_default();
    t.ok(more(&wide, 10_002), "a long text of wide characters");
    t.ok(operator(65_536), "aclrtCacheLastTaskOpInfo");
    t.ok(more(&json, size), "aclrtCacheLastTaskExtendInfo");
    fill(2);
    let long = CString::new(format!("\"{}\"", "y".repeat(10_000))).unwrap_or_default();
    t.ok(more(&long, 10_002), "a long text");
    let note = info.as_ptr() as usize;
    let elsewhere = on_thread(|| aclrtCacheLastTaskOpInfo(addr(note), 1));
    t.eq(
        i64::from(elsewhere),
        NOT_CAPTURED,
        "of a thread that captured nothing",
    );
    let model = t.end(s);
    t.fails(operator(8), NOT_CAPTURED, "after the capture");
    let tasks = t.tasks(s);
    let sizes = tasks.iter().map(|task| t.params(*task).opInfoSize);
    t.eq(
        sizes.collect::<Vec<_>>(),
        vec![0, 65_536, 0],
        "bytes of notes",
    );
    let params = t.params(tasks[1]);
    t.same_bytes(&host_read(params.opInfoPtr, 65_536), &info, "notes");
    let events = t.trace(model, 1);
    let of = |task: usize| t.traced(&events, model, task);
    t.eq(
        of(1)["operator info bytes"].as_u64(),
        Some(65_536),
        "bytes of notes",
    );
    t.eq(
        of(1)["extend info"]["name"].as_str(),
        Some(name.as_str()),
        "the text",
    );
    t.eq(
        of(2)["extend info"].as_str().map(str::len),
        Some(4096),
        "what is kept of a long one",
    );
    t.check(of(0)["extend info"].is_null(), "a task without");
    t.destroy_model(model);
    // In a model that is built, too.
    let model = t.build();
    let bound = t.persistent();
    t.bind(model, bound);
    t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, bound), "aclrtMemsetAsync");
    t.ok(more(&json, size), "aclrtCacheLastTaskExtendInfo");
    t.fails(
        operator(8),
        NOT_CAPTURED,
        "notes of operators need a capture",
    );
    t.destroy_model(model);
}
