use cannery::DeviceBuffer;

fn first(buffer: &DeviceBuffer<u32>) -> u32 {
    buffer[0]
}

fn main() {}
