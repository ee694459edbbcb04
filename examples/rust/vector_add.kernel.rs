//! The kernel of vector_add.rs: z = x + y, each block its own part.
//!
//!     rustc --edition 2021 --crate-type cdylib -O -o vector_add.kernel.so vector_add.kernel.rs

/// Arguments of the launch; every one begins at a multiple of 8.
#[repr(C)]
pub struct Arguments {
    x: *const f32,
    y: *const f32,
    z: *mut f32,
    count: u64,
}

/// What a device pointer points to, where this machine has it: CANNERY_GM in C.
fn gm<T>(device: *const T, distance: isize) -> *const T {
    (device as isize).wrapping_add(distance) as *const T
}

/// The entry that include/cannery/kernel.h describes.
///
/// # Safety
/// The arguments name memory of the device for `count` numbers each.
#[no_mangle]
pub unsafe extern "C" fn vector_add(args: *const Arguments, block: u32, blocks: u32, distance: isize) {
    let Arguments { x, y, z, count } = unsafe { args.read() };
    let part = (count as usize).div_ceil(blocks as usize);
    let first = (block as usize * part).min(count as usize);
    let length = part.min(count as usize - first);
    // Blocks touch disjoint parts, so these slices have no others beside them.
    let (x, y, z) = unsafe {
        (
            std::slice::from_raw_parts(gm(x, distance).add(first), length),
            std::slice::from_raw_parts(gm(y, distance).add(first), length),
            std::slice::from_raw_parts_mut(gm(z, distance).cast_mut().add(first), length),
        )
    };
    for ((z, x), y) in z.iter_mut().zip(x).zip(y) {
        *z = x + y;
    }
}
