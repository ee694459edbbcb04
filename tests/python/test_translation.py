"""What arrives in C, and what comes back, for every function of the contract."""

import struct

from contract import NUMBERS, ROWS, arguments, find, kind
from echo_library import FIRST_OUTPUT, Echo, functions
from isolated import isolated, raises

# Rows with a test of their own below, or in another file: structures, callables, lists of outputs.
SPECIAL = {
    "acl.app_log",
    "acl.get_cann_attribute_list",
    "acl.get_cann_version",
    "acl.rt.allocator_set_alloc_advise_func_to_desc",
    "acl.rt.allocator_set_alloc_func_to_desc",
    "acl.rt.allocator_set_free_func_to_desc",
    "acl.rt.allocator_set_get_addr_from_block_func_to_desc",
    "acl.rt.device_get_uuid",
    "acl.rt.get_device_utilization_rate",
    "acl.rt.get_group_count",
    "acl.rt.get_group_info_detail",
    "acl.rt.get_mem_uce_info",
    "acl.rt.get_primary_ctx_state",
    "acl.rt.get_stream_attribute",
    "acl.rt.launch_callback",
    "acl.rt.launch_kernel_with_host_args",
    "acl.rt.malloc_for_task_scheduler",
    "acl.rt.malloc_host_with_cfg",
    "acl.rt.malloc_physical",
    "acl.rt.malloc_with_cfg",
    "acl.rt.mem_get_allocation_granularity",
    "acl.rt.mem_uce_repair",
    "acl.rt.pointer_get_attributes",
    "acl.rt.set_exception_info_callback",
    "acl.rt.set_memcpy_desc",
    "acl.rt.set_stream_attribute",
}

ITEM_SIZE = {"notifies": 8, "pid": 4}


def ordinary():
    """The rows that follow the general rule."""
    known = functions()
    return [row for row in ROWS if row["name"] not in SPECIAL and row["c_function"] in known]


def expected_call(row):
    """What the echo should tell: the arguments in their order."""
    words = [row["c_function"]]
    for arg, value in zip(row["args"], arguments(row)):
        if kind(row, arg) in NUMBERS:
            words.append(str(value))
        elif isinstance(value, str):
            words.append(f"'{value}'")
        elif isinstance(value, float):
            words.append(f"{value:g}")
        elif value == []:
            words.append("<NULL>")
        else:
            size = ITEM_SIZE[arg["name"]]
            words.append(f"<{b''.join(item.to_bytes(size, 'little') for item in value).hex()}>")
            words.append(str(len(value)))
    return " ".join(words)


def expected_value(kind_of_value, position):
    """What the echo writes to an output."""
    return {"float": 1.5, "str": "echo text", "str or None": "echo text"}.get(kind_of_value, FIRST_OUTPUT + position)


@isolated(echo=True)
def test_arguments_arrive_in_order():
    echo = Echo()
    checked = 0
    for row in ordinary():
        find(row["name"])(*arguments(row))
        assert echo.last() == expected_call(row), (row["name"], echo.last())
        checked += 1
    assert checked > 185


@isolated(echo=True)
def test_results_have_the_shape_of_the_contract():
    for row in ordinary():
        result = find(row["name"])(*arguments(row))
        outputs = [item for item in row["returns"] if item["name"] != "ret"]
        if row["returns_kind"].startswith("tuple"):
            values = [expected_value(item["type"], position) for position, item in enumerate(outputs)]
            assert result == (*values, 0), (row["name"], result)
            assert type(result) is tuple
        elif row["returns_kind"] == "None":
            assert result is None, row["name"]
        elif outputs:
            bare = {"float": 1.5, "str or None": "echo text"}.get(outputs[0]["type"], 5)
            assert (result, type(result)) == (bare, type(bare)), row["name"]
        else:
            # A code, or a code-like number that the function returns.
            assert type(result) is int, row["name"]
            assert result == (5 if "FromExceptionInfo" in row["c_function"] else 0), row["name"]


@isolated(echo=True)
def test_failures_are_codes_and_outputs_are_then_zero():
    echo = Echo()
    echo.code(507899)
    for row in ordinary():
        result = find(row["name"])(*arguments(row))
        if not row["returns_kind"].startswith("tuple"):
            continue
        assert result[-1] == 507899, row["name"]
        for item, value in zip(row["returns"][:-1], result):
            assert value == ("" if item["type"] == "str" else 0), row["name"]


@isolated(echo=True)
def test_negative_codes_stay_negative_but_where_the_contract_says_unsigned():
    import acl

    Echo().code(-1)
    assert acl.rt.malloc(1, 0) == (0, -1)
    assert acl.rt.set_device(0) == -1
    assert acl.get_cann_version(0)[1] == 2**32 - 1
    assert acl.rt.get_device_utilization_rate(0)[1] == 2**32 - 1


