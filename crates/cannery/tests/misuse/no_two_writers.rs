use cannery::{DeviceBuffer, Result};

fn twice(buffer: &mut DeviceBuffer<u32>) -> Result<()> {
    let first = buffer.slice_mut(..2)?;
    let mut second = buffer.slice_mut(1..)?;
    second.zero()?;
    drop(first);
    Ok(())
}

fn outlive() -> cannery::DevSlice<'static, u32> {
    let buffer: DeviceBuffer<u32> = make();
    buffer.view()
}

fn make() -> DeviceBuffer<u32> {
    unimplemented!()
}

fn main() {}
