// Each misuse beside this file, done right: so it is the misuse that fails there.
use cannery::{Context, DeviceBuffer, OnDevice, Pinned, PinnedBuffer, Pool, Result, Stream};
use std::sync::Arc;

fn right(
    context: &Arc<Context>,
    stream: &Stream,
    devices: &Pool<OnDevice>,
    pins: &Pool<Pinned>,
) -> Result<()> {
    let mut device = DeviceBuffer::<u32>::uninit(context, 4)?.write(&[1, 2, 3, 4])?;
    let first: u32 = device.to_vec()?[0];
    let pinned = PinnedBuffer::from_slice(context, &[first; 4])?;
    stream.copy_borrowed(&pinned, &mut device)?;
    let (pinned, device) = stream.copy(pinned, device)?.wait()?;
    let mut received = PinnedBuffer::<u32>::zeroed(context, 4)?;
    stream.scope(|s| s.copy(&device, &mut received).map(drop))?;
    devices.free(devices.alloc::<u32>(stream, 4)?.into_zeroed()?)?;
    pins.free(pins.from_slice(&pinned)?);
    drop(device);
    Ok(())
}

fn main() {
    let _ = right;
}
