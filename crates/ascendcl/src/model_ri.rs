//! Chapter: model runtime instances (graph capture).

use core::ffi::{CStr, c_char, c_void};

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::graph::{self, Parameters, Places, condition};
use cannery_runtime::kernel::captured::{self, Arguments};

use crate::face::{address_place, faces, place, slice_mut};

/// A list that C asks for twice: with NULL for its length, then with a place of that length.
fn list<'a>(
    out: *mut *mut c_void,
    count: *mut u32,
) -> (Option<&'a mut [u64]>, Option<&'a mut u32>) {
    let count = place(count);
    let room = count.as_ref().map_or(0, |count| **count as usize);
    if out.is_null() {
        return (None, count);
    }
    // SAFETY: not NULL, so it has `*count` elements per the contract of the faces; the borrow ends with
    // the call.
    let out = unsafe { core::slice::from_raw_parts_mut(out.cast::<u64>(), room) };
    (Some(out), count)
}

fn text<'a>(param: &'static str, pointer: *const c_char) -> Result<Option<&'a str>, Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, so a string per the contract of the faces; the borrow ends with the call.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map(Some)
        .map_err(|_| Error::cause(param, "a text that is not UTF-8", "must be UTF-8"))
}

/// Bytes that aclmdlRIGetName gives at most, the end included.
const LONGEST_NAME: usize = 512;

