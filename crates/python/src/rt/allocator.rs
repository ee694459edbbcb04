//! Allocators of the program, described to the library.
//!
//! Four functions make one allocator. Their C form carries no data that could tell two Python
//! functions apart, so each of the four has one place in the process: the last one wins. What
//! the functions return is used: an integer is a block or an address, anything else is none.

use std::ffi::c_void;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::c_api::{Memory, address_of, at, c_api};
use crate::callables::{Slot, call, check_callable, reported, with_python};
use crate::calls::calls;
use crate::convert::Word;

calls! {
    also [
        allocator_set_alloc_func_to_desc, allocator_set_free_func_to_desc,
        allocator_set_alloc_advise_func_to_desc, allocator_set_get_addr_from_block_func_to_desc,
    ];

    /// desc = allocator_create_desc(): a handle, 0 on failure.
    fn allocator_create_desc() -> [Memory] = aclrtAllocatorCreateDesc();

    /// ret = allocator_destroy_desc(allocatorDesc)
    fn allocator_destroy_desc(allocator_desc: Word) -> code = aclrtAllocatorDestroyDesc(at(allocator_desc));

    /// ret = allocator_set_obj_to_desc(allocatorDesc, allocator): the token that the functions get.
    fn allocator_set_obj_to_desc(allocator_desc: Word, allocator: Word) -> code = aclrtAllocatorSetObjToDesc(
        at(allocator_desc),
        at(allocator),
    );

    /// ret = allocator_register(stream, allocatorDesc): use it for an explicit stream.
    fn allocator_register(stream: Word, allocator_desc: Word) -> code = aclrtAllocatorRegister(
        at(stream),
        at(allocator_desc),
    );

    /// ret = allocator_unregister(stream)
    fn allocator_unregister(stream: Word) -> code = aclrtAllocatorUnregister(at(stream));
}

static ALLOC: Slot = Slot::new();
static FREE: Slot = Slot::new();
static ALLOC_ADVISE: Slot = Slot::new();
static GET_ADDR: Slot = Slot::new();

/// Describes one function: C gets the trampoline, the slot the callable.
fn describe(func: &Bound<'_, PyAny>, slot: &Slot, set: impl FnOnce() -> i32) -> PyResult<i32> {
    check_callable(func)?;
    let ret = set();
    if ret == 0 {
        slot.set(Some(func.clone().unbind()));
    }
    Ok(ret)
}

/// ret = allocator_set_alloc_func_to_desc(allocatorDesc, func): func(allocator, size) gives a block.
#[pyfunction]
#[pyo3(signature = (allocator_desc, func, /))]
fn allocator_set_alloc_func_to_desc(
    allocator_desc: Word,
    func: &Bound<'_, PyAny>,
) -> PyResult<i32> {
    // SAFETY: a function of the documented type that lives as long as the process.
    describe(func, &ALLOC, || unsafe {
        (c_api().aclrtAllocatorSetAllocFuncToDesc)(at(allocator_desc.0), Some(alloc))
    })
}

/// ret = allocator_set_free_func_to_desc(allocatorDesc, func): func(allocator, block).
#[pyfunction]
#[pyo3(signature = (allocator_desc, func, /))]
fn allocator_set_free_func_to_desc(allocator_desc: Word, func: &Bound<'_, PyAny>) -> PyResult<i32> {
    // SAFETY: a function of the documented type that lives as long as the process.
    describe(func, &FREE, || unsafe {
        (c_api().aclrtAllocatorSetFreeFuncToDesc)(at(allocator_desc.0), Some(free))
    })
}

/// ret = allocator_set_alloc_advise_func_to_desc(allocatorDesc, func): func(allocator, size, addr) gives a block.
#[pyfunction]
#[pyo3(signature = (allocator_desc, func, /))]
fn allocator_set_alloc_advise_func_to_desc(
    allocator_desc: Word,
    func: &Bound<'_, PyAny>,
) -> PyResult<i32> {
    // SAFETY: a function of the documented type that lives as long as the process.
    describe(func, &ALLOC_ADVISE, || unsafe {
        (c_api().aclrtAllocatorSetAllocAdviseFuncToDesc)(at(allocator_desc.0), Some(alloc_advise))
    })
}

/// ret = allocator_set_get_addr_from_block_func_to_desc(allocatorDesc, func): func(block) gives its address.
#[pyfunction]
#[pyo3(signature = (allocator_desc, func, /))]
fn allocator_set_get_addr_from_block_func_to_desc(
    allocator_desc: Word,
    func: &Bound<'_, PyAny>,
) -> PyResult<i32> {
    // SAFETY: a function of the documented type that lives as long as the process.
    describe(func, &GET_ADDR, || unsafe {
        (c_api().aclrtAllocatorSetGetAddrFromBlockFuncToDesc)(at(allocator_desc.0), Some(get_addr))
    })
}

/// Calls what is in `slot`; the integer it returns, else 0.
fn ask(slot: &Slot, arguments: &[usize]) -> usize {
    let answer = with_python(|py| {
        let callable = slot.get(py)?;
        let answer =
            PyTuple::new(py, arguments).and_then(|arguments| call(py, &callable, &arguments));
        reported(py, &callable, answer)?.extract::<Word>().ok()
    });
    answer.flatten().map_or(0, |Word(number)| number)
}

unsafe extern "C" fn alloc(allocator: *mut c_void, size: usize) -> *mut c_void {
    at(ask(&ALLOC, &[address_of(allocator), size]))
}

unsafe extern "C" fn free(allocator: *mut c_void, block: *mut c_void) {
    ask(&FREE, &[address_of(allocator), address_of(block)]);
}

unsafe extern "C" fn alloc_advise(
    allocator: *mut c_void,
    size: usize,
    address: *mut c_void,
) -> *mut c_void {
    at(ask(
        &ALLOC_ADVISE,
        &[address_of(allocator), size, address_of(address)],
    ))
}

unsafe extern "C" fn get_addr(block: *mut c_void) -> *mut c_void {
    at(ask(&GET_ADDR, &[address_of(block)]))
}
