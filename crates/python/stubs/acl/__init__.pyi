"""The drop-in `acl` module: positional calls, numbers for addresses and handles, codes for failures."""
# Written by crates/python/gen_stubs.py. Do not edit.

from typing import Any, SupportsIndex

from . import blas as blas
from . import fv as fv
from . import himpi as himpi
from . import mdl as mdl
from . import media as media
from . import op as op
from . import prof as prof
from . import rt as rt
from . import util as util

__version__: str
__libascendcl__: str | None

def app_log(log_level: SupportsIndex, fmt: str, /) -> None:
    """app_log(log_level, fmt): write one line to the log.

    The text is taken literally. The line names the Python function, file and line.
    """

def create_data_buffer(data: SupportsIndex, size: SupportsIndex, /) -> int:
    """output = create_data_buffer(data, size): a handle, 0 on failure."""

def create_tensor_desc(data_type: SupportsIndex, dims: list[int], format: SupportsIndex, /) -> int:
    """desc = create_tensor_desc(data_type, dims, format): a handle, 0 on failure; dims is a list."""

def data_type_size(data_type: SupportsIndex, /) -> int:
    """size = data_type_size(data_type): bytes of one element."""

def destroy_data_buffer(data_buffer: SupportsIndex, /) -> int:
    """ret = destroy_data_buffer(data_buffer): the memory behind it stays."""

def destroy_tensor_desc(tensor_desc: SupportsIndex, /) -> None:
    """destroy_tensor_desc(tensor_desc)"""

def finalize(*ignored: object) -> int:
    """ret = finalize(): end the runtime, however often it was initialised.

    Arguments are ignored.
    """

def finalize_reference() -> tuple[int, int]:
    """ref_count, ret = finalize_reference(): undo one init; the last one ends the runtime."""

def float16_to_float(value: SupportsIndex, /) -> float:
    """output = float16_to_float(value): the number with these 16 bits."""

def float_to_float16(value: float, /) -> int:
    """output = float_to_float16(value): the 16 bits of a number."""

