"""What each return code is called, means, and asks for. Read when something failed."""

# Written by tools/gen_python.py. Do not edit.
CODES: dict[int, tuple[str, str, str]] = {
    100000: (
        "ACL_ERROR_INVALID_PARAM",
        "An argument is wrong in itself, before anything else is looked at.",
        "Read the text: it names the argument, its value and what is accepted. Check the return code of the call that produced the argument.",
    ),
    100001: (
        "ACL_ERROR_UNINITIALIZE",
        "The library, or the feature, is not initialised.",
        "Call aclInit once before everything else, and aclFinalize only when nothing more will call the library.",
    ),
    100002: (
        "ACL_ERROR_REPEAT_INITIALIZE",
        "aclInit was called again. It is counted and may be ignored.",
        "Treat 100002 as success. Each aclInit wants its aclFinalizeReference; aclFinalize ends all at once.",
    ),
    100003: (
        "ACL_ERROR_INVALID_FILE",
        "The file cannot be opened.",
        "Print the working directory and the path; give an absolute path.",
    ),
    100004: (
        "ACL_ERROR_WRITE_FILE",
        "File could not be written.",
        "Check path and write permission.",
    ),
    100005: (
        "ACL_ERROR_INVALID_FILE_SIZE",
        "File size out of range.",
        "Check the size limits of the call.",
    ),
    100006: (
        "ACL_ERROR_PARSE_FILE",
        "The content of the file is not what it must be.",
        "Run the file through a JSON checker; `{}` is the smallest valid one.",
    ),
    100007: (
        "ACL_ERROR_FILE_MISSING_ATTR",
        "File lacks a required entry.",
        "Complete the file.",
    ),
    100008: (
        "ACL_ERROR_FILE_ATTR_INVALID",
        "File holds a bad value.",
        "Correct the value.",
    ),
    100009: (
        "ACL_ERROR_INVALID_DUMP_CONFIG",
        "Dump configuration is wrong.",
        "Correct the dump configuration.",
    ),
    100010: (
        "ACL_ERROR_INVALID_PROFILING_CONFIG",
        "Profiling configuration is wrong.",
        "Correct the profiling configuration.",
    ),
    100011: (
        "ACL_ERROR_INVALID_MODEL_ID",
        "Unknown model id.",
        "Check the id and that the model is loaded.",
    ),
    100012: (
        "ACL_ERROR_DESERIALIZE_MODEL",
        "Model could not be deserialised.",
        "Rebuild the model for this version.",
    ),
    100013: (
        "ACL_ERROR_PARSE_MODEL",
        "Model could not be parsed.",
        "Rebuild the model for this version.",
    ),
    100014: (
        "ACL_ERROR_READ_MODEL_FAILURE",
        "Model could not be read.",
        "Check that the model file exists and is readable.",
    ),
    100015: (
        "ACL_ERROR_MODEL_SIZE_INVALID",
        "Model size is wrong.",
        "Rebuild the model.",
    ),
    100016: (
        "ACL_ERROR_MODEL_MISSING_ATTR",
        "Model lacks a required attribute.",
        "Rebuild the model for this version.",
    ),
    100017: (
        "ACL_ERROR_MODEL_INPUT_NOT_MATCH",
        "Model inputs do not fit.",
        "Check the inputs.",
    ),
    100018: (
        "ACL_ERROR_MODEL_OUTPUT_NOT_MATCH",
        "Model outputs do not fit.",
        "Check the outputs.",
    ),
    100019: (
        "ACL_ERROR_MODEL_NOT_DYNAMIC",
        "Model is not dynamic.",
        "Rebuild the model with dynamic support.",
    ),
    100020: (
        "ACL_ERROR_OP_TYPE_NOT_MATCH",
        "Operator type does not fit.",
        "Check the operator type.",
    ),
    100021: (
        "ACL_ERROR_OP_INPUT_NOT_MATCH",
        "Operator inputs do not fit.",
        "Check the inputs.",
    ),
    100022: (
        "ACL_ERROR_OP_OUTPUT_NOT_MATCH",
        "Operator outputs do not fit.",
        "Check the outputs.",
    ),
    100023: (
        "ACL_ERROR_OP_ATTR_NOT_MATCH",
        "Operator attributes do not fit.",
        "Check the attributes.",
    ),
    100024: (
        "ACL_ERROR_OP_NOT_FOUND",
        "Operator not found.",
        "Check that the operator type is supported.",
    ),
    100025: (
        "ACL_ERROR_OP_LOAD_FAILED",
        "Operator could not be loaded.",
        "Rebuild the operator model for this version.",
    ),
    100026: (
        "ACL_ERROR_UNSUPPORTED_DATA_TYPE",
        "Data type not supported.",
        "Use a supported data type.",
    ),
    100027: (
        "ACL_ERROR_FORMAT_NOT_MATCH",
        "Tensor format does not fit.",
        "Check the format.",
    ),
    100028: (
        "ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED",
        "No kernel selector registered for the operator.",
        "Call aclopRegisterSelectKernelFunc.",
    ),
    100029: (
        "ACL_ERROR_KERNEL_NOT_FOUND",
        "Operator kernel not registered.",
        "Call aclopCreateKernel.",
    ),
    100030: (
        "ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED",
        "Kernel selector registered twice.",
        "Register it once.",
    ),
    100031: (
        "ACL_ERROR_KERNEL_ALREADY_REGISTERED",
        "Operator kernel registered twice.",
        "Register it once.",
    ),
    100032: (
        "ACL_ERROR_INVALID_QUEUE_ID",
        "There is no queue with this id.",
        "Keep the id together with its device; attach (acltdtAttachQueue) a queue of another process before using it.",
    ),
    100033: (
        "ACL_ERROR_REPEAT_SUBSCRIBE",
        "Stream subscribed twice.",
        "Call aclrtSubscribeReport once per stream.",
    ),
    100037: (
        "ACL_ERROR_REPEAT_FINALIZE",
        "aclFinalize, or aclFinalizeReference, without an open aclInit.",
        "Finalise in one place only, as the last call.",
    ),
    100039: (
        "ACL_ERROR_COMPILING_STUB_MODE",
        "Stub libraries used at run time.",
        "Point the library path at the real libraries.",
    ),
    100042: (
        "ACL_ERROR_PROF_ALREADY_RUN",
        "Profiling already active.",
        "Keep a single profiling setup per device.",
    ),
    100043: (
        "ACL_ERROR_PROF_NOT_RUN",
        "Profiling not initialised.",
        "Call aclprofInit first.",
    ),
    100044: (
        "ACL_ERROR_DUMP_ALREADY_RUN",
        "Dump already configured.",
        "Configure dump either in aclInit or through the dump calls.",
    ),
    100045: (
        "ACL_ERROR_DUMP_NOT_RUN",
        "Dump not initialised.",
        "Call aclmdlInitDump first.",
    ),
    107000: (
        "ACL_ERROR_RT_PARAM_INVALID",
        "A range, a flag, a handle or an address is not what the call takes.",
        "Read the text: it says what the address is and which function releases it. `aclrtPointerGetAttributes` tells what an address is.",
    ),
    107001: (
        "ACL_ERROR_RT_INVALID_DEVICEID",
        "There is no such device.",
        "Ask aclrtGetDeviceCount and stay below it.",
    ),
    107002: (
        "ACL_ERROR_RT_CONTEXT_NULL",
        "The calling thread has no context, or the context given does not exist any more.",
        "Call aclrtSetDevice in each thread, or hand the context over with aclrtGetCurrentContext and aclrtSetCurrentContext. Read the first line of the text: it names the call that took the context away.",
    ),
    107003: (
        "ACL_ERROR_RT_STREAM_CONTEXT",
        "The stream (or event) belongs to another context.",
        "Set the context of the stream (aclrtSetCurrentContext) before using it; keep device and stream together in one object.",
    ),
    107004: (
        "ACL_ERROR_RT_MODEL_CONTEXT",
        "Model is not in the current context.",
        "Use the model in its own context.",
    ),
    107005: (
        "ACL_ERROR_RT_STREAM_MODEL",
        "Stream is not bound to the model.",
        "Bind the stream first.",
    ),
    107006: (
        "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID",
        "The event holds no time.",
        "Record the event, synchronise it, then ask for the time; create it with ACL_EVENT_TIME_LINE.",
    ),
    107007: (
        "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL",
        "Event time stamps run backwards.",
        "Check the events.",
    ),
    107008: (
        "ACL_ERROR_RT_ADDR_UNALIGNED",
        "An address has not the alignment that the call needs.",
        "Allocate with aclrtMalloc* or aclrtMallocHost, or align by hand (posix_memalign) to what the text names.",
    ),
    107009: (
        "ACL_ERROR_RT_FILE_OPEN",
        "A file cannot be opened by the runtime.",
        "Give an absolute path; check that the user of the process can read it.",
    ),
    107010: (
        "ACL_ERROR_RT_FILE_WRITE",
        "File could not be written.",
        "Check existence and permission.",
    ),
    107011: (
        "ACL_ERROR_RT_STREAM_SUBSCRIBE",
        "The stream is not subscribed for callbacks, or subscribed twice.",
        "One aclrtSubscribeReport for each stream, undone with the same pair of thread and stream.",
    ),
    107012: (
        "ACL_ERROR_RT_THREAD_SUBSCRIBE",
        "The thread is not subscribed for callbacks.",
        "Start the thread, subscribe with its id, and call aclrtProcessReport in that very thread.",
    ),
    107013: (
        "ACL_ERROR_RT_GROUP_NOT_SET",
        "No compute group is selected.",
        "Call aclrtSetGroup first.",
    ),
    107014: (
        "ACL_ERROR_RT_GROUP_NOT_CREATE",
        "Compute group does not exist.",
        "Use an id from 0 to group count - 1.",
    ),
    107015: (
        "ACL_ERROR_RT_STREAM_NO_CB_REG",
        "A callback was launched on a stream that no thread serves.",
        "Subscribe the stream first, and keep a thread in aclrtProcessReport. aclrtLaunchHostFunc needs neither.",
    ),
    107016: (
        "ACL_ERROR_RT_INVALID_MEMORY_TYPE",
        "A memory type or attribute is none of the known ones.",
        "Pass an enumerator of the header; zero the structure before filling it.",
    ),
    107017: (
        "ACL_ERROR_RT_INVALID_HANDLE",
        "A handle is not valid for this call.",
        "Set handles to NULL when they are destroyed; import what another process exported.",
    ),
    107018: (
        "ACL_ERROR_RT_INVALID_MALLOC_TYPE",
        "Allocation type is not valid.",
        "Check the allocation type.",
    ),
    107019: (
        "ACL_ERROR_RT_WAIT_TIMEOUT",
        "A wait ran out of time.",
        "Check that somebody records or notifies; raise the timeout.",
    ),
    107020: (
        "ACL_ERROR_RT_TASK_TIMEOUT",
        "A task took longer than its timeout.",
        "Raise the timeout (aclrtSetOpExecuteTimeOut and its kin); look for waits that form a circle.",
    ),
    107021: (
        "ACL_ERROR_RT_SYSPARAMOPT_NOT_SET",
        "The context option was never set.",
        'Set it first, or take the code as "not set".',
    ),
    107022: (
        "ACL_ERROR_RT_DEVICE_TASK_ABORT",
        "The device is just dropping its tasks.",
        "Wait until it returns, then queue again.",
    ),
    107023: (
        "ACL_ERROR_RT_STREAM_ABORT",
        "The stream was aborted; its tasks were dropped.",
        "Treat what was queued as not done. Do not wait for a stream that is being aborted.",
    ),
    107024: (
        "ACL_ERROR_RT_CAPTURE_DEPENDENCY",
        "A wait inside a capture has no record inside the same capture.",
        "Record the event in a stream that takes part in the capture.",
    ),
    107025: (
        "ACL_ERROR_RT_STREAM_UNJOINED",
        "A side stream of the capture was not joined back.",
        "Record an event at the end of each side stream and let the first stream wait for it.",
    ),
    107026: (
        "ACL_ERROR_RT_MODEL_CAPTURED",
        "The model is being captured and cannot be used for this.",
        "End the capture first.",
    ),
    107027: (
        "ACL_ERROR_RT_STREAM_CAPTURED",
        "The stream is being captured, and this call is not allowed on it.",
        "Move the call in front of the capture or behind it, or use the asynchronous form.",
    ),
    107028: (
        "ACL_ERROR_RT_EVENT_CAPTURED",
        "The event is part of a capture.",
        "Use another event for work outside the capture.",
    ),
    107029: (
        "ACL_ERROR_RT_STREAM_NOT_CAPTURED",
        "The stream is not being captured.",
        "Pair begin and end on the same stream.",
    ),
    107030: (
        "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT",
        "The capture mode forbids this call.",
        "Make the call before the capture, or switch the mode with aclmdlRICaptureThreadExchangeMode.",
    ),
    107031: (
        "ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT",
        "The default stream was used while a capture is running.",
        "Use streams made with aclrtCreateStream everywhere during the capture.",
    ),
    107032: (
        "ACL_ERROR_STREAM_CAPTURE_CONFLICT",
        "Two captures were about to be linked by an event.",
        "Keep captures apart; use one capture for streams that depend on each other.",
    ),
    107033: (
        "ACL_ERROR_STREAM_TASK_GROUP_STATUS",
        "The task group is in the wrong state.",
        "Pair begin and end; one recording and one update at a time.",
    ),
    107034: (
        "ACL_ERROR_STREAM_TASK_GROUP_INTR",
        "Task group recording was interrupted.",
        "Submit tasks only to the recording stream.",
    ),
    107035: (
        "ACL_ERROR_RT_TASK_ABORT_STOP",
        "Device task abort stopped before its post stage (header only).",
        "Keep the text and the vendor's logs, and report them.",
    ),
    107036: (
        "ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED",
        "Capture end on a stream on which no capture began.",
        "Call aclmdlRICaptureEnd once, on the stream of aclmdlRICaptureBegin.",
    ),
    107037: (
        "ACL_ERROR_RT_MODEL_RUNNING",
        "The model is still running.",
        "Synchronise the stream first.",
    ),
    107038: (
        "ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD",
        "The capture was ended by another thread than began it.",
        "End in the same thread, or begin in RELAXED mode.",
    ),
    107039: (
        "ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY",
        "The output array is too small.",
        "Ask for the number first, or enlarge the array; the text says how many there are.",
    ),
    107040: (
        "ACL_ERROR_RT_MODEL_UPDATE_FAILED",
        "The captured model could not be updated.",
        "Update only idle, captured models, with the same sequence of tasks; else capture again.",
    ),
    107041: (
        "ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC",
        "An asynchronous call would have to become synchronous, which a capture forbids.",
        "Allocate host memory with aclrtMallocHost, or register it, before the capture.",
    ),
    107042: (
        "ACL_ERROR_RT_SYMBOL_NOT_FOUND",
        "The kernel binary has no symbol of this name.",
        'List the names of the binary (`nm -D`), declare the function extern "C".',
    ),
    107043: (
        "ACL_ERROR_RT_INVALID_SYMBOL",
        "The symbol is no device variable.",
        "Declare the variable as a device variable, and pass its own address.",
    ),
    107044: (
        "ACL_ERROR_RT_INVALID_DEVICE_FUNCTION",
        "The symbol is no kernel.",
        "Declare the function as a kernel and pass that symbol.",
    ),
    107045: (
        "ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING",
        "A child graph is being captured (header only).",
        "Keep the text and the vendor's logs, and report them.",
    ),
    145000: (
        "ACL_ERROR_GE_PARAM_INVALID",
        "Argument check failed in the graph engine.",
        "Check the arguments.",
    ),
    145001: (
        "ACL_ERROR_GE_EXEC_NOT_INIT",
        "Graph engine not initialised.",
        "Call aclInit (or the feature's init) first.",
    ),
    145002: (
        "ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID",
        "Bad model path.",
        "Check the path.",
    ),
    145003: (
        "ACL_ERROR_GE_EXEC_MODEL_ID_INVALID",
        "Unknown model id.",
        "Check the id and that the model is loaded.",
    ),
    145006: (
        "ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID",
        "Model size is wrong.",
        "Rebuild the model.",
    ),
    145007: (
        "ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID",
        "Bad model address.",
        "Check the address.",
    ),
    145008: (
        "ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID",
        "Unknown queue id.",
        "Check the queue id.",
    ),
    145009: (
        "ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED",
        "Initialised or loaded twice.",
        "Avoid the repeated call.",
    ),
    145011: (
        "ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID",
        "Bad dynamic input address.",
        "Check the address.",
    ),
    145012: (
        "ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID",
        "Bad dynamic input length.",
        "Check the length.",
    ),
    145013: (
        "ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID",
        "Bad dynamic batch size.",
        "Check the batch size.",
    ),
    145014: (
        "ACL_ERROR_GE_AIPP_BATCH_EMPTY",
        "Bad image preprocessing batch size.",
        "Check the batch size.",
    ),
    145015: (
        "ACL_ERROR_GE_AIPP_NOT_EXIST",
        "No image preprocessing configuration.",
        "Configure it.",
    ),
    145016: (
        "ACL_ERROR_GE_AIPP_MODE_INVALID",
        "Bad image preprocessing mode.",
        "Check the mode used at conversion.",
    ),
    145017: (
        "ACL_ERROR_GE_OP_TASK_TYPE_INVALID",
        "Bad task type.",
        "Check the operator type.",
    ),
    145018: (
        "ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID",
        "Bad operator type.",
        "Check the operator type.",
    ),
    145019: (
        "ACL_ERROR_GE_PLGMGR_PATH_INVALID",
        "Shared library missing or path too deep.",
        "Check LD_LIBRARY_PATH.",
    ),
    145020: (
        "ACL_ERROR_GE_FORMAT_INVALID",
        "Bad tensor format.",
        "Check the format.",
    ),
    145021: (
        "ACL_ERROR_GE_SHAPE_INVALID",
        "Bad tensor shape.",
        "Check the shape.",
    ),
    145022: (
        "ACL_ERROR_GE_DATATYPE_INVALID",
        "Bad tensor data type.",
        "Check the type.",
    ),
    148046: (
        "ACL_ERROR_PROF_REPEAT_SUBSCRIBE",
        "Model subscribed twice for profiling.",
        "Check the call order.",
    ),
    148047: (
        "ACL_ERROR_PROF_API_CONFLICT",
        "Two profiling methods mixed.",
        "Do not interleave init/start and subscribe families.",
    ),
    148048: (
        "ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG",
        "Operator cache ageing setting is wrong.",
        "Correct max_opqueue_num.",
    ),
    148049: (
        "ACL_ERROR_INVALID_OPP_PATH",
        "ASCEND_OPP_PATH missing or wrong.",
        "Set it to the operator package directory.",
    ),
    148050: (
        "ACL_ERROR_OP_UNSUPPORTED_DYNAMIC",
        "Operator does not take dynamic shapes.",
        "Use fixed shapes.",
    ),
    148051: (
        "ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED",
        "A dependent resource still exists.",
        "Destroy the channel before its description.",
    ),
    148052: (
        "ACL_ERROR_UNSUPPORTED_JPEG",
        "JPEG variant not supported by the decoder.",
        "Use Huffman baseline YUV images.",
    ),
    148053: (
        "ACL_ERROR_INVALID_BUNDLE_MODEL_ID",
        "Unknown bundle model id.",
        "Check the id and that the model is loaded.",
    ),
    200000: (
        "ACL_ERROR_BAD_ALLOC",
        "Memory could not be had (front of the library).",
        "Free host memory; see `cannery doctor`.",
    ),
    200001: (
        "ACL_ERROR_API_NOT_SUPPORT",
        "The call is not supported here.",
        "Ask `cannery explain FUNCTION` for the products that have it; choose another profile.",
    ),
    200003: (
        "ACL_ERROR_MEMORY_ADDRESS_UNALIGNED",
        "Address alignment is wrong.",
        "Follow the alignment rule of the call.",
    ),
    200004: (
        "ACL_ERROR_RESOURCE_NOT_MATCH",
        "Resource belongs elsewhere.",
        "Pass the right stream or context.",
    ),
    200005: (
        "ACL_ERROR_INVALID_RESOURCE_HANDLE",
        "Resource handle is not valid.",
        "Check whether the stream or context was destroyed or is in use.",
    ),
    200006: (
        "ACL_ERROR_FEATURE_UNSUPPORTED",
        "Feature not supported.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    200007: (
        "ACL_ERROR_PROF_MODULES_UNSUPPORTED",
        "Profiling setting not supported.",
        "Check the profiling configuration.",
    ),
    207000: (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
        "The product, the mode or this build does not have the function or option.",
        "`cannery explain FUNCTION` lists the products; `cannery run --profile P` chooses one. Keep the fallback that the program needs on such products.",
    ),
    207001: (
        "ACL_ERROR_RT_MEMORY_ALLOCATION",
        "No memory: neither on the device, nor, for host memory, on the host or within the lock limit.",
        "Free blocks or trim the pool that the text names, then ask again; ask for less; use a *_FIRST policy. `cannery smi` shows all processes; `cannery doctor` shows the lock limit.",
    ),
    207002: (
        "ACL_ERROR_RT_MEMORY_FREE",
        "The memory could not be released.",
        "Unmap or destroy what uses it first.",
    ),
    207003: (
        "ACL_ERROR_RT_AICORE_OVER_FLOW",
        "An operator of the AI Core overflowed.",
        "Find the operator with dumps; check its inputs. The emulator runs no AI Core code.",
    ),
    207004: (
        "ACL_ERROR_RT_NO_DEVICE",
        "No device is usable.",
        "Unset it, or list existing ids, ascending, separated by commas.",
    ),
    207005: (
        "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
        "A resource that is no memory ran out.",
        "Destroy what is not used; look for the leak. `cannery doctor` shows the limits of the system.",
    ),
    207006: (
        "ACL_ERROR_RT_NO_PERMISSION",
        "This process may not do that.",
        "Let the exporting process name this pid, or export with the flag that switches the check off.",
    ),
    207007: (
        "ACL_ERROR_RT_NO_EVENT_RESOURCE",
        "No event is left.",
        "Reuse events; destroy them when done.",
    ),
    207008: (
        "ACL_ERROR_RT_NO_STREAM_RESOURCE",
        "No stream is left.",
        "Keep a fixed set of streams; destroy them when done.",
    ),
    207009: (
        "ACL_ERROR_RT_NO_NOTIFY_RESOURCE",
        "No notify is left.",
        "Destroy them when done.",
    ),
    207010: (
        "ACL_ERROR_RT_NO_MODEL_RESOURCE",
        "No model resource left.",
        "Unload models.",
    ),
    207011: (
        "ACL_ERROR_RT_NO_CDQ_RESOURCE",
        "Internal resource exhausted.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    207012: (
        "ACL_ERROR_RT_OVER_LIMIT",
        "Too many queues, or a queue is over its limit.",
        "Destroy unneeded queues.",
    ),
    207013: (
        "ACL_ERROR_RT_QUEUE_EMPTY",
        "The queue is empty.",
        "Wait and try again, or dequeue with a timeout.",
    ),
    207014: (
        "ACL_ERROR_RT_QUEUE_FULL",
        "The queue is full.",
        "Dequeue, wait, or make the queue with a larger depth.",
    ),
    207015: (
        "ACL_ERROR_RT_REPEATED_INIT",
        "Queue initialised twice.",
        "Initialise once.",
    ),
    207016: (
        "ACL_ERROR_RT_AIVEC_OVER_FLOW",
        "Vector core operator overflowed (header only).",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    207017: (
        "ACL_ERROR_RT_OVER_FLOW",
        "Operator overflowed (header only).",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    207018: (
        "ACL_ERROR_RT_DEVICE_OOM",
        "The device ran out of memory while it worked.",
        "As for 207001.",
    ),
    207019: (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP",
        "Driver cannot update this operator.",
        "Upgrade the driver.",
    ),
    207020: (
        "ACL_ERROR_RT_TIMEOUT",
        "Driver call timed out (header only).",
        "Keep the text and the vendor's logs, and report them.",
    ),
    207021: (
        "ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED",
        "The hardware has no link of this type between the devices.",
        "Ask for the link the product has; keep a path through the host.",
    ),
    245000: (
        "ACL_ERROR_GE_MEMORY_ALLOCATION",
        "Memory allocation failed.",
        "Check free memory.",
    ),
    245001: (
        "ACL_ERROR_GE_MEMORY_OPERATE_FAILED",
        "Memory fill or copy failed.",
        "Check address and free memory.",
    ),
    245002: (
        "ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED",
        "Device memory could not be obtained (docs name it DEVICE_MEMORY_ALLOCATION_FAILED).",
        "Free device memory and retry.",
    ),
    300000: (
        "ACL_ERROR_STORAGE_OVER_LIMIT",
        "Storage limit exceeded.",
        "Check free storage.",
    ),
    345102: (
        "ACL_ERROR_GE_SUBHEALTHY",
        "Degraded after redeployment; calls still work.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    345103: (
        "ACL_ERROR_GE_USER_RAISE_EXCEPTION",
        "User function raised an exception.",
        "Identify the input by its user data.",
    ),
    345104: (
        "ACL_ERROR_GE_DATA_NOT_ALIGNED",
        "User function produced too few outputs.",
        "Set all outputs.",
    ),
    500000: (
        "ACL_ERROR_INTERNAL_ERROR",
        "Something inside went wrong that has no code of its own.",
        "Report the text with the program that shows it.",
    ),
    500001: (
        "ACL_ERROR_FAILURE",
        "Internal error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    500002: (
        "ACL_ERROR_GE_FAILURE",
        "Graph engine error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    500003: (
        "ACL_ERROR_RT_FAILURE",
        "Runtime module error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    500004: (
        "ACL_ERROR_DRV_FAILURE",
        "Driver module error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    500005: (
        "ACL_ERROR_PROFILING_FAILURE",
        "Profiling module error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507000: (
        "ACL_ERROR_RT_INTERNAL_ERROR",
        "The runtime could not do what was asked, for a reason inside it.",
        "Follow the text; check the limits with `cannery doctor`.",
    ),
    507001: (
        "ACL_ERROR_RT_TS_ERROR",
        "The scheduler of the device failed.",
        "Look for the first failing task; synchronise after each call to find it.",
    ),
    507002: (
        "ACL_ERROR_RT_STREAM_TASK_FULL",
        "The stream holds too many tasks.",
        "Synchronise now and then, or spread the work over streams.",
    ),
    507003: (
        "ACL_ERROR_RT_STREAM_TASK_EMPTY",
        "Stream holds no task.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507004: (
        "ACL_ERROR_RT_STREAM_NOT_COMPLETE",
        "The stream has unfinished tasks.",
        "Synchronise the stream first.",
    ),
    507005: (
        "ACL_ERROR_RT_END_OF_SEQUENCE",
        "AI CPU task sequence ended.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507006: (
        "ACL_ERROR_RT_EVENT_NOT_COMPLETE",
        "The event is not complete yet.",
        "Synchronise, or ask again later.",
    ),
    507007: (
        "ACL_ERROR_RT_CONTEXT_RELEASE_ERROR",
        "A device was reset that holds no reference of this process.",
        "Pair set and reset; the text names the failed set when there was one.",
    ),
    507008: (
        "ACL_ERROR_RT_SOC_VERSION",
        "Chip version could not be read.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507009: (
        "ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT",
        "This kind of task cannot be put where it was put.",
        "Queue it on an ordinary stream.",
    ),
    507010: (
        "ACL_ERROR_RT_LOST_HEARTBEAT",
        "Task scheduler heartbeat lost.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507011: (
        "ACL_ERROR_RT_MODEL_EXECUTE",
        "A run of the captured model failed.",
        "Keep the memory of a captured model alive; read the text of the failed task.",
    ),
    507012: (
        "ACL_ERROR_RT_REPORT_TIMEOUT",
        "No callback arrived within the time of aclrtProcessReport.",
        "Call again; end the loop by a flag of your own.",
    ),
    507013: (
        "ACL_ERROR_RT_SYS_DMA",
        "System DMA failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507014: (
        "ACL_ERROR_RT_AICORE_TIMEOUT",
        "AI Core timed out.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507015: (
        "ACL_ERROR_RT_AICORE_EXCEPTION",
        "A kernel failed on the AI Core.",
        "Check the ranges and lifetimes of all buffers of the kernel; synchronise before releasing or unmapping memory.",
    ),
    507016: (
        "ACL_ERROR_RT_AICORE_TRAP_EXCEPTION",
        "AI Core trap.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507017: (
        "ACL_ERROR_RT_AICPU_TIMEOUT",
        "AI CPU timed out.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507018: (
        "ACL_ERROR_RT_AICPU_EXCEPTION",
        "AI CPU exception.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507019: (
        "ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR",
        "AI CPU gave no answer after dump.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507020: (
        "ACL_ERROR_RT_AICPU_MODEL_RSP_ERR",
        "AI CPU gave no answer after a model run.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507021: (
        "ACL_ERROR_RT_PROFILING_ERROR",
        "Profiling failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507022: (
        "ACL_ERROR_RT_IPC_ERROR",
        "Sharing between processes failed.",
        "Keep the exporter alive until the importer has closed; let both see the same directory.",
    ),
    507023: (
        "ACL_ERROR_RT_MODEL_ABORT_NORMAL",
        "Model exited.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507024: (
        "ACL_ERROR_RT_KERNEL_UNREGISTERING",
        "Operator is being unregistered.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507025: (
        "ACL_ERROR_RT_RINGBUFFER_NOT_INIT",
        "Ring buffer not initialised.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507026: (
        "ACL_ERROR_RT_RINGBUFFER_NO_DATA",
        "Ring buffer empty.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507027: (
        "ACL_ERROR_RT_KERNEL_LOOKUP",
        "The kernel function is not known.",
        "Load the binary first and ask for the exact name.",
    ),
    507028: (
        "ACL_ERROR_RT_KERNEL_DUPLICATE",
        "Internal kernel registered twice.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507029: (
        "ACL_ERROR_RT_DEBUG_REGISTER_FAIL",
        "Debug registration failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507030: (
        "ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL",
        "Debug unregistration failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507031: (
        "ACL_ERROR_RT_LABEL_CONTEXT",
        "Label is not in the current context.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507032: (
        "ACL_ERROR_RT_PROGRAM_USE_OUT",
        "Too many programs registered.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507033: (
        "ACL_ERROR_RT_DEV_SETUP_ERROR",
        "The device could not be opened.",
        "Start workers with spawn instead of fork; lift ulimit -v. `cannery doctor` checks both memory and address space.",
    ),
    507034: (
        "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT",
        "Vector core timed out.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507035: (
        "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
        "Vector core exception.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507036: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION",
        "Vector core trap.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507037: (
        "ACL_ERROR_RT_CDQ_BATCH_ABNORMAL",
        "Internal resource allocation abnormal.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507038: (
        "ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR",
        "Die mode cannot change.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507039: (
        "ACL_ERROR_RT_DIE_SET_ERROR",
        "Die cannot be chosen in single-die mode.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507040: (
        "ACL_ERROR_RT_INVALID_DIEID",
        "Bad die id.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507041: (
        "ACL_ERROR_RT_DIE_MODE_NOT_SET",
        "Die mode not set.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507042: (
        "ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW",
        "AI Core read out of bounds.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507043: (
        "ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW",
        "AI Core write out of bounds.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507044: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW",
        "Vector core read out of bounds.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507045: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW",
        "Vector core write out of bounds.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507046: (
        "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT",
        "The stream was not done when the timed wait ended. The work goes on.",
        "Raise the timeout; look for the missing record. Do not release the memory of work that may still run.",
    ),
    507047: (
        "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT",
        "The event was not complete when the timed wait ended.",
        "Raise the timeout; look at what its stream waits for.",
    ),
    507048: (
        "ACL_ERROR_RT_FFTS_PLUS_TIMEOUT",
        "Internal task timed out.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507049: (
        "ACL_ERROR_RT_FFTS_PLUS_EXCEPTION",
        "Internal task exception.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507050: (
        "ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION",
        "Internal task trap.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507051: (
        "ACL_ERROR_RT_SEND_MSG",
        "A message could not be sent to a queue.",
        "Attach or create the queue again.",
    ),
    507052: (
        "ACL_ERROR_RT_COPY_DATA",
        "The data could not be copied while enqueueing.",
        "Check the buffer and its length.",
    ),
    507053: (
        "ACL_ERROR_RT_DEVICE_MEM_ERROR",
        "Device memory has an error that cannot be corrected (hardware).",
        "Ask aclrtGetMemUceInfo, release the block, repair with aclrtMemUceRepair; replace the card when it comes back.",
    ),
    507054: (
        "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR",
        "HBM multi-bit ECC fault.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507055: (
        "ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR",
        "Peer device memory may be faulty.",
        "Check the peer device's process.",
    ),
    507056: (
        "ACL_ERROR_RT_LINK_ERROR",
        "Link between two devices broke.",
        "Retry, then check the link.",
    ),
    507057: (
        "ACL_ERROR_RT_SUSPECT_REMOTE_ERROR",
        "Peer memory faulty or local access out of bounds.",
        "Check the peer process and local accesses.",
    ),
    507899: (
        "ACL_ERROR_RT_DRV_INTERNAL_ERROR",
        "The driver refused, without a code of its own.",
        "Align host memory to pages (4 KiB) and register it once; read the cause in the text.",
    ),
    507900: (
        "ACL_ERROR_RT_AICPU_INTERNAL_ERROR",
        "AI CPU internal error.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507901: (
        "ACL_ERROR_RT_SOCKET_CLOSE",
        "The other side of the connection is gone.",
        "Start it again and attach again.",
    ),
    507902: (
        "ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR",
        "AI CPU scheduling failed.",
        "Synchronise after each launch to find the failing operator; check its buffers and their lifetime.",
    ),
    507903: (
        "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED",
        "The capture became invalid and cannot be ended with a result.",
        "Find the first failing call since begin; end the capture, then begin anew.",
    ),
    507904: (
        "ACL_ERROR_RT_COMM_OP_RETRY_FAIL",
        "Communication operator retry failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507905: (
        "ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT",
        "Process lock timed out.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507906: (
        "ACL_ERROR_SNAPSHOT_LOCK_FAILED",
        "Process lock failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507907: (
        "ACL_ERROR_SNAPSHOT_UNLOCK_FAILED",
        "Process unlock failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507908: (
        "ACL_ERROR_SNAPSHOT_BACKUP_FAILED",
        "Process backup failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507909: (
        "ACL_ERROR_SNAPSHOT_RESTORE_FAILED",
        "Process restore failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507910: (
        "ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        "The host range, or a part of it, is registered already.",
        "Unregister before freeing; register whole, page-aligned buffers once.",
    ),
    507911: (
        "ACL_ERROR_HOST_MEMORY_NOT_REGISTERED",
        "The host memory is not registered.",
        "Pass the host address given to aclrtHostRegister, once.",
    ),
    507912: (
        "ACL_ERROR_SNAPSHOT_CALLBACK_FAILED",
        "Snapshot callback failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507913: (
        "ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED",
        "Snapshot callback registration failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507914: (
        "ACL_ERROR_RT_L3_PORT_ERROR",
        "L3 port error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507915: (
        "ACL_ERROR_RT_CCU_TIMEOUT",
        "CCU timed out.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    507916: (
        "ACL_ERROR_RT_CCU_EXCEPTION",
        "CCU exception.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545000: (
        "ACL_ERROR_GE_INTERNAL_ERROR",
        "Unknown graph engine error.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545001: (
        "ACL_ERROR_GE_LOAD_MODEL",
        "Model load failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545002: (
        "ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED",
        "Model part load failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545003: (
        "ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED",
        "Weight part load failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545004: (
        "ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED",
        "Task part load failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545005: (
        "ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED",
        "Kernel part load failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545006: (
        "ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA",
        "Model space release failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545007: (
        "ACL_ERROR_GE_COMMAND_HANDLE",
        "Internal command failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545008: (
        "ACL_ERROR_GE_GET_TENSOR_INFO",
        "Tensor data could not be read.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545009: (
        "ACL_ERROR_GE_UNLOAD_MODEL",
        "Model unload failed.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545601: (
        "ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT",
        "Model run timed out.",
        "Keep the text and the vendor's logs, and report them.",
    ),
    545602: (
        "ACL_ERROR_GE_REDEPLOYING",
        "Redeployment in progress.",
        "Wait and call again.",
    ),
}
