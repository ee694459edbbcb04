use cannery::{DeviceBuffer, PinnedBuffer, Result, Stream};

fn dropped(stream: &Stream, sent: PinnedBuffer<u32>, mut device: DeviceBuffer<u32>) -> Result<()> {
    stream.scope(|s| {
        s.copy(&sent, &mut device)?;
        drop(sent);
        Ok(())
    })
}

fn shorter(stream: &Stream, mut device: DeviceBuffer<u32>, make: fn() -> PinnedBuffer<u32>) -> Result<()> {
    stream.scope(|s| {
        let inside = make();
        s.copy(&inside, &mut device)?;
        Ok(())
    })
}

fn main() {}
