use cannery::{Context, DeviceBuffer, Result};
use std::sync::Arc;

fn read(context: &Arc<Context>) -> Result<Vec<u32>> {
    DeviceBuffer::<u32>::uninit(context, 4)?.to_vec()
}

fn pass_on(context: &Arc<Context>) -> Result<DeviceBuffer<u32>> {
    DeviceBuffer::<u32>::uninit(context, 4)
}

fn main() {}
