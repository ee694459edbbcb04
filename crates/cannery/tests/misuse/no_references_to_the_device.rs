use cannery::{Context, DeviceBuffer, PinnedBuffer, Result};
use std::sync::Arc;

fn reference(context: &Arc<Context>, host: &'static str) -> Result<DeviceBuffer<&'static str>> {
    DeviceBuffer::from_slice(context, &[host])
}

fn boxes(context: &Arc<Context>) -> Result<PinnedBuffer<Box<u32>>> {
    PinnedBuffer::zeroed(context, 4)
}

fn bool_back(buffer: &DeviceBuffer<bool>) -> Result<Vec<bool>> {
    buffer.to_vec()
}

fn main() {}
