use cannery::{DeviceBuffer, PinnedBuffer, Result, Stream};

fn look(stream: &Stream, device: DeviceBuffer<u32>, mut received: PinnedBuffer<u32>) -> Result<u32> {
    stream.scope(|s| {
        s.copy(&device, &mut received)?;
        Ok(received[0])
    })
}

fn main() {}
