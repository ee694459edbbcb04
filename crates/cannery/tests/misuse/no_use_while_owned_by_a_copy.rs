use cannery::{DeviceBuffer, PinnedBuffer, Result, Stream};

fn touch(stream: &Stream, mut sent: PinnedBuffer<u32>, device: DeviceBuffer<u32>) -> Result<()> {
    let flight = stream.copy(sent, device)?;
    sent[0] = 1;
    drop(device);
    flight.wait()?;
    Ok(())
}

fn main() {}
