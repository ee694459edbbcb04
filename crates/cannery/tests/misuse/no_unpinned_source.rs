use cannery::{DeviceBuffer, Result, Stream};

fn plain_host_memory(stream: &Stream, host: Vec<u32>, device: DeviceBuffer<u32>) -> Result<()> {
    stream.copy(host, device)?.wait()?;
    Ok(())
}

fn borrowed(stream: &Stream, host: &[u32], device: &mut DeviceBuffer<u32>) -> Result<()> {
    stream.copy_borrowed(host, device)
}

fn main() {}