@isolated(echo=True)
def test_texts_may_be_absent():
    import acl

    assert acl.get_soc_name() == "echo text"
    Echo().code(1)
    assert acl.get_soc_name() is None
    assert acl.get_recent_err_msg() is None


@isolated(echo=True)
def test_the_log_takes_text_literally_and_names_the_caller():
    import acl

    echo = Echo()

    def worker():
        return acl.app_log(3, "50% done, %s %n {}")

    assert worker() is None
    line = worker.__code__.co_firstlineno + 1
    assert echo.last() == f"aclAppLog 3 'worker' 'test_translation.py' {line} '50% done, %s %n {{}}'"


@isolated(echo=True)
def test_results_that_surprise():
    import acl

    echo = Echo()
    assert acl.rt.get_primary_ctx_state(3) == (FIRST_OUTPUT + 1, FIRST_OUTPUT, 0)  # active, flags: C has flags first
    assert acl.rt.set_memcpy_desc(11, 6, 12, 13, 14, 0) == (11, 0)
    assert echo.last() == "aclrtSetMemcpyDesc 11 6 12 13 14 0"
    assert acl.get_cann_attribute_list() == ([3, 1, 4], 3, 0)
    assert acl.rt.get_group_info_detail(11, 12, 13) == ([8, 9], 0)
    assert acl.rt.get_group_count() == acl.rt.get_group_count(9) == (FIRST_OUTPUT, 0)
    echo.code(1)
    assert acl.get_cann_attribute_list() == ([], 0, 1)
    with raises(RuntimeError, match="code 1"):
        acl.rt.get_group_info_detail(11, 12, 13)


@isolated(echo=True)
def test_structures_become_dictionaries():
    import acl

    version, ret = acl.get_cann_version(2)
    assert ret == 0
    keys = ["version", "major_version", "minor_version", "release_version", "patch_version", "reserved"]
    assert list(version) == keys
    assert all(isinstance(text, str) for text in version.values())

    utilization, ret = acl.rt.get_device_utilization_rate(0)
    assert ret == 0
    names = ["cube_utilization", "vector_utilization", "aicpu_utilization", "memory_utilization"]
    assert list(utilization) == [*names, "utilization_extend"]
    assert [utilization[name] for name in names] == list(struct.unpack("<4i", bytes(range(1, 17))))

    assert acl.rt.device_get_uuid(0) == ({"bytes": list(range(1, 17))}, 0)

    attributes, ret = acl.rt.pointer_get_attributes(11)
    numbers = struct.unpack("<7I", bytes(i % 16 + 1 for i in range(28)))
    assert ret == 0
    assert attributes == {
        "location": {"id": numbers[0], "type": numbers[1]},
        "page_size": numbers[2],
        "rsv": list(numbers[3:]),
    }

    ranges, ret = acl.rt.get_mem_uce_info(0, 8)
    assert ret == 0
    assert ranges == [
        {"addr": 0, "len": 1, "reserved": list(range(2, 16))},
        {"addr": 16, "len": 17, "reserved": list(range(18, 32))},
    ]


@isolated(echo=True)
def test_stream_attributes():
    import acl

    echo = Echo()
    raw = bytes(range(1, 17))
    for kind_of_value, key, size in ((1, "failureMode", 8), (2, "overflowSwitch", 4), (3, "userCustomTag", 4)):
        assert acl.rt.set_stream_attribute(11, kind_of_value, {key: 6}) == 0
        assert echo.last() == f"aclrtSetStreamAttribute 11 {kind_of_value} <{(6).to_bytes(16, 'little').hex()}>"
        value = int.from_bytes(raw[:size], "little")
        assert acl.rt.get_stream_attribute(11, kind_of_value) == ({key: value}, 0)
    assert acl.rt.set_stream_attribute(11, 1, {}) == 0
    assert echo.last().endswith(f"<{bytes(16).hex()}>")
    assert acl.rt.set_stream_attribute(11, 9, {"reserved": [1, 2, 3, 4]}) == 0
    assert echo.last().endswith(f"<{struct.pack('<4I', 1, 2, 3, 4).hex()}>")
    assert acl.rt.get_stream_attribute(11, 9) == ({"reserved": list(struct.unpack("<4I", raw))}, 0)
    with raises(TypeError):
        acl.rt.set_stream_attribute(11, 1, None)