faces! {
    /// aclmdlRICaptureBegin
    fn aclmdlRICaptureBegin(stream: abi::aclrtStream, mode: abi::aclmdlRICaptureMode)
        => graph::begin(stream as u64, mode);
    /// aclmdlRICaptureToModelRIBegin
    fn aclmdlRICaptureToModelRIBegin(
        stream: abi::aclrtStream,
        modelRI: abi::aclmdlRI,
        mode: abi::aclmdlRICaptureMode,
    ) => graph::begin_to_model(stream as u64, modelRI as u64, mode);
    /// aclmdlRICaptureEnd
    fn aclmdlRICaptureEnd(stream: abi::aclrtStream, modelRI: *mut abi::aclmdlRI)
        => graph::end(stream as u64, address_place(modelRI.cast()));
    /// aclmdlRICaptureGetInfo
    fn aclmdlRICaptureGetInfo(
        stream: abi::aclrtStream,
        status: *mut abi::aclmdlRICaptureStatus,
        modelRI: *mut abi::aclmdlRI,
    ) => graph::info(stream as u64, place(status), address_place(modelRI.cast()));
    /// aclmdlRICaptureThreadExchangeMode
    fn aclmdlRICaptureThreadExchangeMode(mode: *mut abi::aclmdlRICaptureMode)
        => graph::exchange(place(mode));
    /// aclmdlRICaptureTaskGrpBegin
    fn aclmdlRICaptureTaskGrpBegin(stream: abi::aclrtStream) => graph::group_begin(stream as u64);
    /// aclmdlRICaptureTaskGrpEnd
    fn aclmdlRICaptureTaskGrpEnd(stream: abi::aclrtStream, handle: *mut abi::aclrtTaskGrp)
        => graph::group_end(stream as u64, address_place(handle.cast()));
    /// aclmdlRICaptureTaskUpdateBegin
    fn aclmdlRICaptureTaskUpdateBegin(stream: abi::aclrtStream, handle: abi::aclrtTaskGrp)
        => graph::update_begin(stream as u64, handle as u64);
    /// aclmdlRICaptureTaskUpdateEnd
    fn aclmdlRICaptureTaskUpdateEnd(stream: abi::aclrtStream) => graph::update_end(stream as u64);
    /// aclmdlRIExecuteAsync
    fn aclmdlRIExecuteAsync(modelRI: abi::aclmdlRI, stream: abi::aclrtStream)
        => graph::execute_async(modelRI as u64, stream as u64);
    /// aclmdlRIExecute
    fn aclmdlRIExecute(modelRI: abi::aclmdlRI, timeout: i32) => graph::execute(modelRI as u64, timeout);
    /// aclmdlRIAbort
    fn aclmdlRIAbort(modelRI: abi::aclmdlRI) => graph::abort(modelRI as u64);
    /// aclmdlRIDestroy
    fn aclmdlRIDestroy(modelRI: abi::aclmdlRI) => graph::destroy(modelRI as u64);
    /// aclmdlRIDestroyRegisterCallback
    fn aclmdlRIDestroyRegisterCallback(
        modelRI: abi::aclmdlRI,
        func: abi::aclrtCallback,
        userData: *mut c_void,
    ) => graph::register_destroy_callback(modelRI as u64, func, userData);
    /// aclmdlRIDestroyUnregisterCallback
    fn aclmdlRIDestroyUnregisterCallback(modelRI: abi::aclmdlRI, func: abi::aclrtCallback)
        => graph::unregister_destroy_callback(modelRI as u64, func);
    /// aclmdlRIBuildBegin
    fn aclmdlRIBuildBegin(modelRI: *mut abi::aclmdlRI, flag: u32)
        => graph::build_begin(address_place(modelRI.cast()), flag);
    /// aclmdlRIBindStream
    fn aclmdlRIBindStream(modelRI: abi::aclmdlRI, stream: abi::aclrtStream, flag: u32)
        => graph::bind_stream(modelRI as u64, stream as u64, flag);
    /// aclmdlRIUnbindStream
    fn aclmdlRIUnbindStream(modelRI: abi::aclmdlRI, stream: abi::aclrtStream)
        => graph::unbind_stream(modelRI as u64, stream as u64);
    /// aclmdlRIEndTask
    fn aclmdlRIEndTask(modelRI: abi::aclmdlRI, stream: abi::aclrtStream)
        => graph::end_task(modelRI as u64, stream as u64);
    /// aclmdlRIBuildEnd
    fn aclmdlRIBuildEnd(modelRI: abi::aclmdlRI, reserve: *mut c_void)
        => graph::build_end(modelRI as u64, reserve as u64);
    /// aclmdlRIGetId
    fn aclmdlRIGetId(modelRI: abi::aclmdlRI, modelRIId: *mut u32)
        => graph::id(modelRI as u64, place(modelRIId));
    /// aclmdlRISetName
    fn aclmdlRISetName(modelRI: abi::aclmdlRI, name: *const c_char)
        => graph::set_name(modelRI as u64, text("name", name)?);
    /// aclmdlRIGetName
    fn aclmdlRIGetName(modelRI: abi::aclmdlRI, maxLen: u32, name: *mut c_char) => {
        let text = graph::name(modelRI as u64)?;
        if name.is_null() {
            return Err(Error::null("name"));
        }
        let room = (maxLen as usize).min(LONGEST_NAME);
        if room == 0 {
            return Err(Error::zero("maxLen"));
        }
        let bytes = text.as_bytes();
        let length = bytes.len().min(room - 1);
        // SAFETY: `name` has `maxLen` bytes per the contract of the faces; at most that many are written.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), name, length);
            *name.add(length) = 0;
        }
        Ok(())
    };
    /// aclmdlRIGetStreams
    fn aclmdlRIGetStreams(
        modelRI: abi::aclmdlRI,
        streams: *mut abi::aclrtStream,
        numStreams: *mut u32,
    ) => {
        let (out, count) = list(streams.cast(), numStreams);
        graph::streams(modelRI as u64, out, count)
    };
    /// aclmdlRIGetTasksByStream
    fn aclmdlRIGetTasksByStream(
        stream: abi::aclrtStream,
        tasks: *mut abi::aclmdlRITask,
        numTasks: *mut u32,
    ) => {
        let (out, count) = list(tasks.cast(), numTasks);
        graph::tasks_of_stream(stream as u64, out, count)
    };
    /// aclmdlRITaskGetType
    fn aclmdlRITaskGetType(task: abi::aclmdlRITask, r#type: *mut abi::aclmdlRITaskType)
        => graph::task_type(task as u64, place(r#type));
    /// aclmdlRITaskGetSeqId
    fn aclmdlRITaskGetSeqId(task: abi::aclmdlRITask, id: *mut u32)
        => graph::task_sequence(task as u64, place(id));
    /// aclmdlRITaskGetParams
    fn aclmdlRITaskGetParams(task: abi::aclmdlRITask, params: *mut abi::aclmdlRITaskParams) => {
        let (kind, group, parameters, places) = graph::task_parameters(task as u64)?;
        let Some(params) = place(params) else { return Err(Error::null("params")) };
        write(params, kind, group, parameters, places);
        Ok(())
    };
    /// aclmdlRITaskSetParams
    fn aclmdlRITaskSetParams(task: abi::aclmdlRITask, params: *mut abi::aclmdlRITaskParams) => {
        let Some(params) = place(params) else { return Err(Error::null("params")) };
        graph::check_task(task as u64)?;
        graph::set_task_parameters(task as u64, read(params)?)
    };
    /// aclmdlRIKernelTaskGetAttribute
    fn aclmdlRIKernelTaskGetAttribute(
        task: abi::aclmdlRITask,
        attrId: abi::aclrtLaunchKernelAttrId,
        attrValue: *mut abi::aclrtLaunchKernelAttrValue,
    ) => graph::kernel_attribute(task as u64, attrId, place(attrValue.cast::<[u32; 4]>()));
    /// aclmdlRITaskDisable
    fn aclmdlRITaskDisable(task: abi::aclmdlRITask) => graph::disable_task(task as u64);
    /// aclmdlRIUpdate
    fn aclmdlRIUpdate(modelRI: abi::aclmdlRI) => graph::update(modelRI as u64);
    /// aclmdlRICondHandleCreate
    fn aclmdlRICondHandleCreate(
        modelRI: abi::aclmdlRI,
        defaultLaunchValue: u32,
        flag: abi::aclmdlRICondHandleFlag,
        handle: *mut abi::aclmdlRICondHandle,
    ) => condition::create(
        modelRI as u64,
        defaultLaunchValue,
        flag,
        address_place(handle.cast()),
    );
    /// aclmdlRICondHandleGetCondPtr
    fn aclmdlRICondHandleGetCondPtr(handle: abi::aclmdlRICondHandle, ptr: *mut *mut u64)
        => condition::place(handle as u64, address_place(ptr.cast()));
    /// aclmdlRIAddCondTask
    fn aclmdlRIAddCondTask(
        params: abi::aclmdlRICondTaskParams,
        stream: abi::aclrtStream,
        flags: u32,
    ) => {
        let (handle, kind) = (params.handle as u64, params.r#type);
        let models = params.modelRIArray;
        condition::check(handle, kind, params.size, models.is_null(), flags)?;
        let room = slice_mut(models.cast::<u64>(), params.size as usize);
        condition::add(handle, kind, room.unwrap_or_default(), stream as u64)
    };
    /// aclmdlRIDebugPrint
    fn aclmdlRIDebugPrint(modelRI: abi::aclmdlRI) => graph::debug_print(modelRI as u64);
    /// aclmdlRIDebugJsonPrint
    fn aclmdlRIDebugJsonPrint(modelRI: abi::aclmdlRI, path: *const c_char, flags: u32)
        => graph::debug_json(modelRI as u64, text("path", path)?, flags);
}

fn write(
    params: &mut abi::aclmdlRITaskParams,
    kind: abi::aclmdlRITaskType,
    group: u64,
    parameters: Option<Parameters>,
    places: Places,
) {
    params.r#type = kind;
    params.rsv0 = [0; 3];
    params.taskGrp = core::ptr::without_provenance_mut(group as usize);
    params.opInfoPtr = core::ptr::without_provenance_mut(places.operator.0 as usize);
    params.opInfoSize = places.operator.1;
    params.rsv1 = [0; 32];
    params.detail.rsv2 = [0; 128];
    let pointer = |number: u64| core::ptr::without_provenance_mut::<c_void>(number as usize);
    match parameters {
        None => {}
        Some(Parameters::Kernel(launch)) => {
            let (args, bytes, on_host) = match &launch.args {
                Arguments::Device { address, bytes } => (*address, *bytes as usize, 0),
                Arguments::Host(bytes) if bytes.is_empty() => (0, 0, 1),
                Arguments::Host(bytes) => (places.args, bytes.len(), 1),
            };
            params.detail.kernelTaskParams = abi::aclmdlRIKernelTaskParams {
                funcHandle: pointer(launch.function),
                cfg: pointer(places.config).cast(),
                args: pointer(args),
                isHostArgs: on_host,
                argsSize: bytes,
                numBlocks: launch.blocks,
                rsv: [0; 10],
            };
        }
        Some(Parameters::EventRecord {
            event,
            event_flag,
            flag,
        }) => {
            params.detail.eventRecordTaskParams = abi::aclmdlRIEventRecordTaskParams {
                event: pointer(event),
                eventFlag: event_flag,
                recordFlag: flag,
            };
        }
        Some(Parameters::EventWait {
            event,
            event_flag,
            flag,
        }) => {
            params.detail.eventWaitTaskParams = abi::aclmdlRIEventWaitTaskParams {
                event: pointer(event),
                eventFlag: event_flag,
                waitFlag: flag,
            };
        }
        Some(Parameters::EventReset {
            event,
            event_flag,
            flag,
        }) => {
            params.detail.eventResetTaskParams = abi::aclmdlRIEventResetTaskParams {
                event: pointer(event),
                eventFlag: event_flag,
                resetFlag: flag,
            };
        }
        Some(Parameters::ValueWrite { address, value }) => {
            params.detail.valueWriteTaskParams = abi::aclmdlRIValueWriteTaskParams {
                devAddr: pointer(address),
                value,
            };
        }
        Some(Parameters::ValueWait {
            address,
            value,
            flag,
        }) => {
            params.detail.valueWaitTaskParams = abi::aclmdlRIValueWaitTaskParams {
                devAddr: pointer(address),
                value,
                flag,
            };
        }
    }
}

fn read(params: &abi::aclmdlRITaskParams) -> Result<Parameters, Error> {
    Ok(match params.r#type {
        abi::ACL_MODEL_RI_TASK_KERNEL => {
            // SAFETY: the member that the type names; all its bytes are numbers and pointers.
            let launch = unsafe { params.detail.kernelTaskParams };
            let place = (
                launch.args as u64,
                launch.argsSize as u64,
                launch.isHostArgs != 0,
            );
            let attributes = crate::kernel::attributes(launch.cfg)?;
            // SAFETY: arguments on the host are readable per the contract of the faces.
            Parameters::Kernel(unsafe {
                captured::read(
                    launch.funcHandle as u64,
                    attributes,
                    launch.numBlocks,
                    place,
                )?
            })
        }
        abi::ACL_MODEL_RI_TASK_VALUE_WRITE => {
            // SAFETY: the member that the type names; all its bytes are numbers.
            let value = unsafe { params.detail.valueWriteTaskParams };
            Parameters::ValueWrite {
                address: value.devAddr as u64,
                value: value.value,
            }
        }
        abi::ACL_MODEL_RI_TASK_VALUE_WAIT => {
            // SAFETY: as above.
            let value = unsafe { params.detail.valueWaitTaskParams };
            Parameters::ValueWait {
                address: value.devAddr as u64,
                value: value.value,
                flag: value.flag,
            }
        }
        abi::ACL_MODEL_RI_TASK_EVENT_RECORD
        | abi::ACL_MODEL_RI_TASK_EVENT_WAIT
        | abi::ACL_MODEL_RI_TASK_EVENT_RESET => Parameters::EventRecord {
            event: 0,
            event_flag: 0,
            flag: 0,
        },
        other => {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
                format!(
                    "tasks of type {other} cannot be changed; kernels (1) and value tasks (5, 6) can"
                ),
            ));
        }
    })
}
