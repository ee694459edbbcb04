use cannery::{DeviceBuffer, Result};

fn flush(buffer: &DeviceBuffer<u32>) -> Result<()> {
    buffer.flush(..)
}

fn main() {}