@isolated(echo=True)
def test_allocation_attributes():
    import acl

    echo = Echo()
    module = {"attr": 1, "value": {"moduleId": 33}}
    device = {"attr": 2, "value": {"deviceId": 1}}
    same_address = {"attr": 3, "value": {"vaFlag": 1}}
    reserved = {"attr": 0, "value": {"rsv": [1, 2, 3]}}
    for call, c_name in (
        (lambda cfg: acl.rt.malloc_with_cfg(11, 12, cfg), "aclrtMallocWithCfg 11 12"),
        (lambda cfg: acl.rt.malloc_for_task_scheduler(11, 12, cfg), "aclrtMallocForTaskScheduler 11 12"),
        (lambda cfg: acl.rt.malloc_host_with_cfg(11, cfg), "aclrtMallocHostWithCfg 11"),
    ):
        assert call({}) == (FIRST_OUTPUT, 0)
        assert echo.last() == f"{c_name} <NULL>"
        assert call({"attrs": [], "numAttrs": 0}) == (FIRST_OUTPUT, 0)
        assert echo.last() == f"{c_name} <NULL>"
        assert call({"attrs": [module, device], "numAttrs": 2}) == (FIRST_OUTPUT, 0)
        assert echo.last() == f"{c_name} <{struct.pack('<iH6xiI4x', 1, 33, 2, 1).hex()}>"
        assert call({"attrs": [same_address, reserved], "numAttrs": 2}) == (FIRST_OUTPUT, 0)
        assert echo.last() == f"{c_name} <{struct.pack('<iI4xi8s', 3, 1, 0, bytes([1, 2, 3])).hex()}>"
        # A missing key stands for 0.
        assert call({"attrs": [{}], "numAttrs": 1}) == (FIRST_OUTPUT, 0)
        assert echo.last() == f"{c_name} <{bytes(12).hex()}>"
        for wrong in ({"attrs": [module], "numAttrs": 2}, {"attrs": [module]}, {"numAttrs": 1}):
            with raises(KeyError):
                call(wrong)
        for wrong in (None, [], 0, {"attrs": (module,), "numAttrs": 1}, {"attrs": [1], "numAttrs": 1}):
            with raises(TypeError):
                call(wrong)


@isolated(echo=True)
def test_physical_memory_properties():
    import acl

    echo = Echo()

    def sent():
        return struct.unpack("<iiiIixxxxQ", bytes.fromhex(echo.last().partition("<")[2].partition(">")[0]))

    location = {"id": 1, "type": 4}
    prop = {"handleType": 1, "allocationType": 2, "memAttr": 4, "location": location, "reserve": 5}
    assert acl.rt.malloc_physical(11, prop, 12) == (FIRST_OUTPUT, 0)
    assert sent() == (1, 2, 4, 1, 4, 5)
    assert echo.last().startswith("aclrtMallocPhysical 11 <") and echo.last().endswith("> 12")
    assert acl.rt.mem_get_allocation_granularity(prop, 1) == (FIRST_OUTPUT, 0)
    assert sent() == (1, 2, 4, 1, 4, 5)
    acl.rt.malloc_physical(11, {}, 0)
    assert sent() == (0, 0, 0, 0, 0, 0)
    acl.rt.malloc_physical(11, {"memAttr": "no number", "location": {"type": None}}, 0)
    assert sent() == (0, 0, 0, 0, 0, 0)
    for wrong in (None, [], 1, {"location": []}):
        with raises(TypeError):
            acl.rt.malloc_physical(11, wrong, 0)
        with raises(TypeError):
            acl.rt.mem_get_allocation_granularity(wrong, 0)


@isolated(echo=True)
def test_kernel_options():
    import acl

    echo = Echo()
    options = [{"type": 1, "value": 1}, {"type": 2, "value": 0x43554245}]
    assert acl.rt.binary_load_from_file("/a.o", options) == (FIRST_OUTPUT, 0)
    packed = struct.pack("<iI12xiI12x", 1, 1, 2, 0x43554245).hex()
    assert echo.last() == f"aclrtBinaryLoadFromFile '/a.o' <{packed}>"
    assert acl.rt.binary_load_from_data(11, 12, options) == (FIRST_OUTPUT, 0)
    assert echo.last() == f"aclrtBinaryLoadFromData 11 12 <{packed}>"

    cfg = [{"id": 1, "value": 2}, {"id": 8, "value": 2**33 + 5}]
    packed = struct.pack("<iI12xiQ8x", 1, 2, 8, 2**33 + 5).hex()
    assert acl.rt.launch_kernel_with_config(11, 12, 13, cfg, 14, 0) == 0
    assert echo.last() == f"aclrtLaunchKernelWithConfig 11 12 13 <{packed}> 14 0"
    holders = [{"addrOffset": 8, "dataOffset": 16}]
    assert acl.rt.launch_kernel_with_host_args(11, 12, 13, cfg, 14, 15, holders, 1) == 0
    assert (
        echo.last() == f"aclrtLaunchKernelWithHostArgs 11 12 13 <{packed}> 14 15 <{struct.pack('<II', 8, 16).hex()}> 1"
    )
    with raises(KeyError):
        acl.rt.launch_kernel_with_host_args(11, 12, 13, cfg, 14, 15, holders, 2)

    for wrong in (None, (), {}, 1):
        with raises(ValueError):
            acl.rt.binary_load_from_file("/a.o", wrong)
        with raises(ValueError):
            acl.rt.launch_kernel_with_config(11, 12, 13, wrong, 14, 0)
    with raises(ValueError):
        acl.rt.register_cpu_func(1, "", "kernel")
    with raises(ValueError):
        acl.rt.get_function_name(1, 1024)
    assert acl.rt.get_function_name(1, 1023) == ("echo text", 0)


