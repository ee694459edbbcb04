// Misuse that the types refuse. One module each; every function in it is refused.
#![allow(unused)]

use cannery::{
    Context, DevSlice, DeviceBuffer, DevicePtr, OnDevice, Pinned, PinnedBuffer, Pool, PoolBuffer,
    Pooled, Result, Stream,
};
use std::sync::Arc;

mod no_index_of_device_memory {
    use super::*;

    fn first(buffer: &DeviceBuffer<u32>) -> u32 {
        buffer[0]
    }
}

mod no_deref_of_device_memory {
    use super::*;

    fn follow(address: DevicePtr<u32>) -> u32 {
        *address
    }

    fn slice(buffer: &DeviceBuffer<u32>) -> &[u32] {
        buffer
    }

    fn view<'a>(view: DevSlice<'a, u32>) -> &'a [u32] {
        view.as_ref()
    }
}

mod no_unpinned_source {
    use super::*;

    fn plain_host_memory(stream: &Stream, host: Vec<u32>, device: DeviceBuffer<u32>) -> Result<()> {
        stream.copy(host, device)?.wait()?;
        Ok(())
    }

    fn borrowed(stream: &Stream, host: &[u32], device: &mut DeviceBuffer<u32>) -> Result<()> {
        stream.copy_borrowed(host, device)
    }
}

mod no_read_of_uninitialised_memory {
    use super::*;

    fn read(context: &Arc<Context>) -> Result<Vec<u32>> {
        DeviceBuffer::<u32>::uninit(context, 4)?.to_vec()
    }

    fn pass_on(context: &Arc<Context>) -> Result<DeviceBuffer<u32>> {
        DeviceBuffer::<u32>::uninit(context, 4)
    }
}

mod no_block_to_a_foreign_pool {
    use super::*;

    fn device_block(pool: &Pool<Pinned>, block: PoolBuffer<u32>) {
        pool.free(block);
    }

    fn pinned_block(pool: &Pool<OnDevice>, block: PinnedBuffer<u32, Pooled>) -> Result<()> {
        pool.free(block)
    }

    fn block_without_a_pool(pool: &Pool<OnDevice>, block: DeviceBuffer<u32>) -> Result<()> {
        pool.free(block)
    }
}

mod no_references_to_the_device {
    use super::*;

    fn reference(context: &Arc<Context>, host: &'static str) -> Result<DeviceBuffer<&'static str>> {
        DeviceBuffer::from_slice(context, &[host])
    }

    fn boxes(context: &Arc<Context>) -> Result<PinnedBuffer<Box<u32>>> {
        PinnedBuffer::zeroed(context, 4)
    }

    fn bool_back(buffer: &DeviceBuffer<bool>) -> Result<Vec<bool>> {
        buffer.to_vec()
    }
}

mod no_write_through_what_is_read {
    use super::*;

    fn as_target(
        stream: &Stream,
        sent: &PinnedBuffer<u32>,
        device: &DeviceBuffer<u32>,
    ) -> Result<()> {
        stream.copy_borrowed(sent, device)
    }

    fn view(view: DevSlice<'_, u32>) -> Result<()> {
        view.zero()
    }

    fn awaited_twice(flight: cannery::InFlight<(PinnedBuffer<u32>, DeviceBuffer<u32>)>) {
        drop(flight.clone());
    }
}

mod no_flush_of_plain_memory {
    use super::*;

    fn flush(buffer: &DeviceBuffer<u32>) -> Result<()> {
        buffer.flush(..)
    }
}

fn main() {}