def get_cann_attribute(cann_attr: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_cann_attribute(cann_attr): whether a feature exists."""

def get_cann_attribute_list() -> tuple[list[int], int, int]:
    """cann_attr_list, num, ret = get_cann_attribute_list(): the features that exist."""

def get_cann_version(name: SupportsIndex, /) -> tuple[dict[str, Any], int]:
    """version, ret = get_cann_version(name): a dictionary of texts.

    `ret` is unsigned here: a negative code shows as a large number.
    """

def get_data_buffer_addr(data_buffer: SupportsIndex, /) -> int:
    """output = get_data_buffer_addr(data_buffer): the address it holds."""

def get_data_buffer_size(data_buffer: SupportsIndex, /) -> int:
    """size = get_data_buffer_size(data_buffer): the size it holds, at most 32 bits."""

def get_data_buffer_size_v2(data_buffer: SupportsIndex, /) -> int:
    """size = get_data_buffer_size_v2(data_buffer): the size it holds."""

def get_device_capability(device_id: SupportsIndex, device_info: SupportsIndex, /) -> tuple[int, int]:
    """value, ret = get_device_capability(device_id, device_info): a hardware size.

    `acl.rt.get_device_capability` is another function.
    """

def get_recent_err_msg() -> str | None:
    """msg = get_recent_err_msg(): the pending error texts of this thread, newest first, or None.

    Reading clears them.
    """

def get_soc_name() -> str | None:
    """soc_name = get_soc_name(): the name of the chip, or None."""

def get_tensor_desc_address(tensor_desc: SupportsIndex, /) -> int:
    """address = get_tensor_desc_address(tensor_desc): the data's address, 0 if none."""

def get_tensor_desc_by_index(tensor_desc: SupportsIndex, index: SupportsIndex, /) -> int:
    """desc = get_tensor_desc_by_index(tensor_desc, index): one of an array of descriptions."""

def get_tensor_desc_dim(tensor_desc: SupportsIndex, index: SupportsIndex, /) -> int:
    """dim = get_tensor_desc_dim(tensor_desc, index): one extent. Use get_tensor_desc_dim_v2."""

def get_tensor_desc_dim_range(
    tensor_desc: SupportsIndex, index: SupportsIndex, dim_range_num: SupportsIndex, /
) -> tuple[list[int] | None, int]:
    """dim_range, ret = get_tensor_desc_dim_range(tensor_desc, index, dim_range_num): a list, or None on failure."""

def get_tensor_desc_dim_v2(tensor_desc: SupportsIndex, index: SupportsIndex, /) -> tuple[int, int]:
    """dim, ret = get_tensor_desc_dim_v2(tensor_desc, index): one extent."""

def get_tensor_desc_element_count(tensor_desc: SupportsIndex, /) -> int:
    """count = get_tensor_desc_element_count(tensor_desc)"""

def get_tensor_desc_format(tensor_desc: SupportsIndex, /) -> int:
    """format = get_tensor_desc_format(tensor_desc)"""

def get_tensor_desc_name(tensor_desc: SupportsIndex, /) -> str | None:
    """name = get_tensor_desc_name(tensor_desc): the name, or None."""

def get_tensor_desc_num_dims(tensor_desc: SupportsIndex, /) -> int:
    """num = get_tensor_desc_num_dims(tensor_desc): the rank."""

def get_tensor_desc_size(tensor_desc: SupportsIndex, /) -> int:
    """size = get_tensor_desc_size(tensor_desc): bytes."""

def get_tensor_desc_type(tensor_desc: SupportsIndex, /) -> int:
    """type = get_tensor_desc_type(tensor_desc): the data type."""

def get_version() -> tuple[int, int, int, int]:
    """major_version, minor_version, patch_version, ret = get_version(): the interface version."""

def get_version_str(pkg_name: str, /) -> tuple[str, int]:
    """version_str, ret = get_version_str(pkg_name): the version of an installed package."""

def init(config_path: str = ..., /) -> int:
    """ret = init() or init(config_path): start the runtime.

    A second call returns 100002, which programs may ignore.
    """

def set_tensor_const(tensor_desc: SupportsIndex, data: SupportsIndex, size: SupportsIndex, /) -> int:
    """ret = set_tensor_const(tensor_desc, data, size): the memory must outlive the description."""

def set_tensor_desc_name(tensor_desc: SupportsIndex, name: str, /) -> None:
    """set_tensor_desc_name(tensor_desc, name)"""

def set_tensor_dynamic_input(tensor_desc: SupportsIndex, dynamic_input_name: str, /) -> int:
    """ret = set_tensor_dynamic_input(tensor_desc, dynamic_input_name)"""

def set_tensor_format(tensor_desc: SupportsIndex, format: SupportsIndex, /) -> int:
    """ret = set_tensor_format(tensor_desc, format)"""

def set_tensor_origin_format(tensor_desc: SupportsIndex, format: SupportsIndex, /) -> int:
    """ret = set_tensor_origin_format(tensor_desc, format)"""

def set_tensor_origin_shape(tensor_desc: SupportsIndex, dims: list[int], /) -> int:
    """ret = set_tensor_origin_shape(tensor_desc, dims)"""

def set_tensor_place_ment(tensor_desc: SupportsIndex, mem_type: SupportsIndex, /) -> int:
    """ret = set_tensor_place_ment(tensor_desc, mem_type): 0 device, 1 host."""

def set_tensor_shape(tensor_desc: SupportsIndex, dims: list[int], /) -> int:
    """ret = set_tensor_shape(tensor_desc, dims)"""

def set_tensor_shape_range(tensor_desc: SupportsIndex, dims_range: list[list[int]], /) -> int:
    """ret = set_tensor_shape_range(tensor_desc, dims_range): one [low, high] list per axis."""

def set_tensor_storage_format(tensor_desc: SupportsIndex, format: SupportsIndex, /) -> int:
    """ret = set_tensor_storage_format(tensor_desc, format). Use set_tensor_format."""

def set_tensor_storage_shape(tensor_desc: SupportsIndex, dims: list[int], /) -> int:
    """ret = set_tensor_storage_shape(tensor_desc, dims). Use set_tensor_shape."""

def set_tensor_value_range(tensor_desc: SupportsIndex, value_range: list[list[int]], /) -> int:
    """ret = set_tensor_value_range(tensor_desc, value_range): [low, high] lists."""

def trans_tensor_desc_format(tensor_desc: SupportsIndex, format: SupportsIndex, /) -> tuple[int, int]:
    """dst_desc, ret = trans_tensor_desc_format(tensor_desc, format): a new description; destroy it."""

def update_data_buffer(data_buffer: SupportsIndex, data: SupportsIndex, size: SupportsIndex, /) -> int:
    """ret = update_data_buffer(data_buffer, data, size): hold another address; nothing is freed."""
