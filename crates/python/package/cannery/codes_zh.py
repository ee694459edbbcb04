"""What each return code is called, means, and asks for. Read when something failed."""

# Written by tools/gen_python.py. Do not edit.
CODES: dict[int, tuple[str, str, str]] = {
    100000: (
        "ACL_ERROR_INVALID_PARAM",
        "参数本身不合法，在检查其他条件之前就被拒绝。",
        "阅读错误文本：其中给出了参数名、参数值和允许的取值。请检查产生该参数的那次调用的返回码。",
    ),
    100001: (
        "ACL_ERROR_UNINITIALIZE",
        "库或某项功能尚未初始化。",
        "先调用一次 aclInit 再使用其他接口；确认不再有任何调用之后才调用 aclFinalize。",
    ),
    100002: (
        "ACL_ERROR_REPEAT_INITIALIZE",
        "重复调用了 aclInit。会计数，可以忽略。",
        "把 100002 当作成功处理。每次 aclInit 对应一次 aclFinalizeReference；aclFinalize 则一次全部结束。",
    ),
    100003: (
        "ACL_ERROR_INVALID_FILE",
        "文件无法打开。",
        "打印工作目录和路径进行核对；建议使用绝对路径。",
    ),
    100004: (
        "ACL_ERROR_WRITE_FILE",
        "文件写入失败。",
        "检查路径和写权限。",
    ),
    100005: (
        "ACL_ERROR_INVALID_FILE_SIZE",
        "文件大小超出范围。",
        "检查该接口的大小限制。",
    ),
    100006: (
        "ACL_ERROR_PARSE_FILE",
        "文件内容无法解析。",
        "用 JSON 检查工具验证该文件；最小的合法内容是 `{}`。",
    ),
    100007: (
        "ACL_ERROR_FILE_MISSING_ATTR",
        "文件缺少必需的配置项。",
        "补全文件内容。",
    ),
    100008: (
        "ACL_ERROR_FILE_ATTR_INVALID",
        "文件中的配置值无效。",
        "修正该值。",
    ),
    100009: (
        "ACL_ERROR_INVALID_DUMP_CONFIG",
        "dump 配置有误。",
        "修正 dump 配置。",
    ),
    100010: (
        "ACL_ERROR_INVALID_PROFILING_CONFIG",
        "profiling 配置有误。",
        "修正 profiling 配置。",
    ),
    100011: (
        "ACL_ERROR_INVALID_MODEL_ID",
        "模型 id 无效。",
        "检查 id，并确认模型已加载。",
    ),
    100012: (
        "ACL_ERROR_DESERIALIZE_MODEL",
        "模型反序列化失败。",
        "用当前版本重新转换模型。",
    ),
    100013: (
        "ACL_ERROR_PARSE_MODEL",
        "模型解析失败。",
        "用当前版本重新转换模型。",
    ),
    100014: (
        "ACL_ERROR_READ_MODEL_FAILURE",
        "模型读取失败。",
        "检查模型文件是否存在且可读。",
    ),
    100015: (
        "ACL_ERROR_MODEL_SIZE_INVALID",
        "模型大小有误。",
        "重新转换模型。",
    ),
    100016: (
        "ACL_ERROR_MODEL_MISSING_ATTR",
        "模型缺少必需的属性。",
        "用当前版本重新转换模型。",
    ),
    100017: (
        "ACL_ERROR_MODEL_INPUT_NOT_MATCH",
        "模型输入不匹配。",
        "检查输入。",
    ),
    100018: (
        "ACL_ERROR_MODEL_OUTPUT_NOT_MATCH",
        "模型输出不匹配。",
        "检查输出。",
    ),
    100019: (
        "ACL_ERROR_MODEL_NOT_DYNAMIC",
        "模型不是动态模型。",
        "以支持动态的方式重新转换模型。",
    ),
    100020: (
        "ACL_ERROR_OP_TYPE_NOT_MATCH",
        "算子类型不匹配。",
        "检查算子类型。",
    ),
    100021: (
        "ACL_ERROR_OP_INPUT_NOT_MATCH",
        "算子输入不匹配。",
        "检查输入。",
    ),
    100022: (
        "ACL_ERROR_OP_OUTPUT_NOT_MATCH",
        "算子输出不匹配。",
        "检查输出。",
    ),
    100023: (
        "ACL_ERROR_OP_ATTR_NOT_MATCH",
        "算子属性不匹配。",
        "检查属性。",
    ),
    100024: (
        "ACL_ERROR_OP_NOT_FOUND",
        "找不到算子。",
        "确认支持该算子类型。",
    ),
    100025: (
        "ACL_ERROR_OP_LOAD_FAILED",
        "算子加载失败。",
        "用当前版本重新编译算子模型。",
    ),
    100026: (
        "ACL_ERROR_UNSUPPORTED_DATA_TYPE",
        "不支持的数据类型。",
        "使用支持的数据类型。",
    ),
    100027: (
        "ACL_ERROR_FORMAT_NOT_MATCH",
        "Tensor 格式不匹配。",
        "检查格式。",
    ),
    100028: (
        "ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED",
        "算子没有注册核函数选择器。",
        "调用 aclopRegisterSelectKernelFunc。",
    ),
    100029: (
        "ACL_ERROR_KERNEL_NOT_FOUND",
        "算子核函数未注册。",
        "调用 aclopCreateKernel。",
    ),
    100030: (
        "ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED",
        "核函数选择器重复注册。",
        "只注册一次。",
    ),
    100031: (
        "ACL_ERROR_KERNEL_ALREADY_REGISTERED",
        "算子核函数重复注册。",
        "只注册一次。",
    ),
    100032: (
        "ACL_ERROR_INVALID_QUEUE_ID",
        "不存在该队列 id。",
        "将队列 id 与其设备一起保存；使用其他进程的队列前先 attach。",
    ),
    100033: (
        "ACL_ERROR_REPEAT_SUBSCRIBE",
        "stream 重复订阅。",
        "每个 stream 只调用一次 aclrtSubscribeReport。",
    ),
    100037: (
        "ACL_ERROR_REPEAT_FINALIZE",
        "没有对应的 aclInit 就调用了 aclFinalize 或 aclFinalizeReference。",
        "只在一处去初始化，并放在最后。",
    ),
    100039: (
        "ACL_ERROR_COMPILING_STUB_MODE",
        "运行时使用了 stub 库。",
        "让库搜索路径指向真正的库，可运行 cannery doctor 查看。",
    ),
    100042: (
        "ACL_ERROR_PROF_ALREADY_RUN",
        "profiling 已在运行。",
        "每个设备只保留一个 profiling 配置。",
    ),
    100043: (
        "ACL_ERROR_PROF_NOT_RUN",
        "profiling 未初始化。",
        "先调用 aclprofInit。",
    ),
    100044: (
        "ACL_ERROR_DUMP_ALREADY_RUN",
        "dump 已配置。",
        "在 aclInit 或 dump 接口中二选一进行配置。",
    ),
    100045: (
        "ACL_ERROR_DUMP_NOT_RUN",
        "dump 未初始化。",
        "先调用 aclmdlInitDump。",
    ),
    107000: (
        "ACL_ERROR_RT_PARAM_INVALID",
        "范围、标志、句柄或地址不符合该接口的要求。",
        "阅读错误文本：其中说明了该地址是什么、应由哪个接口释放。可用 aclrtPointerGetAttributes 查询地址的类型。",
    ),
    107001: (
        "ACL_ERROR_RT_INVALID_DEVICEID",
        "设备 id 无效。",
        "先调用 aclrtGetDeviceCount，id 必须小于返回值。",
    ),
    107002: (
        "ACL_ERROR_RT_CONTEXT_NULL",
        "调用线程没有 context，或给出的 context 已不存在。",
        "在每个线程中调用 aclrtSetDevice，或用 aclrtGetCurrentContext 与 aclrtSetCurrentContext 传递 context。错误文本的第一行会指出是哪次调用使线程失去了 context。",
    ),
    107003: (
        "ACL_ERROR_RT_STREAM_CONTEXT",
        "stream（或 event）不属于当前 context。",
        "使用前先切换到该 stream 的 context（aclrtSetCurrentContext）；建议把设备和 stream 放在同一个对象中管理。",
    ),
    107004: (
        "ACL_ERROR_RT_MODEL_CONTEXT",
        "模型不属于当前 context。",
        "在模型自己的 context 中使用。",
    ),
    107005: (
        "ACL_ERROR_RT_STREAM_MODEL",
        "stream 没有绑定到该模型。",
        "先绑定 stream。",
    ),
    107006: (
        "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID",
        "event 没有有效的时间戳。",
        "先 record 并同步，再查询时间；创建时使用 ACL_EVENT_TIME_LINE。",
    ),
    107007: (
        "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL",
        "event 的时间戳先后颠倒。",
        "检查两个 event 的先后顺序。",
    ),
    107008: (
        "ACL_ERROR_RT_ADDR_UNALIGNED",
        "内存地址未按要求对齐。",
        "使用 aclrtMalloc* 或 aclrtMallocHost 分配，或按错误文本中的要求手动对齐（posix_memalign）。",
    ),
    107009: (
        "ACL_ERROR_RT_FILE_OPEN",
        "运行时无法打开文件。",
        "使用绝对路径，并确认进程的用户有读取权限。",
    ),
    107010: (
        "ACL_ERROR_RT_FILE_WRITE",
        "文件写入失败。",
        "检查文件是否存在以及写权限。",
    ),
    107011: (
        "ACL_ERROR_RT_STREAM_SUBSCRIBE",
        "stream 未订阅回调，或重复订阅。",
        "每个 stream 只订阅一次，取消订阅时使用同一对线程和 stream。",
    ),
    107012: (
        "ACL_ERROR_RT_THREAD_SUBSCRIBE",
        "线程未订阅回调。",
        "先启动线程，用它的 id 订阅，并在该线程中调用 aclrtProcessReport。",
    ),
    107013: (
        "ACL_ERROR_RT_GROUP_NOT_SET",
        "没有选择计算分组。",
        "先调用 aclrtSetGroup。",
    ),
    107014: (
        "ACL_ERROR_RT_GROUP_NOT_CREATE",
        "计算分组不存在。",
        "id 取 0 到分组数量减 1。",
    ),
    107015: (
        "ACL_ERROR_RT_STREAM_NO_CB_REG",
        "在没有处理线程的 stream 上下发了回调。",
        "先订阅该 stream，并保持一个线程循环调用 aclrtProcessReport。aclrtLaunchHostFunc 不需要订阅。",
    ),
    107016: (
        "ACL_ERROR_RT_INVALID_MEMORY_TYPE",
        "内存类型或属性无效。",
        "使用头文件中定义的枚举值；填写结构体前先清零。",
    ),
    107017: (
        "ACL_ERROR_RT_INVALID_HANDLE",
        "资源句柄无效。",
        "销毁后将句柄置为 NULL；其他进程导出的资源要先导入再使用。",
    ),
    107018: (
        "ACL_ERROR_RT_INVALID_MALLOC_TYPE",
        "内存分配类型无效。",
        "检查分配类型。",
    ),
    107019: (
        "ACL_ERROR_RT_WAIT_TIMEOUT",
        "等待超时。",
        "确认有任务会 record 或 notify；适当增大超时时间。",
    ),
    107020: (
        "ACL_ERROR_RT_TASK_TIMEOUT",
        "任务执行超时。",
        "增大超时时间（aclrtSetOpExecuteTimeOut 等）；检查是否存在循环等待。",
    ),
    107021: (
        "ACL_ERROR_RT_SYSPARAMOPT_NOT_SET",
        "该 context 选项从未设置。",
        "先设置，或把该返回码理解为“未设置”。",
    ),
    107022: (
        "ACL_ERROR_RT_DEVICE_TASK_ABORT",
        "设备正在终止任务。",
        "等待其返回后再下发任务。",
    ),
    107023: (
        "ACL_ERROR_RT_STREAM_ABORT",
        "stream 被中止，其任务已丢弃。",
        "把已下发的任务视为未执行；不要等待正在中止的 stream。",
    ),
    107024: (
        "ACL_ERROR_RT_CAPTURE_DEPENDENCY",
        "捕获中的 wait 没有对应的 record。",
        "在参与捕获的 stream 中 record 该 event。",
    ),
    107025: (
        "ACL_ERROR_RT_STREAM_UNJOINED",
        "捕获中的旁路 stream 没有汇合回主 stream。",
        "在每个旁路 stream 末尾 record 一个 event，并让主 stream 等待它。",
    ),
    107026: (
        "ACL_ERROR_RT_MODEL_CAPTURED",
        "模型正在捕获中，不能执行该操作。",
        "先结束捕获。",
    ),
    107027: (
        "ACL_ERROR_RT_STREAM_CAPTURED",
        "stream 正在捕获中，不允许对其执行该操作。",
        "把该调用移到捕获之前或之后，或改用异步接口。",
    ),
    107028: (
        "ACL_ERROR_RT_EVENT_CAPTURED",
        "event 正在捕获中。",
        "捕获之外的任务请使用另一个 event。",
    ),
    107029: (
        "ACL_ERROR_RT_STREAM_NOT_CAPTURED",
        "stream 没有处于捕获状态。",
        "在同一个 stream 上成对调用开始与结束。",
    ),
    107030: (
        "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT",
        "当前捕获模式不允许该操作。",
        "在捕获开始前完成该调用，或用 aclmdlRICaptureThreadExchangeMode 切换模式。",
    ),
    107031: (
        "ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT",
        "捕获期间使用了默认 stream。",
        "捕获期间一律使用 aclrtCreateStream 创建的 stream。",
    ),
    107032: (
        "ACL_ERROR_STREAM_CAPTURE_CONFLICT",
        "event 会把两个捕获连在一起。",
        "将各捕获分开；相互依赖的 stream 应放在同一个捕获中。",
    ),
    107033: (
        "ACL_ERROR_STREAM_TASK_GROUP_STATUS",
        "任务组状态错误。",
        "成对调用开始与结束；同一时间只进行一个记录或更新。",
    ),
    107034: (
        "ACL_ERROR_STREAM_TASK_GROUP_INTR",
        "任务组的记录被打断。",
        "只向正在记录的 stream 下发任务。",
    ),
    107035: (
        "ACL_ERROR_RT_TASK_ABORT_STOP",
        "设备任务终止在后处理阶段之前停止（仅头文件定义）。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    107036: (
        "ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED",
        "结束捕获的 stream 上没有开始捕获。",
        "在 aclmdlRICaptureBegin 的同一个 stream 上调用一次 aclmdlRICaptureEnd。",
    ),
    107037: (
        "ACL_ERROR_RT_MODEL_RUNNING",
        "模型仍在运行。",
        "先同步 stream。",
    ),
    107038: (
        "ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD",
        "结束捕获的线程与开始捕获的线程不同。",
        "在同一线程中结束，或以 RELAXED 模式开始。",
    ),
    107039: (
        "ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY",
        "输出数组太小。",
        "先查询数量，或增大数组；错误文本中给出了实际数量。",
    ),
    107040: (
        "ACL_ERROR_RT_MODEL_UPDATE_FAILED",
        "模型更新失败。",
        "只更新空闲的、由捕获得到的模型，任务序列保持一致；否则重新捕获。",
    ),
    107041: (
        "ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC",
        "异步调用会退化为同步，捕获中不允许。",
        "在捕获之前用 aclrtMallocHost 分配主机内存，或先注册。",
    ),
    107042: (
        "ACL_ERROR_RT_SYMBOL_NOT_FOUND",
        "算子二进制中没有该符号。",
        '用 `nm -D` 列出二进制中的名称，并把函数声明为 extern "C"。',
    ),
    107043: (
        "ACL_ERROR_RT_INVALID_SYMBOL",
        "该符号不是设备变量。",
        "将其声明为设备变量，并传入它自身的地址。",
    ),
    107044: (
        "ACL_ERROR_RT_INVALID_DEVICE_FUNCTION",
        "该符号不是核函数。",
        "将函数声明为核函数并传入该符号。",
    ),
    107045: (
        "ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING",
        "子图正在捕获中（仅头文件定义）。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    145000: (
        "ACL_ERROR_GE_PARAM_INVALID",
        "图引擎参数校验失败。",
        "检查参数。",
    ),
    145001: (
        "ACL_ERROR_GE_EXEC_NOT_INIT",
        "图引擎未初始化。",
        "先调用 aclInit（或该功能自己的初始化接口）。",
    ),
    145002: (
        "ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID",
        "模型路径无效。",
        "检查路径。",
    ),
    145003: (
        "ACL_ERROR_GE_EXEC_MODEL_ID_INVALID",
        "模型 id 无效。",
        "检查 id，并确认模型已加载。",
    ),
    145006: (
        "ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID",
        "模型大小有误。",
        "重新转换模型。",
    ),
    145007: (
        "ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID",
        "模型地址无效。",
        "检查地址。",
    ),
    145008: (
        "ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID",
        "队列 id 无效。",
        "检查队列 id。",
    ),
    145009: (
        "ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED",
        "重复初始化或重复加载。",
        "避免重复调用。",
    ),
    145011: (
        "ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID",
        "动态输入的地址无效。",
        "检查地址。",
    ),
    145012: (
        "ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID",
        "动态输入的长度无效。",
        "检查长度。",
    ),
    145013: (
        "ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID",
        "动态 batch 大小无效。",
        "检查 batch 大小。",
    ),
    145014: (
        "ACL_ERROR_GE_AIPP_BATCH_EMPTY",
        "图像预处理的 batch 大小无效。",
        "检查 batch 大小。",
    ),
    145015: (
        "ACL_ERROR_GE_AIPP_NOT_EXIST",
        "没有图像预处理配置。",
        "进行配置。",
    ),
    145016: (
        "ACL_ERROR_GE_AIPP_MODE_INVALID",
        "图像预处理模式无效。",
        "检查转换模型时的模式。",
    ),
    145017: (
        "ACL_ERROR_GE_OP_TASK_TYPE_INVALID",
        "任务类型无效。",
        "检查算子类型。",
    ),
    145018: (
        "ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID",
        "算子类型无效。",
        "检查算子类型。",
    ),
    145019: (
        "ACL_ERROR_GE_PLGMGR_PATH_INVALID",
        "动态库缺失或路径过深。",
        "检查 LD_LIBRARY_PATH。",
    ),
    145020: (
        "ACL_ERROR_GE_FORMAT_INVALID",
        "Tensor 格式无效。",
        "检查格式。",
    ),
    145021: (
        "ACL_ERROR_GE_SHAPE_INVALID",
        "Tensor 形状无效。",
        "检查形状。",
    ),
    145022: (
        "ACL_ERROR_GE_DATATYPE_INVALID",
        "Tensor 数据类型无效。",
        "检查数据类型。",
    ),
    148046: (
        "ACL_ERROR_PROF_REPEAT_SUBSCRIBE",
        "模型重复订阅 profiling。",
        "检查调用顺序。",
    ),
    148047: (
        "ACL_ERROR_PROF_API_CONFLICT",
        "混用了两种 profiling 方式。",
        "不要交叉使用 init/start 与 subscribe 两类接口。",
    ),
    148048: (
        "ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG",
        "算子缓存老化配置有误。",
        "修正 max_opqueue_num。",
    ),
    148049: (
        "ACL_ERROR_INVALID_OPP_PATH",
        "ASCEND_OPP_PATH 缺失或有误。",
        "设置为算子包目录。",
    ),
    148050: (
        "ACL_ERROR_OP_UNSUPPORTED_DYNAMIC",
        "算子不支持动态形状。",
        "使用固定形状。",
    ),
    148051: (
        "ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED",
        "依赖的资源尚未释放。",
        "先销毁通道，再销毁其描述信息。",
    ),
    148052: (
        "ACL_ERROR_UNSUPPORTED_JPEG",
        "解码器不支持该 JPEG 格式。",
        "使用 Huffman baseline 的 YUV 图片。",
    ),
    148053: (
        "ACL_ERROR_INVALID_BUNDLE_MODEL_ID",
        "bundle 模型 id 无效。",
        "检查 id，并确认模型已加载。",
    ),
    200000: (
        "ACL_ERROR_BAD_ALLOC",
        "内存申请失败（接口层）。",
        "释放主机内存；可运行 `cannery doctor` 检查限制。",
    ),
    200001: (
        "ACL_ERROR_API_NOT_SUPPORT",
        "不支持该接口。",
        "用 `cannery explain FUNCTION` 查看哪些产品支持；或选择其他产品配置。",
    ),
    200003: (
        "ACL_ERROR_MEMORY_ADDRESS_UNALIGNED",
        "地址未按要求对齐。",
        "遵守该接口的对齐要求。",
    ),
    200004: (
        "ACL_ERROR_RESOURCE_NOT_MATCH",
        "资源不属于当前对象。",
        "传入正确的 stream 或 context。",
    ),
    200005: (
        "ACL_ERROR_INVALID_RESOURCE_HANDLE",
        "资源句柄无效。",
        "检查 stream 或 context 是否已销毁或正在使用。",
    ),
    200006: (
        "ACL_ERROR_FEATURE_UNSUPPORTED",
        "不支持该功能。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    200007: (
        "ACL_ERROR_PROF_MODULES_UNSUPPORTED",
        "不支持该 profiling 配置。",
        "检查 profiling 配置。",
    ),
    207000: (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
        "产品、模式或当前版本不支持该功能或选项。",
        "用 `cannery explain FUNCTION` 查看支持的产品；用 `cannery run --profile P` 选择产品。请保留程序在这类产品上所需的回退路径。",
    ),
    207001: (
        "ACL_ERROR_RT_MEMORY_ALLOCATION",
        "内存不足：设备内存不足；对主机内存而言，是主机内存不足或超出锁页限制。",
        "释放内存，或收缩错误文本中指出的内存池，然后重试；减小申请量；使用 *_FIRST 策略。`cannery smi` 显示所有进程，`cannery doctor` 显示锁页限制。",
    ),
    207002: (
        "ACL_ERROR_RT_MEMORY_FREE",
        "内存无法释放。",
        "先解除映射或销毁使用者。",
    ),
    207003: (
        "ACL_ERROR_RT_AICORE_OVER_FLOW",
        "AI Core 算子溢出。",
        "通过 dump 数据定位算子并检查输入。仿真器不执行 AI Core 代码。",
    ),
    207004: (
        "ACL_ERROR_RT_NO_DEVICE",
        "没有可用的设备。",
        "取消该变量，或按升序列出存在的 id，用逗号分隔。",
    ),
    207005: (
        "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
        "非内存类资源耗尽。",
        "销毁不用的资源并查找泄漏。`cannery doctor` 会显示系统限制。",
    ),
    207006: (
        "ACL_ERROR_RT_NO_PERMISSION",
        "没有权限。",
        "由导出进程把本进程的 pid 加入白名单，或使用关闭校验的标志导出。",
    ),
    207007: (
        "ACL_ERROR_RT_NO_EVENT_RESOURCE",
        "没有可用的 event 资源。",
        "复用 event，用完后销毁。",
    ),
    207008: (
        "ACL_ERROR_RT_NO_STREAM_RESOURCE",
        "没有可用的 stream 资源。",
        "使用固定数量的 stream，用完后销毁。",
    ),
    207009: (
        "ACL_ERROR_RT_NO_NOTIFY_RESOURCE",
        "没有可用的 notify 资源。",
        "用完后销毁。",
    ),
    207010: (
        "ACL_ERROR_RT_NO_MODEL_RESOURCE",
        "没有可用的模型资源。",
        "卸载不用的模型。",
    ),
    207011: (
        "ACL_ERROR_RT_NO_CDQ_RESOURCE",
        "内部资源耗尽。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    207012: (
        "ACL_ERROR_RT_OVER_LIMIT",
        "队列数量超出上限。",
        "销毁不需要的队列。",
    ),
    207013: (
        "ACL_ERROR_RT_QUEUE_EMPTY",
        "队列为空。",
        "稍后重试，或使用带超时的出队。",
    ),
    207014: (
        "ACL_ERROR_RT_QUEUE_FULL",
        "队列已满。",
        "先出队、等待，或以更大的深度创建队列。",
    ),
    207015: (
        "ACL_ERROR_RT_REPEATED_INIT",
        "队列重复初始化。",
        "只初始化一次。",
    ),
    207016: (
        "ACL_ERROR_RT_AIVEC_OVER_FLOW",
        "Vector Core 算子溢出（仅头文件定义）。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    207017: (
        "ACL_ERROR_RT_OVER_FLOW",
        "算子溢出（仅头文件定义）。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    207018: (
        "ACL_ERROR_RT_DEVICE_OOM",
        "设备运行中内存耗尽。",
        "处理方法同 207001。",
    ),
    207019: (
        "ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP",
        "驱动不支持更新该算子。",
        "升级驱动。",
    ),
    207020: (
        "ACL_ERROR_RT_TIMEOUT",
        "驱动调用超时（仅头文件定义）。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    207021: (
        "ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED",
        "设备之间没有这种类型的链路。",
        "使用产品具有的链路，并保留经主机中转的路径。",
    ),
    245000: (
        "ACL_ERROR_GE_MEMORY_ALLOCATION",
        "图引擎申请内存失败。",
        "检查空闲内存。",
    ),
    245001: (
        "ACL_ERROR_GE_MEMORY_OPERATE_FAILED",
        "图引擎的内存填充或拷贝失败。",
        "检查地址和空闲内存。",
    ),
    245002: (
        "ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED",
        "图引擎无法获得设备内存。",
        "释放设备内存后重试。",
    ),
    300000: (
        "ACL_ERROR_STORAGE_OVER_LIMIT",
        "超出存储上限。",
        "检查剩余存储空间。",
    ),
    345102: (
        "ACL_ERROR_GE_SUBHEALTHY",
        "重新部署后处于亚健康状态，调用仍可进行。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    345103: (
        "ACL_ERROR_GE_USER_RAISE_EXCEPTION",
        "用户函数抛出异常。",
        "根据用户数据定位对应的输入。",
    ),
    345104: (
        "ACL_ERROR_GE_DATA_NOT_ALIGNED",
        "用户函数的输出数量不足。",
        "设置全部输出。",
    ),
    500000: (
        "ACL_ERROR_INTERNAL_ERROR",
        "内部错误，没有专用的返回码。",
        "请把错误文本和可复现的程序一起上报。",
    ),
    500001: (
        "ACL_ERROR_FAILURE",
        "内部错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    500002: (
        "ACL_ERROR_GE_FAILURE",
        "图引擎模块错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    500003: (
        "ACL_ERROR_RT_FAILURE",
        "运行时模块错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    500004: (
        "ACL_ERROR_DRV_FAILURE",
        "驱动模块错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    500005: (
        "ACL_ERROR_PROFILING_FAILURE",
        "profiling 模块错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507000: (
        "ACL_ERROR_RT_INTERNAL_ERROR",
        "运行时内部错误。",
        "按错误文本处理；用 `cannery doctor` 检查系统限制。",
    ),
    507001: (
        "ACL_ERROR_RT_TS_ERROR",
        "任务调度器内部错误。",
        "找到第一个失败的任务；可在每次调用后同步以定位。",
    ),
    507002: (
        "ACL_ERROR_RT_STREAM_TASK_FULL",
        "stream 中的任务过多。",
        "适时同步，或分散到多个 stream。",
    ),
    507003: (
        "ACL_ERROR_RT_STREAM_TASK_EMPTY",
        "stream 中没有任务。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507004: (
        "ACL_ERROR_RT_STREAM_NOT_COMPLETE",
        "stream 中还有未完成的任务。",
        "先同步 stream。",
    ),
    507005: (
        "ACL_ERROR_RT_END_OF_SEQUENCE",
        "AI CPU 任务序列结束。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507006: (
        "ACL_ERROR_RT_EVENT_NOT_COMPLETE",
        "event 尚未完成。",
        "进行同步，或稍后再查询。",
    ),
    507007: (
        "ACL_ERROR_RT_CONTEXT_RELEASE_ERROR",
        "复位了本进程没有引用的设备。",
        "成对调用设置与复位；如果之前设置失败，错误文本会指出。",
    ),
    507008: (
        "ACL_ERROR_RT_SOC_VERSION",
        "无法读取芯片版本。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507009: (
        "ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT",
        "不支持在此处下发该类任务。",
        "下发到普通 stream。",
    ),
    507010: (
        "ACL_ERROR_RT_LOST_HEARTBEAT",
        "任务调度器心跳丢失。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507011: (
        "ACL_ERROR_RT_MODEL_EXECUTE",
        "模型执行失败。",
        "保证模型引用的内存一直有效；阅读失败任务的错误文本。",
    ),
    507012: (
        "ACL_ERROR_RT_REPORT_TIMEOUT",
        "在 aclrtProcessReport 的时间内没有回调到达。",
        "继续调用；用自己的标志结束循环。",
    ),
    507013: (
        "ACL_ERROR_RT_SYS_DMA",
        "系统 DMA 失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507014: (
        "ACL_ERROR_RT_AICORE_TIMEOUT",
        "AI Core 执行超时。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507015: (
        "ACL_ERROR_RT_AICORE_EXCEPTION",
        "AI Core 执行异常。",
        "检查核函数所有缓冲区的范围和生命周期；释放或解除映射之前先同步。",
    ),
    507016: (
        "ACL_ERROR_RT_AICORE_TRAP_EXCEPTION",
        "AI Core trap 异常。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507017: (
        "ACL_ERROR_RT_AICPU_TIMEOUT",
        "AI CPU 执行超时。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507018: (
        "ACL_ERROR_RT_AICPU_EXCEPTION",
        "AI CPU 执行异常。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507019: (
        "ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR",
        "AI CPU 在 dump 后没有响应。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507020: (
        "ACL_ERROR_RT_AICPU_MODEL_RSP_ERR",
        "AI CPU 在模型执行后没有响应。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507021: (
        "ACL_ERROR_RT_PROFILING_ERROR",
        "profiling 失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507022: (
        "ACL_ERROR_RT_IPC_ERROR",
        "进程间共享失败。",
        "导入方关闭之前保持导出方存活；确保双方使用同一目录。",
    ),
    507023: (
        "ACL_ERROR_RT_MODEL_ABORT_NORMAL",
        "模型已退出。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507024: (
        "ACL_ERROR_RT_KERNEL_UNREGISTERING",
        "算子正在注销。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507025: (
        "ACL_ERROR_RT_RINGBUFFER_NOT_INIT",
        "环形缓冲区未初始化。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507026: (
        "ACL_ERROR_RT_RINGBUFFER_NO_DATA",
        "环形缓冲区没有数据。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507027: (
        "ACL_ERROR_RT_KERNEL_LOOKUP",
        "找不到核函数。",
        "先加载二进制，再用准确的名称查询。",
    ),
    507028: (
        "ACL_ERROR_RT_KERNEL_DUPLICATE",
        "内部核函数重复注册。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507029: (
        "ACL_ERROR_RT_DEBUG_REGISTER_FAIL",
        "调试注册失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507030: (
        "ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL",
        "调试注销失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507031: (
        "ACL_ERROR_RT_LABEL_CONTEXT",
        "label 不属于当前 context。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507032: (
        "ACL_ERROR_RT_PROGRAM_USE_OUT",
        "注册的程序过多。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507033: (
        "ACL_ERROR_RT_DEV_SETUP_ERROR",
        "设备打开失败。",
        "用 spawn 代替 fork 启动子进程；放宽 ulimit -v。`cannery doctor` 会检查内存与地址空间。",
    ),
    507034: (
        "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT",
        "Vector Core 执行超时。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507035: (
        "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
        "Vector Core 执行异常。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507036: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION",
        "Vector Core trap 异常。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507037: (
        "ACL_ERROR_RT_CDQ_BATCH_ABNORMAL",
        "内部资源分配异常。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507038: (
        "ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR",
        "die 模式无法切换。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507039: (
        "ACL_ERROR_RT_DIE_SET_ERROR",
        "单 die 模式下不能指定 die。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507040: (
        "ACL_ERROR_RT_INVALID_DIEID",
        "die id 无效。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507041: (
        "ACL_ERROR_RT_DIE_MODE_NOT_SET",
        "没有设置 die 模式。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507042: (
        "ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW",
        "AI Core 读越界。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507043: (
        "ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW",
        "AI Core 写越界。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507044: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW",
        "Vector Core 读越界。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507045: (
        "ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW",
        "Vector Core 写越界。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507046: (
        "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT",
        "限时等待结束时 stream 尚未完成，任务仍在继续。",
        "增大超时时间；查找缺失的 record。不要释放仍可能被任务使用的内存。",
    ),
    507047: (
        "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT",
        "限时等待结束时 event 尚未完成。",
        "增大超时时间；检查其 stream 在等待什么。",
    ),
    507048: (
        "ACL_ERROR_RT_FFTS_PLUS_TIMEOUT",
        "内部任务执行超时。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507049: (
        "ACL_ERROR_RT_FFTS_PLUS_EXCEPTION",
        "内部任务执行异常。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507050: (
        "ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION",
        "内部任务 trap 异常。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507051: (
        "ACL_ERROR_RT_SEND_MSG",
        "入队时消息发送失败。",
        "重新 attach 或创建队列。",
    ),
    507052: (
        "ACL_ERROR_RT_COPY_DATA",
        "入队时数据拷贝失败。",
        "检查缓冲区及其长度。",
    ),
    507053: (
        "ACL_ERROR_RT_DEVICE_MEM_ERROR",
        "设备内存出现不可纠正错误（硬件）。",
        "用 aclrtGetMemUceInfo 查询，释放该块并用 aclrtMemUceRepair 修复；反复出现时更换设备。",
    ),
    507054: (
        "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR",
        "HBM 多比特 ECC 故障。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507055: (
        "ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR",
        "对端设备内存可能有故障。",
        "检查对端设备上的进程。",
    ),
    507056: (
        "ACL_ERROR_RT_LINK_ERROR",
        "两个设备之间的链路中断。",
        "先重试，再检查链路。",
    ),
    507057: (
        "ACL_ERROR_RT_SUSPECT_REMOTE_ERROR",
        "对端内存故障或本地访问越界。",
        "检查对端进程以及本地访问。",
    ),
    507899: (
        "ACL_ERROR_RT_DRV_INTERNAL_ERROR",
        "驱动内部错误，没有更具体的返回码。",
        "将主机内存按页（4 KiB）对齐且只注册一次；阅读错误文本中的原因。",
    ),
    507900: (
        "ACL_ERROR_RT_AICPU_INTERNAL_ERROR",
        "AI CPU 内部错误。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507901: (
        "ACL_ERROR_RT_SOCKET_CLOSE",
        "连接已关闭。",
        "重新启动对端并重新 attach。",
    ),
    507902: (
        "ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR",
        "AI CPU 调度失败。",
        "在每次下发后同步，找到失败的算子；检查其缓冲区和生命周期。",
    ),
    507903: (
        "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED",
        "捕获已失效，无法得到结果。",
        "找到捕获开始后第一个失败的调用；结束本次捕获后重新开始。",
    ),
    507904: (
        "ACL_ERROR_RT_COMM_OP_RETRY_FAIL",
        "通信算子重试失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507905: (
        "ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT",
        "锁定进程超时。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507906: (
        "ACL_ERROR_SNAPSHOT_LOCK_FAILED",
        "锁定进程失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507907: (
        "ACL_ERROR_SNAPSHOT_UNLOCK_FAILED",
        "解锁进程失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507908: (
        "ACL_ERROR_SNAPSHOT_BACKUP_FAILED",
        "备份进程失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507909: (
        "ACL_ERROR_SNAPSHOT_RESTORE_FAILED",
        "恢复进程失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507910: (
        "ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        "主机内存范围（或其一部分）已注册。",
        "释放之前先取消注册；缓冲区按页对齐并只注册一次。",
    ),
    507911: (
        "ACL_ERROR_HOST_MEMORY_NOT_REGISTERED",
        "主机内存未注册。",
        "传入 aclrtHostRegister 时的主机地址，且只调用一次。",
    ),
    507912: (
        "ACL_ERROR_SNAPSHOT_CALLBACK_FAILED",
        "快照回调执行失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507913: (
        "ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED",
        "快照回调注册失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507914: (
        "ACL_ERROR_RT_L3_PORT_ERROR",
        "L3 端口错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507915: (
        "ACL_ERROR_RT_CCU_TIMEOUT",
        "CCU 执行超时。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    507916: (
        "ACL_ERROR_RT_CCU_EXCEPTION",
        "CCU 执行异常。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545000: (
        "ACL_ERROR_GE_INTERNAL_ERROR",
        "图引擎未知错误。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545001: (
        "ACL_ERROR_GE_LOAD_MODEL",
        "模型加载失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545002: (
        "ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED",
        "模型分区加载失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545003: (
        "ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED",
        "权重分区加载失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545004: (
        "ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED",
        "任务分区加载失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545005: (
        "ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED",
        "核函数分区加载失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545006: (
        "ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA",
        "模型空间释放失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545007: (
        "ACL_ERROR_GE_COMMAND_HANDLE",
        "内部命令失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545008: (
        "ACL_ERROR_GE_GET_TENSOR_INFO",
        "无法读取 Tensor 数据。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545009: (
        "ACL_ERROR_GE_UNLOAD_MODEL",
        "模型卸载失败。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545601: (
        "ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT",
        "模型执行超时。",
        "保留错误文本和厂商日志，并反馈给技术支持。",
    ),
    545602: (
        "ACL_ERROR_GE_REDEPLOYING",
        "正在重新部署。",
        "等待后再次调用。",
    ),
}
