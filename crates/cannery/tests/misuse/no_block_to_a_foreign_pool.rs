use cannery::{DeviceBuffer, OnDevice, Pinned, PinnedBuffer, Pool, PoolBuffer, Pooled, Result};

fn device_block(pool: &Pool<Pinned>, block: PoolBuffer<u32>) {
    pool.free(block);
}

fn pinned_block(pool: &Pool<OnDevice>, block: PinnedBuffer<u32, Pooled>) -> Result<()> {
    pool.free(block)
}

fn block_without_a_pool(pool: &Pool<OnDevice>, block: DeviceBuffer<u32>) -> Result<()> {
    pool.free(block)
}

fn main() {}
