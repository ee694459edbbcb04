"""Devices, contexts, streams, events, memory, kernels."""
# Written by crates/python/gen_stubs.py. Do not edit.

from collections.abc import Callable
from typing import Any, SupportsIndex

def allocator_create_desc() -> int:
    """desc = allocator_create_desc(): a handle, 0 on failure."""

def allocator_destroy_desc(allocatorDesc: SupportsIndex, /) -> int:
    """ret = allocator_destroy_desc(allocatorDesc)"""

def allocator_register(stream: SupportsIndex, allocatorDesc: SupportsIndex, /) -> int:
    """ret = allocator_register(stream, allocatorDesc): use it for an explicit stream."""

def allocator_set_alloc_advise_func_to_desc(allocatorDesc: SupportsIndex, func: Callable[..., object], /) -> int:
    """ret = allocator_set_alloc_advise_func_to_desc(allocatorDesc, func): func(allocator, size, addr) gives a block."""

def allocator_set_alloc_func_to_desc(allocatorDesc: SupportsIndex, func: Callable[..., object], /) -> int:
    """ret = allocator_set_alloc_func_to_desc(allocatorDesc, func): func(allocator, size) gives a block."""

def allocator_set_free_func_to_desc(allocatorDesc: SupportsIndex, func: Callable[..., object], /) -> int:
    """ret = allocator_set_free_func_to_desc(allocatorDesc, func): func(allocator, block)."""

def allocator_set_get_addr_from_block_func_to_desc(allocatorDesc: SupportsIndex, func: Callable[..., object], /) -> int:
    """ret = allocator_set_get_addr_from_block_func_to_desc(allocatorDesc, func): func(block) gives its address."""

def allocator_set_obj_to_desc(allocatorDesc: SupportsIndex, allocator: SupportsIndex, /) -> int:
    """ret = allocator_set_obj_to_desc(allocatorDesc, allocator): the token that the functions get."""

def allocator_unregister(stream: SupportsIndex, /) -> int:
    """ret = allocator_unregister(stream)"""

def binary_get_function(bin_handle: SupportsIndex, kernel_name: str, /) -> tuple[int, int]:
    """func_handle, ret = binary_get_function(bin_handle, kernel_name)"""

def binary_load(binary: SupportsIndex, /) -> tuple[int, int]:
    """bin_handle, ret = binary_load(binary): load it to the device."""

def binary_load_from_data(
    mem_addr: SupportsIndex, length: SupportsIndex, options: list[dict[str, Any]], /
) -> tuple[int, int]:
    """bin_handle, ret = binary_load_from_data(mem_addr, length, options): options as in binary_load_from_file."""

def binary_load_from_file(bin_path: str, options: list[dict[str, Any]], /) -> tuple[int, int]:
    """bin_handle, ret = binary_load_from_file(bin_path, options): options is a list of {"type", "value"}."""

def binary_unload(bin_handle: SupportsIndex, /) -> int:
    """ret = binary_unload(bin_handle)"""

