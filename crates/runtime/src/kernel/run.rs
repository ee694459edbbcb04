//! A launch as a task.
#![allow(unsafe_code)] // calls kernels

use std::sync::Arc;

use super::function::Kernel;
use super::launch::Attribute;
use crate::memory::inner::DeviceBlock;
use crate::os::{self, loader};

/// Everything a launch needs; it keeps it alive.
pub(crate) struct Launch {
    /// Handle that the program launched.
    pub(super) function: u64,
    pub(super) kernel: Arc<Kernel>,
    /// As the program gave them.
    pub(super) attributes: Vec<Attribute>,
    /// The image with the variables that it sees.
    pub(super) _image: Arc<DeviceBlock>,
    /// What takes a variable of the module to the image.
    pub(super) variables: u64,
    pub(super) device: u32,
    /// What takes a device pointer to where it can be used.
    pub(super) distance: u64,
    pub(super) shape: Shape,
    pub(super) args: Args,
    /// Bytes of scratch memory for a block.
    pub(super) scratch: u32,
}

/// How often the kernel is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// For blocks `first..first + count`.
    Blocks { first: u32, count: u32 },
    /// For every thread of every block.
    Threads { grid: [u32; 3], block: [u32; 3] },
}

/// Arguments of a launch.
pub(crate) enum Args {
    /// The kernel has none.
    None,
    /// In memory of the program on the device.
    Device { at: u64, bytes: u64 },
    /// Bytes that are put to `at` on the device when the task begins. `block`: what is released
    /// afterwards; `None` where the memory belongs to the stream's allocator.
    Host {
        bytes: Box<[u8]>,
        at: u64,
        block: Option<Arc<DeviceBlock>>,
    },
}

/// What kernels may know of their launch: `cannery_launch` in include/cannery/kernel.h.
#[repr(C)]
struct Told {
    size: u32,
    device: u32,
    variables: u64,
    scratch: *mut u8,
    scratch_size: u64,
    grid: [u32; 3],
    block: [u32; 3],
    block_index: [u32; 3],
    thread_index: [u32; 3],
}

impl Launch {
    /// Which kernel, in which shape.
    pub(crate) fn show(&self) -> String {
        match self.shape {
            Shape::Blocks { first, count } => {
                format!("{} in {count} blocks from {first} on", self.kernel.name)
            }
            Shape::Threads { grid, block } => {
                format!("{} with grid {grid:?}, block {block:?}", self.kernel.name)
            }
        }
    }

    pub(crate) fn kernel_name(&self) -> &str {
        &self.kernel.name
    }

    /// What the kernel is given: its bytes as hexadecimal digits, or where they are.
    pub(crate) fn show_arguments(&self) -> String {
        match &self.args {
            Args::None => "none".to_owned(),
            Args::Device { at, bytes } => {
                let at = at.wrapping_sub(self.distance);
                format!("{bytes} bytes at {at:#x}")
            }
            Args::Host { bytes, .. } => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// Calls the kernel for all its blocks.
    pub(crate) fn run(&self) {
        let args = match &self.args {
            Args::None => 0,
            Args::Device { at, .. } => *at,
            Args::Host { bytes, at, .. } => {
                // SAFETY: `at` has room for so many bytes until the work that follows on the stream.
                unsafe { os::copy::copy(*at, bytes.as_ptr() as u64, bytes.len() as u64) };
                *at
            }
        };
        let mut scratch = vec![0u128; (self.scratch as usize).div_ceil(16)];
        let mut told = Told {
            size: size_of::<Told>() as u32,
            device: self.device,
            variables: self.variables,
            scratch: scratch.as_mut_ptr().cast(),
            scratch_size: self.scratch.into(),
            grid: [1; 3],
            block: [1; 3],
            block_index: [0; 3],
            thread_index: [0; 3],
        };
        let entry = self.kernel.entry;
        let call = |told: &Told, index: u32, count: u32| {
            // SAFETY: an exported function of a module that `kernel` keeps loaded, called as
            // include/cannery/kernel.h says; what its arguments mean is between it and the program.
            unsafe { loader::call_kernel(entry, args, index, count, self.distance, told) };
        };
        match self.shape {
            Shape::Blocks { first, count } => {
                told.grid[0] = count;
                for index in 0..count {
                    told.block_index[0] = first.wrapping_add(index);
                    call(&told, first.wrapping_add(index), count);
                }
            }
            Shape::Threads { grid, block } => {
                (told.grid, told.block) = (grid, block);
                let count = grid.iter().product();
                let mut index = 0;
                each(grid, |at| {
                    told.block_index = at;
                    each(block, |thread| {
                        told.thread_index = thread;
                        call(&told, index, count);
                    });
                    index += 1;
                });
            }
        }
    }
}

/// Every place of a box, x first.
fn each(size: [u32; 3], mut act: impl FnMut([u32; 3])) {
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                act([x, y, z]);
            }
        }
    }
}
