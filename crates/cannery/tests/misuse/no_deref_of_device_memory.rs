use cannery::{DevSlice, DeviceBuffer, DevicePtr};

fn follow(address: DevicePtr<u32>) -> u32 {
    *address
}

fn slice(buffer: &DeviceBuffer<u32>) -> &[u32] {
    buffer
}

fn view<'a>(view: DevSlice<'a, u32>) -> &'a [u32] {
    view.as_ref()
}

fn main() {}