def cmo_async(src: SupportsIndex, size: SupportsIndex, cmo_type: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = cmo_async(src, size, cmo_type, stream): queue a cache operation; 0 prefetches."""

def create_binary(data: SupportsIndex, data_len: SupportsIndex, /) -> int:
    """binary = create_binary(data, data_len): a handle, 0 on failure."""

def create_context(device_id: SupportsIndex, /) -> tuple[int, int]:
    """context, ret = create_context(device_id): a new context, current for this thread."""

def create_event() -> tuple[int, int]:
    """event, ret = create_event()"""

def create_event_ex_with_flag(flag: SupportsIndex, /) -> tuple[int, int]:
    """event, ret = create_event_ex_with_flag(flag): an event that can be recorded again."""

def create_event_with_flag(flag: SupportsIndex, /) -> tuple[int, int]:
    """event, ret = create_event_with_flag(flag): bits 1 sync, 2 capture progress, 8 timeline."""

def create_group_info() -> int:
    """group_info = create_group_info(): a handle, 0 on failure."""

def create_notify(flag: SupportsIndex, /) -> tuple[int, int]:
    """notify, ret = create_notify(flag): flag is 0."""

def create_stream() -> tuple[int, int]:
    """stream, ret = create_stream(): a stream of the current context."""

def create_stream_with_config(priority: SupportsIndex, flag: SupportsIndex, /) -> tuple[int, int]:
    """stream, ret = create_stream_with_config(priority, flag): priority 0 (most urgent) to 7."""

def ctx_get_current_default_stream() -> tuple[int, int]:
    """stream, ret = ctx_get_current_default_stream()"""

def ctx_get_sys_param_opt(opt: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = ctx_get_sys_param_opt(opt): an error when it was never set."""

def ctx_set_sys_param_opt(opt: SupportsIndex, value: SupportsIndex, /) -> int:
    """ret = ctx_set_sys_param_opt(opt, value): for the current context."""

def destroy_binary(binary: SupportsIndex, /) -> int:
    """ret = destroy_binary(binary)"""

def destroy_context(context: SupportsIndex, /) -> int:
    """ret = destroy_context(context): only contexts of create_context."""

def destroy_event(event: SupportsIndex, /) -> int:
    """ret = destroy_event(event): never waits."""

def destroy_group_info(group_info: SupportsIndex, /) -> int:
    """ret = destroy_group_info(group_info)"""

def destroy_notify(notify: SupportsIndex, /) -> int:
    """ret = destroy_notify(notify)"""

def destroy_stream(stream: SupportsIndex, /) -> int:
    """ret = destroy_stream(stream): waits for its work."""

def destroy_stream_force(stream: SupportsIndex, /) -> int:
    """ret = destroy_stream_force(stream): drops its work."""

def device_can_access_peer(dev_id: SupportsIndex, peer_dev_id: SupportsIndex, /) -> tuple[int, int]:
    """can_access_peer, ret = device_can_access_peer(dev_id, peer_dev_id): 1 yes, 0 no."""

def device_disable_peer_access(peer_dev_id: SupportsIndex, /) -> int:
    """ret = device_disable_peer_access(peer_dev_id)"""

def device_enable_peer_access(peer_dev_id: SupportsIndex, flags: SupportsIndex, /) -> int:
    """ret = device_enable_peer_access(peer_dev_id, flags): one direction; flags is 0."""

def device_get_bare_tgid() -> tuple[int, int]:
    """pid, ret = device_get_bare_tgid(): this process's id for the lists of processes that may import."""

def device_get_stream_priority_range() -> tuple[int, int, int]:
    """min, max, ret = device_get_stream_priority_range(): least and greatest; smaller is more urgent."""

def device_get_uuid(device_id: SupportsIndex, /) -> tuple[dict[str, Any], int]:
    """uuid, ret = device_get_uuid(device_id): {"bytes": 16 numbers from 0 to 255}."""

def device_peer_access_status(device_id: SupportsIndex, peer_device_id: SupportsIndex, /) -> tuple[int, int]:
    """status, ret = device_peer_access_status(device_id, peer_device_id): 0 off, 1 on."""

def device_task_abort(device_id: SupportsIndex, timeout: SupportsIndex, /) -> int:
    """ret = device_task_abort(device_id, timeout): milliseconds, 0 for ever."""

def event_elapsed_time(start: SupportsIndex, end: SupportsIndex, /) -> tuple[float, int]:
    """ms, ret = event_elapsed_time(start, end): milliseconds between two events."""

def event_get_timestamp(event: SupportsIndex, /) -> tuple[int, int]:
    """timestamp, ret = event_get_timestamp(event): microseconds since the device started."""

def free(dev_ptr: SupportsIndex, /) -> int:
    """ret = free(dev_ptr): release memory of malloc and its variants; never waits."""

def free_host(host_ptr: SupportsIndex, /) -> int:
    """ret = free_host(host_ptr): release memory of malloc_host."""

def free_physical(handle: SupportsIndex, /) -> int:
    """ret = free_physical(handle): the memory goes once it is unmapped."""

def get_all_group_info(group_info: SupportsIndex, /) -> int:
    """ret = get_all_group_info(group_info): fill the handle."""

def get_context() -> tuple[int, int]:
    """context, ret = get_context(): the current context of this thread."""

def get_device() -> tuple[int, int]:
    """device_id, ret = get_device(): the device of this thread; 107002 when it has none."""

def get_device_capability(device_id: SupportsIndex, dev_feature_type: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_device_capability(device_id, dev_feature_type): 1 supported, 0 not."""

def get_device_count() -> tuple[int, int]:
    """count, ret = get_device_count(): how many devices there are."""

def get_device_id_from_exception_info(info: SupportsIndex, /) -> int:
    """device_id = get_device_id_from_exception_info(info)"""

def get_device_info(device_id: SupportsIndex, attr: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_device_info(device_id, attr)"""

def get_device_res_limit(device_id: SupportsIndex, type: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_device_res_limit(device_id, type): cores; 0 cube, 1 vector."""

def get_device_sat_mode() -> tuple[int, int]:
    """mode, ret = get_device_sat_mode()"""

def get_device_utilization_rate(device_id: SupportsIndex, /) -> tuple[dict[str, Any], int]:
    """utilization_info, ret = get_device_utilization_rate(device_id): percentages; -1 is unknown.

    `ret` is unsigned here: a negative code shows as a large number.
    """

def get_devices_topo(device_id: SupportsIndex, other_device_id: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_devices_topo(device_id, other_device_id): the kind of link, one bit."""

def get_error_code_from_exception_info(info: SupportsIndex, /) -> int:
    """ret = get_error_code_from_exception_info(info): its code; 0xFFFFFFFF is a device fault, or no information."""

def get_event_avail_num() -> tuple[int, int]:
    """event_count, ret = get_event_avail_num(): how many more can be recorded."""

def get_event_id(event: SupportsIndex, /) -> tuple[int, int]:
    """event_id, ret = get_event_id(event)"""

def get_function_addr(func_handle: SupportsIndex, /) -> tuple[int, int, int]:
    """aic_addr, aiv_addr, ret = get_function_addr(func_handle): entries on cube and vector cores."""

def get_function_name(func_handle: SupportsIndex, max_len: SupportsIndex, /) -> tuple[str, int]:
    """name, ret = get_function_name(func_handle, max_len): max_len below 1024."""

def get_group_count(count: SupportsIndex = ..., /) -> tuple[int, int]:
    """count, ret = get_group_count(count): the argument is ignored and may be left out."""

def get_group_info_detail(
    group_info: SupportsIndex, group_id: SupportsIndex, attr: SupportsIndex, /
) -> tuple[list[int], int]:
    """attr_value, ret = get_group_info_detail(group_info, group_id, attr): a list of numbers.

    Unlike elsewhere, a failure raises RuntimeError.
    """

def get_last_error(level: SupportsIndex, /) -> int:
    """ret = get_last_error(level): the last failure of this thread; reading clears it."""

def get_logic_dev_id_by_phy_dev_id(phy_dev_id: SupportsIndex, /) -> tuple[int, int]:
    """logic_dev_id, ret = get_logic_dev_id_by_phy_dev_id(phy_dev_id)"""

def get_logic_dev_id_by_user_dev_id(user_dev_id: SupportsIndex, /) -> tuple[int, int]:
    """logic_dev_id, ret = get_logic_dev_id_by_user_dev_id(user_dev_id)"""

def get_mem_info(attr: SupportsIndex, /) -> tuple[int, int, int]:
    """free, total, ret = get_mem_info(attr): bytes of a kind of memory of the current device."""

def get_mem_uce_info(device_id: SupportsIndex, array_size: SupportsIndex, /) -> tuple[list[dict[str, Any]], int]:
    """mem_uce_info, ret = get_mem_uce_info(device_id, array_size): ranges with uncorrectable errors,
    a list of {"addr", "len", "reserved"}.
    """

def get_memcpy_desc_size(kind: SupportsIndex, /) -> tuple[int, int]:
    """desc_size, ret = get_memcpy_desc_size(kind): bytes of a copy description; kind is 6."""

def get_notify_id(notify: SupportsIndex, /) -> tuple[int, int]:
    """notify_id, ret = get_notify_id(notify)"""

def get_op_execute_timeout() -> tuple[int, int]:
    """time_out_ms, ret = get_op_execute_timeout(): milliseconds; 2**32 - 1 is never."""

def get_op_timeout_interval() -> tuple[int, int]:
    """interval, ret = get_op_timeout_interval(): the step of the limit in microseconds."""

def get_overflow_status(output_addr: SupportsIndex, output_size: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = get_overflow_status(output_addr, output_size, stream): queue a write of the status to device memory."""

def get_phy_dev_id_by_logic_dev_id(logic_dev_id: SupportsIndex, /) -> tuple[int, int]:
    """phy_dev_id, ret = get_phy_dev_id_by_logic_dev_id(logic_dev_id)"""

def get_primary_ctx_state(device_id: SupportsIndex, /) -> tuple[int, int, int]:
    """active, flags, ret = get_primary_ctx_state(device_id): the order differs from C."""

def get_res_in_current_thread(type: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_res_in_current_thread(type): the limit in force; 0 cube, 1 vector."""

def get_run_mode() -> tuple[int, int]:
    """run_mode, ret = get_run_mode(): 0 on the device's side, 1 on the host's."""

def get_stream_attribute(stream: SupportsIndex, stm_attr_type: SupportsIndex, /) -> tuple[dict[str, Any], int]:
    """value, ret = get_stream_attribute(stream, stm_attr_type): a dictionary with the setter's key."""

def get_stream_available_num() -> tuple[int, int]:
    """stream_count, ret = get_stream_available_num(): how many more can be created."""

def get_stream_id_from_exception_info(info: SupportsIndex, /) -> int:
    """stream_id = get_stream_id_from_exception_info(info)"""

def get_stream_overflow_switch(stream: SupportsIndex, /) -> tuple[int, int]:
    """flag, ret = get_stream_overflow_switch(stream)"""

def get_stream_res_limit(stream: SupportsIndex, type: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_stream_res_limit(stream, type): cores; 0 cube, 1 vector."""

def get_sys_param_opt(opt: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_sys_param_opt(opt)"""

def get_task_id_from_exception_info(info: SupportsIndex, /) -> int:
    """task_id = get_task_id_from_exception_info(info)"""

def get_thread_id_from_exception_info(info: SupportsIndex, /) -> int:
    """thread_id = get_thread_id_from_exception_info(info)"""

def get_thread_last_task_id() -> tuple[int, int]:
    """task_id, ret = get_thread_last_task_id(): the last task of this thread."""

def get_user_dev_id_by_logic_dev_id(logic_dev_id: SupportsIndex, /) -> tuple[int, int]:
    """user_dev_id, ret = get_user_dev_id_by_logic_dev_id(logic_dev_id)"""

def host_get_device_pointer(ptr_host: SupportsIndex, flag: SupportsIndex, /) -> tuple[int, int]:
    """ptr_device, ret = host_get_device_pointer(ptr_host, flag): the device's address of registered memory."""

def host_register(ptr: SupportsIndex, size: SupportsIndex, type: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = host_register(ptr, size, type): let the device reach the program's memory.

    ptr is aligned to 4 KiB. dev_ptr is for kernels only.
    """

def host_register_v2(ptr: SupportsIndex, size: SupportsIndex, flag: SupportsIndex, /) -> int:
    """ret = host_register_v2(ptr, size, flag): bits 2 mapped, 4 I/O, 8 read-only, 0x10000000 pinned."""

def host_unregister(ptr: SupportsIndex, /) -> int:
    """ret = host_unregister(ptr): the address that was registered."""

def ipc_mem_close(key: str, /) -> int:
    """ret = ipc_mem_close(key): importers close before the exporter."""

def ipc_mem_get_export_key(
    dev_ptr: SupportsIndex, size: SupportsIndex, len: SupportsIndex, flags: SupportsIndex, /
) -> tuple[str, int]:
    """key, ret = ipc_mem_get_export_key(dev_ptr, size, len, flags): len is 65; flag 1 checks no process ids."""

def ipc_mem_import_by_key(key: str, flags: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = ipc_mem_import_by_key(key, flags): flag 1 also enables peer access."""

def ipc_mem_set_import_pid(key: str, pid: list[int], /) -> int:
    """ret = ipc_mem_set_import_pid(key, pid): the list of processes that may import."""

def kernel_args_append(
    args_handle: SupportsIndex, param: SupportsIndex, param_size: SupportsIndex, /
) -> tuple[int, int]:
    """param_handle, ret = kernel_args_append(args_handle, param, param_size): copy a value in."""

def kernel_args_append_place_holder(args_handle: SupportsIndex, /) -> tuple[int, int]:
    """param_handle, ret = kernel_args_append_place_holder(args_handle): room to be filled later."""

def kernel_args_finalize(args_handle: SupportsIndex, /) -> int:
    """ret = kernel_args_finalize(args_handle): the list is complete."""

def kernel_args_get_handle_mem_size(func_handle: SupportsIndex, /) -> tuple[int, int]:
    """mem_size, ret = kernel_args_get_handle_mem_size(func_handle): bytes of a list handle."""

def kernel_args_get_mem_size(func_handle: SupportsIndex, user_args_size: SupportsIndex, /) -> tuple[int, int]:
    """actual_args_size, ret = kernel_args_get_mem_size(func_handle, user_args_size): bytes to provide."""

def kernel_args_get_place_holder_buffer(
    args_handle: SupportsIndex, param_handle: SupportsIndex, data_size: SupportsIndex, /
) -> tuple[int, int]:
    """buffer_addr, ret = kernel_args_get_place_holder_buffer(args_handle, param_handle, data_size)"""

def kernel_args_init(func_handle: SupportsIndex, /) -> tuple[int, int]:
    """args_handle, ret = kernel_args_init(func_handle): a new list of arguments."""

def kernel_args_init_by_user_mem(
    func_handle: SupportsIndex,
    args_handle: SupportsIndex,
    user_host_mem: SupportsIndex,
    actual_args_size: SupportsIndex,
    /,
) -> int:
    """ret = kernel_args_init_by_user_mem(func_handle, args_handle, user_host_mem, actual_args_size)"""

def kernel_args_para_update(
    args_handle: SupportsIndex, param_handle: SupportsIndex, param: SupportsIndex, param_size: SupportsIndex, /
) -> int:
    """ret = kernel_args_para_update(args_handle, param_handle, param, param_size): change a value."""

def launch_callback(
    fn: Callable[..., object], user_data_list: object, block_type: SupportsIndex, stream: SupportsIndex, /
) -> int:
    """ret = launch_callback(fn, user_data_list, block_type, stream): queue fn(user_data_list).

    block_type: 1 holds later work of the stream back until fn has run, 0 does not. What fn
    raises is reported and dropped.
    """

def launch_kernel(
    func_handle: SupportsIndex,
    num_blocks: SupportsIndex,
    args_data: SupportsIndex,
    args_size: SupportsIndex,
    stream: SupportsIndex,
    /,
) -> int:
    """ret = launch_kernel(func_handle, num_blocks, args_data, args_size, stream): queue a kernel."""

def launch_kernel_with_config(
    func_handle: SupportsIndex,
    num_blocks: SupportsIndex,
    stream: SupportsIndex,
    cfg: list[dict[str, Any]],
    args_handle: SupportsIndex,
    reserve: SupportsIndex,
    /,
) -> int:
    """ret = launch_kernel_with_config(func_handle, num_blocks, stream, cfg, args_handle, reserve): queue a kernel.

    cfg is a list of {"id", "value"}; reserve is 0.
    """

def launch_kernel_with_host_args(
    func_handle: SupportsIndex,
    num_blocks: SupportsIndex,
    stream: SupportsIndex,
    cfg: list[dict[str, Any]],
    host_args_ptr: SupportsIndex,
    host_args_size: SupportsIndex,
    place_holder_list: list[dict[str, Any]],
    place_holder_num: SupportsIndex,
    /,
) -> int:
    """ret = launch_kernel_with_host_args(func_handle, num_blocks, stream, cfg, host_args_ptr, host_args_size,
    place_holder_list, place_holder_num): queue a kernel with arguments in host memory.

    cfg as in launch_kernel_with_config; place_holder_list is a list of {"addrOffset", "dataOffset"}.
    """

def malloc(size: SupportsIndex, policy: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = malloc(size, policy): device memory, 64-byte aligned, not initialised.

    size is in bytes, not 0. Release it with free.
    """

def malloc_align32(size: SupportsIndex, policy: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = malloc_align32(size, policy): as malloc, without its 32 spare bytes."""

def malloc_cached(size: SupportsIndex, policy: SupportsIndex, /) -> tuple[int, int]:
    """dev_ptr, ret = malloc_cached(size, policy): as malloc; cacheable and coherent, no flush needed."""

def malloc_for_task_scheduler(size: SupportsIndex, policy: SupportsIndex, cfg: dict[str, Any], /) -> tuple[int, int]:
    """dev_ptr, ret = malloc_for_task_scheduler(size, policy, cfg): memory for the task scheduler."""

def malloc_host(size: SupportsIndex, /) -> tuple[int, int]:
    """host_ptr, ret = malloc_host(size): pinned host memory, 64-byte aligned, not initialised.

    size is in bytes, not 0. Release it with free_host.
    """

def malloc_host_with_cfg(size: SupportsIndex, cfg: dict[str, Any], /) -> tuple[int, int]:
    """host_ptr, ret = malloc_host_with_cfg(size, cfg): as malloc_host, with attributes.

    cfg is {} or {"attrs": [{"attr": 1, "value": {"moduleId": n}}], "numAttrs": 1}; attr 3 takes vaFlag.
    """

def malloc_physical(size: SupportsIndex, prop: dict[str, Any], flags: SupportsIndex, /) -> tuple[int, int]:
    """handle, ret = malloc_physical(size, prop, flags): physical memory; flags is 0.

    prop holds handleType (0), allocationType (0), memAttr, location ({"id", "type"}: type 0 host,
    1 device, 4 NUMA node) and reserve; a missing key is 0.
    """

def malloc_with_cfg(size: SupportsIndex, policy: SupportsIndex, cfg: dict[str, Any], /) -> tuple[int, int]:
    """dev_ptr, ret = malloc_with_cfg(size, policy, cfg): as malloc, with attributes.

    cfg is {} or {"attrs": [{"attr": 1, "value": {"moduleId": n}}], "numAttrs": 1}; attr 2 takes deviceId.
    """

def map_mem(
    vir_ptr: SupportsIndex, size: SupportsIndex, offset: SupportsIndex, handle: SupportsIndex, flags: SupportsIndex, /
) -> int:
    """ret = map_mem(vir_ptr, size, offset, handle, flags): offset and flags are 0."""

def mem_export_to_shareable_handle(
    handle: SupportsIndex, handle_type: SupportsIndex, flags: SupportsIndex, /
) -> tuple[int, int]:
    """shareable_handle, ret = mem_export_to_shareable_handle(handle, handle_type, flags): a token.

    flags: 0 only listed processes may import, 1 any.
    """

def mem_flush(dev_ptr: SupportsIndex, size: SupportsIndex, /) -> int:
    """ret = mem_flush(dev_ptr, size): write cached data back. Not needed for coherence."""

def mem_get_allocation_granularity(prop: dict[str, Any], option: SupportsIndex, /) -> tuple[int, int]:
    """granularity, ret = mem_get_allocation_granularity(prop, option): bytes; 0 minimum, 1 recommended."""

def mem_import_from_shareable_handle(shareable_handle: SupportsIndex, device_id: SupportsIndex, /) -> tuple[int, int]:
    """handle, ret = mem_import_from_shareable_handle(shareable_handle, device_id): free_physical releases it."""

def mem_invalidate(dev_ptr: SupportsIndex, size: SupportsIndex, /) -> int:
    """ret = mem_invalidate(dev_ptr, size): drop cached data. Not needed for coherence."""

def mem_set_pid_to_shareable_handle(shareable_handle: SupportsIndex, pid: list[int], /) -> int:
    """ret = mem_set_pid_to_shareable_handle(shareable_handle, pid): the list of processes that may import."""

def mem_uce_repair(device_id: SupportsIndex, mem_uce_info: list[dict[str, Any]], /) -> int:
    """ret = mem_uce_repair(device_id, mem_uce_info): a list as get_mem_uce_info gives it."""

def memcpy(
    dst: SupportsIndex, dest_max: SupportsIndex, src: SupportsIndex, count: SupportsIndex, kind: SupportsIndex, /
) -> int:
    """ret = memcpy(dst, dest_max, src, count, kind): copy now. The addresses decide the direction.

    kind: 0 host to host, 1 host to device, 2 device to host, 3 device to device, 4 by the addresses.
    """

def memcpy2d(
    dst: SupportsIndex,
    dpitch: SupportsIndex,
    src: SupportsIndex,
    spitch: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    kind: SupportsIndex,
    /,
) -> int:
    """ret = memcpy2d(dst, dpitch, src, spitch, width, height, kind): copy rows now."""

def memcpy2d_async(
    dst: SupportsIndex,
    dpitch: SupportsIndex,
    src: SupportsIndex,
    spitch: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    kind: SupportsIndex,
    stream: SupportsIndex,
    /,
) -> int:
    """ret = memcpy2d_async(dst, dpitch, src, spitch, width, height, kind, stream): queue a copy of rows."""

def memcpy_async(
    dst: SupportsIndex,
    dest_max: SupportsIndex,
    src: SupportsIndex,
    count: SupportsIndex,
    kind: SupportsIndex,
    stream: SupportsIndex,
    /,
) -> int:
    """ret = memcpy_async(dst, dest_max, src, count, kind, stream): queue a copy.

    Keep both sides alive until the stream is synchronised.
    """

def memcpy_async_with_condition(
    dst: SupportsIndex,
    dest_max: SupportsIndex,
    src: SupportsIndex,
    count: SupportsIndex,
    kind: SupportsIndex,
    stream: SupportsIndex,
    /,
) -> int:
    """ret = memcpy_async_with_condition(dst, dest_max, src, count, kind, stream). Use memcpy_async."""

def memcpy_async_with_desc(desc: SupportsIndex, kind: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = memcpy_async_with_desc(desc, kind, stream): queue a described copy."""

def memset(dev_ptr: SupportsIndex, max_count: SupportsIndex, value: SupportsIndex, count: SupportsIndex, /) -> int:
    """ret = memset(dev_ptr, max_count, value, count): fill now, with the low byte of value."""

def memset_async(
    dev_ptr: SupportsIndex,
    max_count: SupportsIndex,
    value: SupportsIndex,
    count: SupportsIndex,
    stream: SupportsIndex,
    /,
) -> int:
    """ret = memset_async(dev_ptr, max_count, value, count, stream): queue a fill."""

def notify_batch_reset(notifies: list[int], /) -> int:
    """ret = notify_batch_reset(notifies): a list of handles."""

def notify_get_export_key(notify: SupportsIndex, len: SupportsIndex, flags: SupportsIndex, /) -> tuple[str, int]:
    """key, ret = notify_get_export_key(notify, len, flags): len is at least 65; flag 2 checks no process ids."""

def notify_import_by_key(key: str, flags: SupportsIndex, /) -> tuple[int, int]:
    """notify, ret = notify_import_by_key(key, flags): flag 2 also enables peer access."""

def notify_set_import_pid(notify: SupportsIndex, pid: list[int], /) -> int:
    """ret = notify_set_import_pid(notify, pid): the list of processes that may import."""

def peek_at_last_error(level: SupportsIndex, /) -> int:
    """ret = peek_at_last_error(level): the last failure of this thread; it stays."""

def pointer_get_attributes(ptr: SupportsIndex, /) -> tuple[dict[str, Any], int]:
    """attributes, ret = pointer_get_attributes(ptr): {"location": {"id", "type"}, "page_size", "rsv"}.

    type: 0 host, 1 device, 2 unknown to the runtime, 3 managed, 4 host of a NUMA node.
    """

def process_report(timeout: SupportsIndex, /) -> int:
    """ret = process_report(timeout): run callbacks of this thread; milliseconds, -1 for ever.

    Nothing to run in that time is a code too (507012).
    """

def query_device_status(device_id: SupportsIndex, /) -> tuple[int, int]:
    """device_status, ret = query_device_status(device_id): 0 normal, 1 abnormal."""

def query_event(event: SupportsIndex, /) -> tuple[int, int]:
    """status, ret = query_event(event): 0 complete, 1 not ready. Use query_event_status."""

def query_event_status(event: SupportsIndex, /) -> tuple[int, int]:
    """status, ret = query_event_status(event): 0 not ready, 1 complete."""

def query_event_wait_status(event: SupportsIndex, /) -> tuple[int, int]:
    """status, ret = query_event_wait_status(event): 0 complete, 1 not ready."""

def record_event(event: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = record_event(event, stream): event first."""

def record_notify(notify: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = record_notify(notify, stream): queued."""

def reduce_async(
    dst: SupportsIndex,
    src: SupportsIndex,
    count: SupportsIndex,
    kind: SupportsIndex,
    type: SupportsIndex,
    stream: SupportsIndex,
    reserve: SupportsIndex,
    /,
) -> int:
    """ret = reduce_async(dst, src, count, kind, type, stream, reserve): queue dst = dst op src.

    count is in bytes; kind 10 sum, 11 max, 12 min; reserve is 0.
    """

def register_cpu_func(bin_handle: SupportsIndex, func_name: str, kernel_name: str, /) -> tuple[int, int]:
    """func_handle, ret = register_cpu_func(bin_handle, func_name, kernel_name): names are not empty."""

def release_mem_address(vir_ptr: SupportsIndex, /) -> int:
    """ret = release_mem_address(vir_ptr): unmap first."""

def reserve_mem_address(
    size: SupportsIndex, alignment: SupportsIndex, expect_ptr: SupportsIndex, flags: SupportsIndex, /
) -> tuple[int, int]:
    """vir_ptr, ret = reserve_mem_address(size, alignment, expect_ptr, flags): a range of addresses."""

def reset_device(device_id: SupportsIndex, /) -> int:
    """ret = reset_device(device_id): undo one set_device; the last one releases the device."""

def reset_device_force(device_id: SupportsIndex, /) -> int:
    """ret = reset_device_force(device_id): release the device whatever the count."""

def reset_device_res_limit(device_id: SupportsIndex, /) -> int:
    """ret = reset_device_res_limit(device_id)"""

def reset_event(event: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = reset_event(event, stream): queued; only events with the sync bit."""

def reset_overflow_status(stream: SupportsIndex, /) -> int:
    """ret = reset_overflow_status(stream): queued."""

def reset_stream_res_limit(stream: SupportsIndex, /) -> int:
    """ret = reset_stream_res_limit(stream)"""

def set_context(context: SupportsIndex, /) -> int:
    """ret = set_context(context): make it current for this thread."""

def set_device(device_id: SupportsIndex, /) -> int:
    """ret = set_device(device_id): bind this thread to a device; counted."""

def set_device_res_limit(device_id: SupportsIndex, type: SupportsIndex, value: SupportsIndex, /) -> int:
    """ret = set_device_res_limit(device_id, type, value)"""

def set_device_sat_mode(mode: SupportsIndex, /) -> int:
    """ret = set_device_sat_mode(mode): 0 saturates, 1 gives inf and nan; for later streams."""

def set_exception_info_callback(fn: Callable[..., object] | None = ..., /) -> int:
    """ret = set_exception_info_callback(fn): call fn(info) when a task fails; None clears it.

    One per process, the last one wins. fn runs in a thread of the runtime.
    """

def set_group(group_id: SupportsIndex, /) -> int:
    """ret = set_group(group_id): compute with this group."""

def set_memcpy_desc(
    desc: SupportsIndex,
    kind: SupportsIndex,
    src_addr: SupportsIndex,
    dst_addr: SupportsIndex,
    count: SupportsIndex,
    config: SupportsIndex,
    /,
) -> tuple[int, int]:
    """desc, ret = set_memcpy_desc(desc, kind, src_addr, dst_addr, count, config): source first; config is 0."""

def set_op_execute_time_out(timeout: SupportsIndex, /) -> int:
    """ret = set_op_execute_time_out(timeout): seconds, 0 the maximum."""

def set_op_execute_timeout_v2(timeout: SupportsIndex, /) -> tuple[int, int]:
    """actual_time_out, ret = set_op_execute_timeout_v2(timeout): microseconds, 0 the maximum."""

def set_op_wait_timeout(timeout: SupportsIndex, /) -> int:
    """ret = set_op_wait_timeout(timeout): seconds, 0 never; for the process."""

def set_stream_attribute(stream: SupportsIndex, stm_attr_type: SupportsIndex, value: dict[str, Any], /) -> int:
    """ret = set_stream_attribute(stream, stm_attr_type, value): value holds the key of the type:
    failureMode (1), overflowSwitch (2), userCustomTag (3), else reserved (a list).
    """

def set_stream_failure_mode(stream: SupportsIndex, mode: SupportsIndex, /) -> int:
    """ret = set_stream_failure_mode(stream, mode): 0 goes on after a failed task, 1 stops."""

def set_stream_overflow_switch(stream: SupportsIndex, flag: SupportsIndex, /) -> int:
    """ret = set_stream_overflow_switch(stream, flag): 0 off, 1 on; for later work."""

def set_stream_res_limit(stream: SupportsIndex, type: SupportsIndex, value: SupportsIndex, /) -> int:
    """ret = set_stream_res_limit(stream, type, value)"""

def set_sys_param_opt(opt: SupportsIndex, value: SupportsIndex, /) -> int:
    """ret = set_sys_param_opt(opt, value): for the process."""

def set_ts_device(ts_id: SupportsIndex, /) -> int:
    """ret = set_ts_device(ts_id): choose the task scheduler, 0 or 1."""

def stream_abort(stream: SupportsIndex, /) -> int:
    """ret = stream_abort(stream): stop running work, drop queued work."""

def stream_get_id(stream: SupportsIndex, /) -> tuple[int, int]:
    """stream_id, ret = stream_get_id(stream)"""

def stream_query(stream: SupportsIndex, /) -> tuple[int, int]:
    """status, ret = stream_query(stream): 0 complete, 1 not ready."""

def stream_wait_event(stream: SupportsIndex, event: SupportsIndex, /) -> int:
    """ret = stream_wait_event(stream, event): stream first; queued, the caller goes on."""

def subscribe_report(thread_id: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = subscribe_report(thread_id, stream): callbacks of the stream run in that thread.

    thread_id comes from acl.util.start_thread or threading.get_ident().
    """

def synchronize_device() -> int:
    """ret = synchronize_device(): wait for all work of the current context's device."""

def synchronize_device_with_timeout(timeout: SupportsIndex, /) -> int:
    """ret = synchronize_device_with_timeout(timeout): milliseconds, -1 for ever; 507046 when it expires."""

def synchronize_event(event: SupportsIndex, /) -> int:
    """ret = synchronize_event(event): wait for it; other threads run meanwhile."""

def synchronize_event_with_timeout(event: SupportsIndex, timeout: SupportsIndex, /) -> int:
    """ret = synchronize_event_with_timeout(event, timeout): milliseconds, -1 for ever; 507047 when it expires."""

def synchronize_stream(stream: SupportsIndex, /) -> int:
    """ret = synchronize_stream(stream): wait for its work; other threads run meanwhile."""

def synchronize_stream_with_timeout(stream: SupportsIndex, timeout: SupportsIndex, /) -> int:
    """ret = synchronize_stream_with_timeout(stream, timeout): milliseconds, -1 for ever; 507046 when it expires."""

def unmap_mem(vir_ptr: SupportsIndex, /) -> int:
    """ret = unmap_mem(vir_ptr)"""

def unsubscribe_report(thread_id: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = unsubscribe_report(thread_id, stream)"""

def unuse_stream_res_in_current_thread(stream: SupportsIndex, /) -> int:
    """ret = unuse_stream_res_in_current_thread(stream)"""

def use_stream_res_in_current_thread(stream: SupportsIndex, /) -> int:
    """ret = use_stream_res_in_current_thread(stream): make its limits count."""

def value_wait(dev_addr: SupportsIndex, value: SupportsIndex, flag: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = value_wait(dev_addr, value, flag, stream): the stream waits for 8 bytes: 0 >=, 1 ==, 2 and, 3 nor."""

def value_write(dev_addr: SupportsIndex, value: SupportsIndex, flag: SupportsIndex, stream: SupportsIndex, /) -> int:
    """ret = value_write(dev_addr, value, flag, stream): queue a write of 8 bytes."""

def wait_and_reset_notify(notify: SupportsIndex, stream: SupportsIndex, timeout: SupportsIndex, /) -> int:
    """ret = wait_and_reset_notify(notify, stream, timeout): queued; 0 is for ever."""
