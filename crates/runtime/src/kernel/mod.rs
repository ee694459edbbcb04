//! Manual chapters: kernel loading and execution, device variables. Kernels are functions of shared
//! objects that the compiler of this machine built; include/cannery/kernel.h says what they look like.
//!
//! # Glossary
//!
//! * **module**: what holds kernels and variables: a loaded shared object, or the program itself where
//!   it registered some.
//! * **binary**: a module that aclrtBinaryLoad and its kin loaded for one device.
//! * **image**: a copy of a module in device memory: there its variables live. Variables of the module
//!   itself are their initial values.
//! * **kernel**: one function, behind a function handle.
//! * **list**: arguments that are put together one by one (aclrtKernelArgs...).
//! * **launch**: a kernel with blocks and arguments, as a task of a stream.
//!
//! # Contract
//!
//! A launch runs in stream order on a thread of the runtime, one block after another. Pointers in
//! arguments stay device pointers; the kernel adds the distance that it is given. What a kernel holds on
//! to (its module, its image, its arguments) lives until its launches are done, whatever is unloaded
//! meanwhile. A kernel that crashes ends the process, as any function of a program does.

pub mod args;
pub mod binary;
pub mod captured;
pub(crate) mod elf;
pub mod function;
pub(crate) mod handles;
pub mod launch;
pub mod module;
pub(crate) mod run;
pub mod symbol;

/// In a forked child: what was loaded belongs to the parent.
pub(crate) fn forget() {
    binary::BINARIES.end_all();
    binary::DESCRIPTIONS.end_all();
    function::KERNELS.end_all();
    args::forget();
}
