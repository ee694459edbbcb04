//! Data buffers: an address and a size under a handle. The memory stays the program's.

use std::ffi::c_void;

use cannery_abi::aclDataBuffer;

use crate::c_api::at;
use crate::calls::calls;
use crate::convert::Word;

calls! {
    also [];

    /// output = create_data_buffer(data, size): a handle, 0 on failure.
    fn create_data_buffer(data: Word, size: Word) -> [*mut aclDataBuffer] = aclCreateDataBuffer(at(data), size);

    /// ret = destroy_data_buffer(data_buffer): the memory behind it stays.
    fn destroy_data_buffer(data_buffer: Word) -> code = aclDestroyDataBuffer(at(data_buffer));

    /// output = get_data_buffer_addr(data_buffer): the address it holds.
    fn get_data_buffer_addr(data_buffer: Word) -> [*mut c_void] = aclGetDataBufferAddr(at(data_buffer));

    /// size = get_data_buffer_size(data_buffer): the size it holds, at most 32 bits.
    fn get_data_buffer_size(data_buffer: Word) -> [u32] = aclGetDataBufferSize(at(data_buffer));

    /// size = get_data_buffer_size_v2(data_buffer): the size it holds.
    fn get_data_buffer_size_v2(data_buffer: Word) -> [usize] = aclGetDataBufferSizeV2(at(data_buffer));

    /// ret = update_data_buffer(data_buffer, data, size): hold another address; nothing is freed.
    fn update_data_buffer(data_buffer: Word, data: Word, size: Word) -> code = aclUpdateDataBuffer(
        at(data_buffer),
        at(data),
        size,
    );
}
