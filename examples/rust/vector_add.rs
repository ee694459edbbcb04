//! Vector addition with a kernel in Rust: loads vector_add.kernel.so (built from
//! vector_add.kernel.rs), launches it between queued copies, and compares.
//!
//!     vector_add vector_add.kernel.so
//!
//! cannery run -- vector_add
//! cannery run --schedule lazy -- vector_add

use std::ffi::{c_char, c_void, CStr, CString};
use std::process::ExitCode;
use std::ptr::{null, null_mut};

type Handle = *mut c_void;

#[link(name = "ascendcl")]
extern "C" {
    fn aclInit(config: *const c_char) -> i32;
    fn aclFinalize() -> i32;
    fn aclGetRecentErrMsg() -> *const c_char;
    fn aclrtSetDevice(device: i32) -> i32;
    fn aclrtResetDevice(device: i32) -> i32;
    fn aclrtCreateStream(stream: *mut Handle) -> i32;
    fn aclrtDestroyStream(stream: Handle) -> i32;
    fn aclrtSynchronizeStream(stream: Handle) -> i32;
    fn aclrtMalloc(block: *mut *mut c_void, size: usize, policy: i32) -> i32;
    fn aclrtFree(block: *mut c_void) -> i32;
    fn aclrtMemcpy(to: *mut c_void, max: usize, from: *const c_void, size: usize, kind: i32) -> i32;
    fn aclrtBinaryLoadFromFile(path: *const c_char, options: *mut c_void, binary: *mut Handle) -> i32;
    fn aclrtBinaryUnLoad(binary: Handle) -> i32;
    fn aclrtBinaryGetFunction(binary: Handle, name: *const c_char, function: *mut Handle) -> i32;
    fn aclrtLaunchKernelWithHostArgs(
        function: Handle,
        blocks: u32,
        stream: Handle,
        config: *mut c_void,
        args: *mut c_void,
        size: usize,
        placeholders: *mut c_void,
        count: usize,
    ) -> i32;
}

const COUNT: usize = 300_007;
const BYTES: usize = COUNT * size_of::<f32>();
const BLOCKS: u32 = 24;
const HUGE_FIRST: i32 = 0;
const TO_DEVICE: i32 = 1;
const TO_HOST: i32 = 2;

/// Arguments of the kernel, as vector_add.kernel.rs has them.
#[repr(C)]
struct Arguments {
    x: *mut c_void,
    y: *mut c_void,
    z: *mut c_void,
    count: u64,
}

fn check(code: i32, what: &str) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    let text = unsafe { aclGetRecentErrMsg() };
    let text = if text.is_null() {
        "no text".into()
    } else {
        unsafe { CStr::from_ptr(text) }.to_string_lossy()
    };
    Err(format!("{what} returned {code}: {text}"))
}

fn upload(numbers: &[f32]) -> Result<*mut c_void, String> {
    let mut block = null_mut();
    unsafe {
        check(aclrtMalloc(&mut block, BYTES, HUGE_FIRST), "aclrtMalloc")?;
        let from = numbers.as_ptr().cast();
        check(aclrtMemcpy(block, BYTES, from, BYTES, TO_DEVICE), "aclrtMemcpy")?;
    }
    Ok(block)
}

/// Numbers that do not repeat soon.
fn random_numbers(mut state: u64) -> Vec<f32> {
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 256.0 - 32768.0
    };
    std::iter::repeat_with(next).take(COUNT).collect()
}

fn run(kernels: &str) -> Result<(), String> {
    let (x, y) = (random_numbers(1), random_numbers(2));
    let mut z = vec![0f32; COUNT];
    let path = CString::new(kernels).map_err(|error| error.to_string())?;
    let (mut stream, mut binary, mut function) = (null_mut(), null_mut(), null_mut());
    unsafe {
        check(aclInit(null()), "aclInit")?;
        check(aclrtSetDevice(0), "aclrtSetDevice")?;
        check(aclrtCreateStream(&mut stream), "aclrtCreateStream")?;
        let code = aclrtBinaryLoadFromFile(path.as_ptr(), null_mut(), &mut binary);
        check(code, "aclrtBinaryLoadFromFile")?;
        let code = aclrtBinaryGetFunction(binary, c"vector_add".as_ptr(), &mut function);
        check(code, "aclrtBinaryGetFunction")?;
        let mut args = Arguments {
            x: upload(&x)?,
            y: upload(&y)?,
            z: upload(&z)?,
            count: COUNT as u64,
        };
        let code = aclrtLaunchKernelWithHostArgs(
            function,
            BLOCKS,
            stream,
            null_mut(),
            (&raw mut args).cast(),
            size_of::<Arguments>(),
            null_mut(),
            0,
        );
        check(code, "aclrtLaunchKernelWithHostArgs")?;
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")?;
        let to = z.as_mut_ptr().cast();
        check(aclrtMemcpy(to, BYTES, args.z, BYTES, TO_HOST), "aclrtMemcpy")?;
        for block in [args.x, args.y, args.z] {
            check(aclrtFree(block), "aclrtFree")?;
        }
        check(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad")?;
        check(aclrtDestroyStream(stream), "aclrtDestroyStream")?;
        check(aclrtResetDevice(0), "aclrtResetDevice")?;
        check(aclFinalize(), "aclFinalize")?;
    }
    for (i, sum) in z.iter().enumerate() {
        if *sum != x[i] + y[i] {
            return Err(format!("element {i} is {sum}, not {}", x[i] + y[i]));
        }
    }
    println!("vector_add: {COUNT} sums in {BLOCKS} blocks, all right");
    Ok(())
}

fn main() -> ExitCode {
    let Some(kernels) = std::env::args().nth(1) else {
        eprintln!("usage: vector_add KERNELS.so");
        return ExitCode::FAILURE;
    };
    match run(&kernels) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