@isolated(echo=True)
def test_lists_of_processes_and_keys():
    import acl

    echo = Echo()
    packed = struct.pack("<3i", 1, 2, -3).hex()
    assert acl.rt.ipc_mem_set_import_pid("key", [1, 2, -3]) == 0
    assert echo.last() == f"aclrtIpcMemSetImportPid 'key' <{packed}> 3"
    assert acl.rt.mem_set_pid_to_shareable_handle(11, [1, 2, -3]) == 0
    assert echo.last() == f"aclrtMemSetPidToShareableHandle 11 <{packed}> 3"
    for wrong in (None, (1,), 1, "1"):
        with raises(ValueError):
            acl.rt.ipc_mem_set_import_pid("key", wrong)
        with raises(ValueError):
            acl.rt.mem_set_pid_to_shareable_handle(11, wrong)
        with raises(TypeError):
            acl.rt.notify_set_import_pid(11, wrong)
        with raises(TypeError):
            acl.rt.notify_batch_reset(wrong)
    with raises(TypeError):
        acl.rt.ipc_mem_set_import_pid("key", [2**31])
    assert acl.rt.ipc_mem_get_export_key(11, 12, 65, 1) == ("echo text", 0)
    assert echo.last() == "aclrtIpcMemGetExportKey 11 12 65 1"
    for length in (1024, -1):
        with raises(ValueError):
            acl.rt.ipc_mem_get_export_key(11, 12, length, 0)
        with raises(ValueError):
            acl.rt.notify_get_export_key(11, length, 0)


@isolated(echo=True)
def test_damaged_memory_is_sent_back():
    import acl

    echo = Echo()
    assert acl.rt.mem_uce_repair(3, [{"addr": 11, "len": 12, "reserved": []}, {}]) == 0
    packed = struct.pack("<QQ112x128x", 11, 12).hex()
    assert echo.last() == f"aclrtMemUceRepair 3 <{packed}> 2"
    with raises(TypeError):
        acl.rt.mem_uce_repair(3, None)


@isolated(echo=True)
def test_what_the_library_lacks_is_not_supported():
    """The echo has no tensor descriptions."""
    import acl

    assert acl.create_tensor_desc(0, [1, 2], 2) == 0
    assert acl.destroy_tensor_desc(0) is None
    assert acl.set_tensor_desc_name(0, "name") is None
    assert acl.get_tensor_desc_type(0) == acl.get_tensor_desc_format(0) == -1
    for name in ("size", "element_count", "num_dims", "address"):
        assert find(f"acl.get_tensor_desc_{name}")(0) == 0
    assert acl.get_tensor_desc_name(0) is None
    assert acl.get_tensor_desc_dim(0, 0) == 0
    assert acl.get_tensor_desc_by_index(0, 0) == 0
    assert acl.get_tensor_desc_dim_v2(0, 0) == (0, 207000)
    assert acl.get_tensor_desc_dim_range(0, 0, 2) == (None, 207000)
    assert acl.get_tensor_desc_dim_range(0, 0, 4097) == (None, 100000)
    assert acl.trans_tensor_desc_format(0, 0) == (0, 207000)
    assert acl.set_tensor_shape(0, [1]) == 207000
    assert acl.set_tensor_shape_range(0, [[1, 2]]) == 207000
    assert acl.set_tensor_const(0, 0, 0) == 207000
    assert acl.rt.get_op_timeout_interval() == (0, 207000)
    for wrong in ((1, 2), None, 1):
        with raises(TypeError):
            acl.create_tensor_desc(0, wrong, 2)
        with raises(TypeError):
            acl.set_tensor_shape_range(0, wrong)
    with raises(TypeError):
        acl.set_tensor_value_range(0, [[1, 2, 3]])
