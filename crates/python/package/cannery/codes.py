"""What each return code is called, means, and asks for. Read when something failed."""

# Written by tools/gen_python.py. Do not edit.
CODES: dict[int, tuple[str, str, str]] = {
    100000: (
        "ACL_ERROR_INVALID_PARAM",
        "argument check failed",
        "check the arguments",
    ),
    100001: (
        "ACL_ERROR_UNINITIALIZE",
        "library or feature not initialised",
        "call aclInit (or the feature's own init) first",
    ),
    100002: (
        "ACL_ERROR_REPEAT_INITIALIZE",
        "initialised or loaded twice",
        "avoid the repeated call; harmless for aclInit",
    ),
    100003: (
        "ACL_ERROR_INVALID_FILE",
        "file missing or not accessible",
        "check existence and access rights",
    ),
    100004: (
        "ACL_ERROR_WRITE_FILE",
        "file could not be written",
        "check path and write permission",
    ),
    100005: (
        "ACL_ERROR_INVALID_FILE_SIZE",
        "file size out of range",
        "check the size limits of the call",
    ),
    100006: (
        "ACL_ERROR_PARSE_FILE",
        "file content could not be parsed",
        "check the file syntax",
    ),
    100007: (
        "ACL_ERROR_FILE_MISSING_ATTR",
        "file lacks a required entry",
        "complete the file",
    ),
    100008: (
        "ACL_ERROR_FILE_ATTR_INVALID",
        "file holds a bad value",
        "correct the value",
    ),
    100009: (
        "ACL_ERROR_INVALID_DUMP_CONFIG",
        "dump configuration is wrong",
        "correct the dump configuration",
    ),
    100010: (
        "ACL_ERROR_INVALID_PROFILING_CONFIG",
        "profiling configuration is wrong",
        "correct the profiling configuration",
    ),
    100011: (
        "ACL_ERROR_INVALID_MODEL_ID",
        "unknown model id",
        "check the id and that the model is loaded",
    ),
    100012: (
        "ACL_ERROR_DESERIALIZE_MODEL",
        "model could not be deserialised",
        "rebuild the model for this version",
    ),
    100013: (
        "ACL_ERROR_PARSE_MODEL",
        "model could not be parsed",
        "rebuild the model for this version",
    ),
    100014: (
        "ACL_ERROR_READ_MODEL_FAILURE",
        "model could not be read",
        "check that the model file exists and is readable",
    ),
    100015: (
        "ACL_ERROR_MODEL_SIZE_INVALID",
        "model size is wrong",
        "rebuild the model",
    ),
    100016: (
        "ACL_ERROR_MODEL_MISSING_ATTR",
        "model lacks a required attribute",
        "rebuild the model for this version",
    ),
    100017: (
        "ACL_ERROR_MODEL_INPUT_NOT_MATCH",
        "model inputs do not fit",
        "check the inputs",
    ),
    100018: (
        "ACL_ERROR_MODEL_OUTPUT_NOT_MATCH",
        "model outputs do not fit",
        "check the outputs",
    ),
    100019: (
        "ACL_ERROR_MODEL_NOT_DYNAMIC",
        "model is not dynamic",
        "rebuild the model with dynamic support",
    ),
    100020: (
        "ACL_ERROR_OP_TYPE_NOT_MATCH",
        "operator type does not fit",
        "check the operator type",
    ),
    100021: (
        "ACL_ERROR_OP_INPUT_NOT_MATCH",
        "operator inputs do not fit",
        "check the inputs",
    ),
    100022: (
        "ACL_ERROR_OP_OUTPUT_NOT_MATCH",
        "operator outputs do not fit",
        "check the outputs",
    ),
    100023: (
        "ACL_ERROR_OP_ATTR_NOT_MATCH",
        "operator attributes do not fit",
        "check the attributes",
    ),
    100024: (
        "ACL_ERROR_OP_NOT_FOUND",
        "operator not found",
        "check that the operator type is supported",
    ),
    100025: (
        "ACL_ERROR_OP_LOAD_FAILED",
        "operator could not be loaded",
        "rebuild the operator model for this version",
    ),
    100026: (
        "ACL_ERROR_UNSUPPORTED_DATA_TYPE",
        "data type not supported",
        "use a supported data type",
    ),
    100027: (
        "ACL_ERROR_FORMAT_NOT_MATCH",
        "tensor format does not fit",
        "check the format",
    ),
    100028: (
        "ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED",
        "no kernel selector registered for the operator",
        "call aclopRegisterSelectKernelFunc",
    ),
    100029: (
        "ACL_ERROR_KERNEL_NOT_FOUND",
        "operator kernel not registered",
        "call aclopCreateKernel",
    ),
    100030: (
        "ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED",
        "kernel selector registered twice",
        "register it once",
    ),
    100031: (
        "ACL_ERROR_KERNEL_ALREADY_REGISTERED",
        "operator kernel registered twice",
        "register it once",
    ),
    100032: (
        "ACL_ERROR_INVALID_QUEUE_ID",
        "unknown queue id",
        "check the queue id",
    ),
    100033: (
        "ACL_ERROR_REPEAT_SUBSCRIBE",
        "stream subscribed twice",
        "call aclrtSubscribeReport once per stream",
    ),
    100037: (
        "ACL_ERROR_REPEAT_FINALIZE",
        "de-initialised twice",
        "call aclFinalize or aclFinalizeReference once per need",
    ),
    100039: (
        "ACL_ERROR_COMPILING_STUB_MODE",
        "stub libraries used at run time",
        "point the library path at the real libraries",
    ),
    100042: (
        "ACL_ERROR_PROF_ALREADY_RUN",
        "profiling already active",
        "keep a single profiling setup per device",
    ),
    100043: (
        "ACL_ERROR_PROF_NOT_RUN",
        "profiling not initialised",
        "call aclprofInit first",
    ),
    100044: (
        "ACL_ERROR_DUMP_ALREADY_RUN",
        "dump already configured",
        "configure dump either in aclInit or through the dump calls",
    ),
    100045: (
        "ACL_ERROR_DUMP_NOT_RUN",
        "dump not initialised",
        "call aclmdlInitDump first",
    ),
    107000: (
        "ACL_ERROR_RT_PARAM_INVALID",
        "argument check failed in the runtime",
        "check the arguments",
    ),
    107001: (
        "ACL_ERROR_RT_INVALID_DEVICEID",
        "bad device id",
        "check the device id",
    ),
    107002: (
        "ACL_ERROR_RT_CONTEXT_NULL",
        "no current context",
        "call aclrtSetDevice or aclrtSetCurrentContext",
    ),
    107003: (
        "ACL_ERROR_RT_STREAM_CONTEXT",
        "stream is not in the current context",
        "use the stream in its own context",
    ),
    107004: (
        "ACL_ERROR_RT_MODEL_CONTEXT",
        "model is not in the current context",
        "use the model in its own context",
    ),
    107005: (
        "ACL_ERROR_RT_STREAM_MODEL",
        "stream is not bound to the model",
        "bind the stream first",
    ),
    107006: (
        "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID",
        "event has no valid time stamp",
        "check that the event was created (with timing) and recorded",
    ),
    107007: (
        "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL",
        "event time stamps run backwards",
        "check the events",
    ),
    107008: (
        "ACL_ERROR_RT_ADDR_UNALIGNED",
        "memory address is not aligned",
        "check the alignment",
    ),
    107009: (
        "ACL_ERROR_RT_FILE_OPEN",
        "file could not be opened",
        "check that it exists",
    ),
    107010: (
        "ACL_ERROR_RT_FILE_WRITE",
        "file could not be written",
        "check existence and permission",
    ),
    107011: (
        "ACL_ERROR_RT_STREAM_SUBSCRIBE",
        "stream not subscribed or subscribed twice",
        "check the subscription",
    ),
    107012: (
        "ACL_ERROR_RT_THREAD_SUBSCRIBE",
        "thread not subscribed or subscribed twice",
        "check the subscription",
    ),
    107013: (
        "ACL_ERROR_RT_GROUP_NOT_SET",
        "no compute group selected",
        "call aclrtSetGroup",
    ),
    107014: (
        "ACL_ERROR_RT_GROUP_NOT_CREATE",
        "compute group does not exist",
        "use an id from 0 to group count - 1",
    ),
    107015: (
        "ACL_ERROR_RT_STREAM_NO_CB_REG",
        "callback's stream has no registered thread",
        "call aclrtSubscribeReport",
    ),
    107016: (
        "ACL_ERROR_RT_INVALID_MEMORY_TYPE",
        "memory type is not valid",
        "check the memory type",
    ),
    107017: (
        "ACL_ERROR_RT_INVALID_HANDLE",
        "resource handle is not valid",
        "check the handle and how it is used",
    ),
    107018: (
        "ACL_ERROR_RT_INVALID_MALLOC_TYPE",
        "allocation type is not valid",
        "check the allocation type",
    ),
    107019: (
        "ACL_ERROR_RT_WAIT_TIMEOUT",
        "wait ran out of time",
        "submit the task again",
    ),
    107020: (
        "ACL_ERROR_RT_TASK_TIMEOUT",
        "task ran out of time",
        "check the task order or raise the timeout",
    ),
    107021: (
        "ACL_ERROR_RT_SYSPARAMOPT_NOT_SET",
        "context option was never set",
        "call aclrtCtxSetSysParamOpt first",
    ),
    107022: (
        "ACL_ERROR_RT_DEVICE_TASK_ABORT",
        "conflict with a running device task abort",
        "wait until aclrtDeviceTaskAbort returns",
    ),
    107023: (
        "ACL_ERROR_RT_STREAM_ABORT",
        "stream is being aborted",
        "do not wait on a stream while it is aborted",
    ),
    107024: (
        "ACL_ERROR_RT_CAPTURE_DEPENDENCY",
        "captured wait has no matching record",
        "record the event as well",
    ),
    107025: (
        "ACL_ERROR_RT_STREAM_UNJOINED",
        "captured side stream is not joined back",
        "end it with a record that the main stream waits for",
    ),
    107026: (
        "ACL_ERROR_RT_MODEL_CAPTURED",
        "model is being captured",
        "end the capture first",
    ),
    107027: (
        "ACL_ERROR_RT_STREAM_CAPTURED",
        "stream is being captured",
        "end the capture first",
    ),
    107028: (
        "ACL_ERROR_RT_EVENT_CAPTURED",
        "event is being captured",
        "end the capture first",
    ),
    107029: (
        "ACL_ERROR_RT_STREAM_NOT_CAPTURED",
        "stream is not being captured",
        "begin a capture first",
    ),
    107030: (
        "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT",
        "operation not allowed in the capture mode",
        "switch the capture mode",
    ),
    107031: (
        "ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT",
        "default stream used during capture",
        "use another stream",
    ),
    107032: (
        "ACL_ERROR_STREAM_CAPTURE_CONFLICT",
        "event and stream belong to different captures",
        "do not link captures through events",
    ),
    107033: (
        "ACL_ERROR_STREAM_TASK_GROUP_STATUS",
        "task group is in a wrong state",
        "pair begin and end; one recording and one update at a time",
    ),
    107034: (
        "ACL_ERROR_STREAM_TASK_GROUP_INTR",
        "task group recording was interrupted",
        "submit tasks only to the recording stream",
    ),
    107035: (
        "ACL_ERROR_RT_TASK_ABORT_STOP",
        "device task abort stopped before its post stage (header only)",
        "",
    ),
    107036: (
        "ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED",
        "capture end without begin on the stream",
        "pair begin and end",
    ),
    107037: (
        "ACL_ERROR_RT_MODEL_RUNNING",
        "model is still running",
        "destroy it after it finished",
    ),
    107038: (
        "ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD",
        "capture ended in another thread",
        "end in the same thread or use RELAXED mode",
    ),
    107039: (
        "ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY",
        "output array too small",
        "enlarge the array",
    ),
    107040: (
        "ACL_ERROR_RT_MODEL_UPDATE_FAILED",
        "model update failed",
        "model must be captured, idle, and its updates successful",
    ),
    107041: (
        "ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC",
        "asynchronous call would turn synchronous during capture",
        "switch the capture mode",
    ),
    107042: (
        "ACL_ERROR_RT_SYMBOL_NOT_FOUND",
        "symbol not found",
        "check the variable name against the binary",
    ),
    107043: (
        "ACL_ERROR_RT_INVALID_SYMBOL",
        "symbol is not a device variable",
        "declare the variable in device code",
    ),
    107044: (
        "ACL_ERROR_RT_INVALID_DEVICE_FUNCTION",
        "symbol is not a kernel",
        "declare the kernel in device code",
    ),
    107045: (
        "ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING",
        "a child graph is being captured (header only)",
        "",
    ),
    145000: (
        "ACL_ERROR_GE_PARAM_INVALID",
        "argument check failed in the graph engine",
        "check the arguments",
    ),
    145001: (
        "ACL_ERROR_GE_EXEC_NOT_INIT",
        "graph engine not initialised",
        "call aclInit (or the feature's init) first",
    ),
    145002: (
        "ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID",
        "bad model path",
        "check the path",
    ),
    145003: (
        "ACL_ERROR_GE_EXEC_MODEL_ID_INVALID",
        "unknown model id",
        "check the id and that the model is loaded",
    ),
    145006: (
        "ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID",
        "model size is wrong",
        "rebuild the model",
    ),
    145007: (
        "ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID",
        "bad model address",
        "check the address",
    ),
    145008: (
        "ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID",
        "unknown queue id",
        "check the queue id",
    ),
    145009: (
        "ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED",
        "initialised or loaded twice",
        "avoid the repeated call",
    ),
    145011: (
        "ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID",
        "bad dynamic input address",
        "check the address",
    ),
    145012: (
        "ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID",
        "bad dynamic input length",
        "check the length",
    ),
    145013: (
        "ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID",
        "bad dynamic batch size",
        "check the batch size",
    ),
    145014: (
        "ACL_ERROR_GE_AIPP_BATCH_EMPTY",
        "bad image preprocessing batch size",
        "check the batch size",
    ),
    145015: (
        "ACL_ERROR_GE_AIPP_NOT_EXIST",
        "no image preprocessing configuration",
        "configure it",
    ),
    145016: (
        "ACL_ERROR_GE_AIPP_MODE_INVALID",
        "bad image preprocessing mode",
        "check the mode used at conversion",
    ),
    145017: (
        "ACL_ERROR_GE_OP_TASK_TYPE_INVALID",
        "bad task type",
        "check the operator type",
    ),
    145018: (
        "ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID",
        "bad operator type",
        "check the operator type",
    ),
    145019: (
        "ACL_ERROR_GE_PLGMGR_PATH_INVALID",
        "shared library missing or path too deep",
        "check LD_LIBRARY_PATH",
    ),
    145020: (
        "ACL_ERROR_GE_FORMAT_INVALID",
        "bad tensor format",
        "check the format",
    ),
    145021: (
        "ACL_ERROR_GE_SHAPE_INVALID",
        "bad tensor shape",
        "check the shape",
    ),
    145022: (
        "ACL_ERROR_GE_DATATYPE_INVALID",
        "bad tensor data type",
        "check the type",
    ),
    148046: (
        "ACL_ERROR_PROF_REPEAT_SUBSCRIBE",
        "model subscribed twice for profiling",
        "check the call order",
    ),
    148047: (
        "ACL_ERROR_PROF_API_CONFLICT",
        "two profiling methods mixed",
        "do not interleave init/start and subscribe families",
    ),
    148048: (
        "ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG",
        "operator cache ageing setting is wrong",
        "correct max_opqueue_num",
    ),
    148049: (
        "ACL_ERROR_INVALID_OPP_PATH",
        "ASCEND_OPP_PATH missing or wrong",
        "set it to the operator package directory",
    ),
    148050: (
        "ACL_ERROR_OP_UNSUPPORTED_DYNAMIC",
        "operator does not take dynamic shapes",
        "use fixed shapes",
    ),
    148051: (
        "ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED",
        "a dependent resource still exists",
        "destroy the channel before its description",
    ),
    148052: (
        "ACL_ERROR_UNSUPPORTED_JPEG",
        "JPEG variant not supported by the decoder",
        "use Huffman baseline YUV images",
    ),
    148053: (
        "ACL_ERROR_INVALID_BUNDLE_MODEL_ID",
        "unknown bundle model id",
        "check the id and that the model is loaded",
    ),
    200000: (
        "ACL_ERROR_BAD_ALLOC",
        "memory allocation failed",
        "check free memory",
    ),
    200001: (
        "ACL_ERROR_API_NOT_SUPPORT",
        "call not supported",
        "check support for the call",
    ),
    200003: (
        "ACL_ERROR_MEMORY_ADDRESS_UNALIGNED",
        "address alignment is wrong",
        "follow the alignment rule of the call",
    ),
    200004: (
        "ACL_ERROR_RESOURCE_NOT_MATCH",
        "resource belongs elsewhere",
        "pass the right stream or context",
    ),
    200005: (
        "ACL_ERROR_INVALID_RESOURCE_HANDLE",
        "resource handle is not valid",
        "check whether the stream or context was destroyed or is in use",
    ),
    200006: (
        "ACL_ERROR_FEATURE_UNSUPPORTED",
        "feature not supported",
        "report to vendor support with logs",
    ),
    200007: (
        "ACL_ERROR_PROF_MODULES_UNSUPPORTED",
        "profiling setting not supported",
        "check the profiling configuration",
    ),
    207000: (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
        "feature not supported",
        "report to vendor support with logs",
    ),
    207001: (
        "ACL_ERROR_RT_MEMORY_ALLOCATION",
        "memory allocation failed; header: used for out of memory only",
        "check free memory",
    ),
    207002: (
        "ACL_ERROR_RT_MEMORY_FREE",
        "memory could not be freed",
        "report to vendor support with logs",
    ),
    207003: (
        "ACL_ERROR_RT_AICORE_OVER_FLOW",
        "AI Core operator overflowed",
        "find the operator with dump data",
    ),
    207004: (
        "ACL_ERROR_RT_NO_DEVICE",
        "device not usable",
        "check that the device runs",
    ),
    207005: (
        "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
        "resource allocation failed",
        "release unused streams and similar",
    ),
    207006: (
        "ACL_ERROR_RT_NO_PERMISSION",
        "no permission",
        "check the user's rights",
    ),
    207007: (
        "ACL_ERROR_RT_NO_EVENT_RESOURCE",
        "no event left",
        "stay within the event limit",
    ),
    207008: (
        "ACL_ERROR_RT_NO_STREAM_RESOURCE",
        "no stream left",
        "stay within the stream limit",
    ),
    207009: (
        "ACL_ERROR_RT_NO_NOTIFY_RESOURCE",
        "no notify left",
        "run fewer media tasks or models",
    ),
    207010: (
        "ACL_ERROR_RT_NO_MODEL_RESOURCE",
        "no model resource left",
        "unload models",
    ),
    207011: (
        "ACL_ERROR_RT_NO_CDQ_RESOURCE",
        "internal resource exhausted",
        "report to vendor support with logs",
    ),
    207012: (
        "ACL_ERROR_RT_OVER_LIMIT",
        "too many queues",
        "destroy unneeded queues",
    ),
    207013: (
        "ACL_ERROR_RT_QUEUE_EMPTY",
        "queue is empty",
        "enqueue before dequeue",
    ),
    207014: (
        "ACL_ERROR_RT_QUEUE_FULL",
        "queue is full",
        "dequeue before enqueue",
    ),
    207015: (
        "ACL_ERROR_RT_REPEATED_INIT",
        "queue initialised twice",
        "initialise once",
    ),
    207016: (
        "ACL_ERROR_RT_AIVEC_OVER_FLOW",
        "vector core operator overflowed (header only)",
        "",
    ),
    207017: (
        "ACL_ERROR_RT_OVER_FLOW",
        "operator overflowed (header only)",
        "",
    ),
    207018: (
        "ACL_ERROR_RT_DEVICE_OOM",
        "device memory exhausted (docs spell it DEVIDE_OOM)",
        "plan device memory within its size",
    ),
    207019: (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP",
        "driver cannot update this operator",
        "upgrade the driver",
    ),
    207020: (
        "ACL_ERROR_RT_TIMEOUT",
        "driver call timed out (header only)",
        "",
    ),
    207021: (
        "ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED",
        "link type not supported",
        "use a link the hardware has",
    ),
    245000: (
        "ACL_ERROR_GE_MEMORY_ALLOCATION",
        "memory allocation failed",
        "check free memory",
    ),
    245001: (
        "ACL_ERROR_GE_MEMORY_OPERATE_FAILED",
        "memory fill or copy failed",
        "check address and free memory",
    ),
    245002: (
        "ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED",
        "device memory could not be obtained (docs name it DEVICE_MEMORY_ALLOCATION_FAILED)",
        "free device memory and retry",
    ),
    300000: (
        "ACL_ERROR_STORAGE_OVER_LIMIT",
        "storage limit exceeded",
        "check free storage",
    ),
    345102: (
        "ACL_ERROR_GE_SUBHEALTHY",
        "degraded after redeployment; calls still work",
        "",
    ),
    345103: (
        "ACL_ERROR_GE_USER_RAISE_EXCEPTION",
        "user function raised an exception",
        "identify the input by its user data",
    ),
    345104: (
        "ACL_ERROR_GE_DATA_NOT_ALIGNED",
        "user function produced too few outputs",
        "set all outputs",
    ),
    500000: (
        "ACL_ERROR_INTERNAL_ERROR",
        "unknown internal error",
        "report to vendor support with logs",
    ),
    500001: (
        "ACL_ERROR_FAILURE",
        "internal error",
        "report to vendor support with logs",
    ),
    500002: (
        "ACL_ERROR_GE_FAILURE",
        "graph engine error",
        "report to vendor support with logs",
    ),
    500003: (
        "ACL_ERROR_RT_FAILURE",
        "runtime module error",
        "report to vendor support with logs",
    ),
    500004: (
        "ACL_ERROR_DRV_FAILURE",
        "driver module error",
        "report to vendor support with logs",
    ),
    500005: (
        "ACL_ERROR_PROFILING_FAILURE",
        "profiling module error",
        "report to vendor support with logs",
    ),
    507000: (
        "ACL_ERROR_RT_INTERNAL_ERROR",
        "runtime internal error",
        "report to vendor support with logs",
    ),
    507001: (
        "ACL_ERROR_RT_TS_ERROR",
        "task scheduler internal error",
        "report to vendor support with logs",
    ),
    507002: (
        "ACL_ERROR_RT_STREAM_TASK_FULL",
        "stream holds too many tasks",
        "report to vendor support with logs",
    ),
    507003: (
        "ACL_ERROR_RT_STREAM_TASK_EMPTY",
        "stream holds no task",
        "report to vendor support with logs",
    ),
    507004: (
        "ACL_ERROR_RT_STREAM_NOT_COMPLETE",
        "stream has unfinished tasks",
        "report to vendor support with logs",
    ),
    507005: (
        "ACL_ERROR_RT_END_OF_SEQUENCE",
        "AI CPU task sequence ended",
        "report to vendor support with logs",
    ),
    507006: (
        "ACL_ERROR_RT_EVENT_NOT_COMPLETE",
        "event not complete",
        "report to vendor support with logs",
    ),
    507007: (
        "ACL_ERROR_RT_CONTEXT_RELEASE_ERROR",
        "context could not be released",
        "report to vendor support with logs",
    ),
    507008: (
        "ACL_ERROR_RT_SOC_VERSION",
        "chip version could not be read",
        "report to vendor support with logs",
    ),
    507009: (
        "ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT",
        "task type not supported",
        "report to vendor support with logs",
    ),
    507010: (
        "ACL_ERROR_RT_LOST_HEARTBEAT",
        "task scheduler heartbeat lost",
        "report to vendor support with logs",
    ),
    507011: (
        "ACL_ERROR_RT_MODEL_EXECUTE",
        "model run failed",
        "report to vendor support with logs",
    ),
    507012: (
        "ACL_ERROR_RT_REPORT_TIMEOUT",
        "no scheduler report in time (callback wait ended)",
        "raise the timeout, then check logs",
    ),
    507013: (
        "ACL_ERROR_RT_SYS_DMA",
        "system DMA failed",
        "report to vendor support with logs",
    ),
    507014: (
        "ACL_ERROR_RT_AICORE_TIMEOUT",
        "AI Core timed out",
        "report to vendor support with logs",
    ),
    507015: (
        "ACL_ERROR_RT_AICORE_EXCEPTION",
        "AI Core exception",
        "report to vendor support with logs",
    ),
    507016: (
        "ACL_ERROR_RT_AICORE_TRAP_EXCEPTION",
        "AI Core trap",
        "report to vendor support with logs",
    ),
    507017: (
        "ACL_ERROR_RT_AICPU_TIMEOUT",
        "AI CPU timed out",
        "report to vendor support with logs",
    ),
    507018: (
        "ACL_ERROR_RT_AICPU_EXCEPTION",
        "AI CPU exception",
        "report to vendor support with logs",
    ),
    507019: (
        "ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR",
        "AI CPU gave no answer after dump",
        "report to vendor support with logs",
    ),
    507020: (
        "ACL_ERROR_RT_AICPU_MODEL_RSP_ERR",
        "AI CPU gave no answer after a model run",
        "report to vendor support with logs",
    ),
    507021: (
        "ACL_ERROR_RT_PROFILING_ERROR",
        "profiling failed",
        "report to vendor support with logs",
    ),
    507022: (
        "ACL_ERROR_RT_IPC_ERROR",
        "inter-process communication failed",
        "report to vendor support with logs",
    ),
    507023: (
        "ACL_ERROR_RT_MODEL_ABORT_NORMAL",
        "model exited",
        "report to vendor support with logs",
    ),
    507024: (
        "ACL_ERROR_RT_KERNEL_UNREGISTERING",
        "operator is being unregistered",
        "report to vendor support with logs",
    ),
    507025: (
        "ACL_ERROR_RT_RINGBUFFER_NOT_INIT",
        "ring buffer not initialised",
        "report to vendor support with logs",
    ),
    507026: (
        "ACL_ERROR_RT_RINGBUFFER_NO_DATA",
        "ring buffer empty",
        "report to vendor support with logs",
    ),
    507027: (
        "ACL_ERROR_RT_KERNEL_LOOKUP",
        "internal kernel not registered",
        "report to vendor support with logs",
    ),
    507028: (
        "ACL_ERROR_RT_KERNEL_DUPLICATE",
        "internal kernel registered twice",
        "report to vendor support with logs",
    ),
    507029: (
        "ACL_ERROR_RT_DEBUG_REGISTER_FAIL",
        "debug registration failed",
        "report to vendor support with logs",
    ),
    507030: (
        "ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL",
        "debug unregistration failed",
        "report to vendor support with logs",
    ),
    507031: (
        "ACL_ERROR_RT_LABEL_CONTEXT",
        "label is not in the current context",
        "report to vendor support with logs",
    ),
    507032: (
        "ACL_ERROR_RT_PROGRAM_USE_OUT",
        "too many programs registered",
        "report to vendor support with logs",
    ),
    507033: (
        "ACL_ERROR_RT_DEV_SETUP_ERROR",
        "device start failed",
        "report to vendor support with logs",
    ),
    507034: (
        "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT",
        "vector core timed out",
        "report to vendor support with logs",
    ),
    507035: (
        "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
        "vector core exception",
        "report to vendor support with logs",
    ),
    507036: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION",
        "vector core trap",
        "report to vendor support with logs",
    ),
    507037: (
        "ACL_ERROR_RT_CDQ_BATCH_ABNORMAL",
        "internal resource allocation abnormal",
        "report to vendor support with logs",
    ),
    507038: (
        "ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR",
        "die mode cannot change",
        "report to vendor support with logs",
    ),
    507039: (
        "ACL_ERROR_RT_DIE_SET_ERROR",
        "die cannot be chosen in single-die mode",
        "report to vendor support with logs",
    ),
    507040: (
        "ACL_ERROR_RT_INVALID_DIEID",
        "bad die id",
        "report to vendor support with logs",
    ),
    507041: (
        "ACL_ERROR_RT_DIE_MODE_NOT_SET",
        "die mode not set",
        "report to vendor support with logs",
    ),
    507042: (
        "ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW",
        "AI Core read out of bounds",
        "report to vendor support with logs",
    ),
    507043: (
        "ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW",
        "AI Core write out of bounds",
        "report to vendor support with logs",
    ),
    507044: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW",
        "vector core read out of bounds",
        "report to vendor support with logs",
    ),
    507045: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW",
        "vector core write out of bounds",
        "report to vendor support with logs",
    ),
    507046: (
        "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT",
        "stream tasks unfinished when the timed wait ended",
        "report to vendor support with logs",
    ),
    507047: (
        "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT",
        "event unfinished when the timed wait ended",
        "report to vendor support with logs",
    ),
    507048: (
        "ACL_ERROR_RT_FFTS_PLUS_TIMEOUT",
        "internal task timed out",
        "report to vendor support with logs",
    ),
    507049: (
        "ACL_ERROR_RT_FFTS_PLUS_EXCEPTION",
        "internal task exception",
        "report to vendor support with logs",
    ),
    507050: (
        "ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION",
        "internal task trap",
        "report to vendor support with logs",
    ),
    507051: (
        "ACL_ERROR_RT_SEND_MSG",
        "message could not be sent while enqueueing",
        "report to vendor support with logs",
    ),
    507052: (
        "ACL_ERROR_RT_COPY_DATA",
        "copy failed while enqueueing",
        "report to vendor support with logs",
    ),
    507053: (
        "ACL_ERROR_RT_DEVICE_MEM_ERROR",
        "uncorrectable device memory error",
        "aclrtGetMemUceInfo, then repair",
    ),
    507054: (
        "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR",
        "HBM multi-bit ECC fault",
        "report to vendor support with logs",
    ),
    507055: (
        "ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR",
        "peer device memory may be faulty",
        "check the peer device's process",
    ),
    507056: (
        "ACL_ERROR_RT_LINK_ERROR",
        "link between two devices broke",
        "retry, then check the link",
    ),
    507057: (
        "ACL_ERROR_RT_SUSPECT_REMOTE_ERROR",
        "peer memory faulty or local access out of bounds",
        "check the peer process and local accesses",
    ),
    507899: (
        "ACL_ERROR_RT_DRV_INTERNAL_ERROR",
        "driver internal error",
        "report to vendor support with logs",
    ),
    507900: (
        "ACL_ERROR_RT_AICPU_INTERNAL_ERROR",
        "AI CPU internal error",
        "report to vendor support with logs",
    ),
    507901: (
        "ACL_ERROR_RT_SOCKET_CLOSE",
        "host-device link closed",
        "report to vendor support with logs",
    ),
    507902: (
        "ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR",
        "AI CPU scheduling failed",
        "report to vendor support with logs",
    ),
    507903: (
        "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED",
        "capture became invalid",
        "report to vendor support with logs",
    ),
    507904: (
        "ACL_ERROR_RT_COMM_OP_RETRY_FAIL",
        "communication operator retry failed",
        "report to vendor support with logs",
    ),
    507905: (
        "ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT",
        "process lock timed out",
        "report to vendor support with logs",
    ),
    507906: (
        "ACL_ERROR_SNAPSHOT_LOCK_FAILED",
        "process lock failed",
        "report to vendor support with logs",
    ),
    507907: (
        "ACL_ERROR_SNAPSHOT_UNLOCK_FAILED",
        "process unlock failed",
        "report to vendor support with logs",
    ),
    507908: (
        "ACL_ERROR_SNAPSHOT_BACKUP_FAILED",
        "process backup failed",
        "report to vendor support with logs",
    ),
    507909: (
        "ACL_ERROR_SNAPSHOT_RESTORE_FAILED",
        "process restore failed",
        "report to vendor support with logs",
    ),
    507910: (
        "ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        "host range is registered already",
        "report to vendor support with logs",
    ),
    507911: (
        "ACL_ERROR_HOST_MEMORY_NOT_REGISTERED",
        "host memory to unregister was not registered",
        "report to vendor support with logs",
    ),
    507912: (
        "ACL_ERROR_SNAPSHOT_CALLBACK_FAILED",
        "snapshot callback failed",
        "report to vendor support with logs",
    ),
    507913: (
        "ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED",
        "snapshot callback registration failed",
        "report to vendor support with logs",
    ),
    507914: (
        "ACL_ERROR_RT_L3_PORT_ERROR",
        "L3 port error",
        "report to vendor support with logs",
    ),
    507915: (
        "ACL_ERROR_RT_CCU_TIMEOUT",
        "CCU timed out",
        "report to vendor support with logs",
    ),
    507916: (
        "ACL_ERROR_RT_CCU_EXCEPTION",
        "CCU exception",
        "report to vendor support with logs",
    ),
    545000: (
        "ACL_ERROR_GE_INTERNAL_ERROR",
        "unknown graph engine error",
        "report to vendor support with logs",
    ),
    545001: (
        "ACL_ERROR_GE_LOAD_MODEL",
        "model load failed",
        "report to vendor support with logs",
    ),
    545002: (
        "ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED",
        "model part load failed",
        "report to vendor support with logs",
    ),
    545003: (
        "ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED",
        "weight part load failed",
        "report to vendor support with logs",
    ),
    545004: (
        "ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED",
        "task part load failed",
        "report to vendor support with logs",
    ),
    545005: (
        "ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED",
        "kernel part load failed",
        "report to vendor support with logs",
    ),
    545006: (
        "ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA",
        "model space release failed",
        "report to vendor support with logs",
    ),
    545007: (
        "ACL_ERROR_GE_COMMAND_HANDLE",
        "internal command failed",
        "report to vendor support with logs",
    ),
    545008: (
        "ACL_ERROR_GE_GET_TENSOR_INFO",
        "tensor data could not be read",
        "report to vendor support with logs",
    ),
    545009: (
        "ACL_ERROR_GE_UNLOAD_MODEL",
        "model unload failed",
        "report to vendor support with logs",
    ),
    545601: (
        "ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT",
        "model run timed out",
        "report to vendor support with logs",
    ),
    545602: (
        "ACL_ERROR_GE_REDEPLOYING",
        "redeployment in progress",
        "wait and call again",
    ),
}
