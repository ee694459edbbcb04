//! Functions of the program that run when the runtime is initialised and de-initialised.
#![allow(unsafe_code)] // they are C functions

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use cannery_abi as abi;

use crate::error::{Error, Fault, Result};
use crate::patient;

type InitFunction = unsafe extern "C" fn(*const c_char, usize, *mut c_void) -> abi::aclError;
type FinalizeFunction = unsafe extern "C" fn(*mut c_void) -> abi::aclError;

#[derive(Clone, Copy)]
struct Entry<F> {
    kind: i32,
    function: F,
    user_data: usize,
}

static INIT: Mutex<Vec<Entry<InitFunction>>> = Mutex::new(Vec::new());
static FINALIZE: Mutex<Vec<Entry<FinalizeFunction>>> = Mutex::new(Vec::new());

fn check_kind(kind: i32) -> Result<()> {
    match kind {
        abi::ACL_REG_TYPE_ACL_MODEL..=abi::ACL_REG_TYPE_ACL_RETR | abi::ACL_REG_TYPE_OTHER => {
            Ok(())
        }
        _ => Err(Error::value(
            "type",
            kind,
            "must be 0 to 7, or 65535 (ACL_REG_TYPE_OTHER)",
        )),
    }
}

fn register<F>(list: &Mutex<Vec<Entry<F>>>, entry: Entry<F>) -> Result<()> {
    let Some(mut list) = patient::lock(list) else {
        return Err(Fault::Forked.into());
    };
    let taken = list.iter().any(|other| other.kind == entry.kind);
    if taken && entry.kind != abi::ACL_REG_TYPE_OTHER {
        return Err(Fault::Refused {
            code: abi::ACL_ERROR_INTERNAL_ERROR,
            param: "type",
            cause: format!(
                "a function of type {} is registered already; only ACL_REG_TYPE_OTHER takes several",
                entry.kind
            ),
        }
        .into());
    }
    list.push(entry);
    Ok(())
}

fn unregister<F: Copy>(
    list: &Mutex<Vec<Entry<F>>>,
    kind: i32,
    same: impl Fn(F) -> bool,
) -> Result<()> {
    let Some(mut list) = patient::lock(list) else {
        return Err(Fault::Forked.into());
    };
    match list
        .iter()
        .position(|entry| entry.kind == kind && same(entry.function))
    {
        Some(at) => {
            list.remove(at);
            Ok(())
        }
        None => Err(Fault::Param {
            param: "cbFunc",
            cause: format!(
                "this function is not registered for type {kind}, or no longer; pass function and type as they were \
                 registered"
            ),
        }
        .into()),
    }
}

fn entries<F: Copy>(list: &Mutex<Vec<Entry<F>>>) -> Vec<Entry<F>> {
    patient::lock(list)
        .map(|list| list.clone())
        .unwrap_or_default()
}

pub(crate) fn register_init(
    kind: i32,
    function: InitFunction,
    user_data: *mut c_void,
) -> Result<()> {
    check_kind(kind)?;
    register(
        &INIT,
        Entry {
            kind,
            function,
            user_data: user_data as usize,
        },
    )
}

/// aclInitCallbackUnRegister.
///
/// # Errors
/// No function, or not registered.
pub fn unregister_init(kind: i32, function: abi::aclInitCallbackFunc) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::null("cbFunc"));
    };
    check_kind(kind)?;
    unregister(&INIT, kind, |other| std::ptr::fn_addr_eq(other, function))
}

/// aclFinalizeCallbackRegister.
///
/// # Errors
/// No function; a second one of a type that takes only one: 500000.
pub fn register_finalize(
    kind: i32,
    function: abi::aclFinalizeCallbackFunc,
    user_data: *mut c_void,
) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::null("cbFunc"));
    };
    check_kind(kind)?;
    register(
        &FINALIZE,
        Entry {
            kind,
            function,
            user_data: user_data as usize,
        },
    )
}

/// aclFinalizeCallbackUnRegister.
///
/// # Errors
/// No function, or not registered.
pub fn unregister_finalize(kind: i32, function: abi::aclFinalizeCallbackFunc) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::null("cbFunc"));
    };
    check_kind(kind)?;
    unregister(&FINALIZE, kind, |other| {
        std::ptr::fn_addr_eq(other, function)
    })
}

pub(crate) fn run_one_init(
    function: InitFunction,
    user_data: *mut c_void,
    text: &str,
) -> Result<()> {
    let json = std::ffi::CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: a function of the program, called as it was registered: with a text that ends in NUL
    // and lives for the call, its length, and the pointer that belongs to it.
    let code = unsafe { function(json.as_ptr(), json.as_bytes().len(), user_data) };
    answer(code)
}

pub(crate) fn run_init(text: &str) -> Result<()> {
    for entry in entries(&INIT) {
        run_one_init(entry.function, entry.user_data as *mut c_void, text)?;
    }
    Ok(())
}

pub(crate) fn run_finalize() -> Result<()> {
    for entry in entries(&FINALIZE) {
        // SAFETY: a function of the program, called as it was registered.
        answer(unsafe { (entry.function)(entry.user_data as *mut c_void) })?;
    }
    Ok(())
}

fn answer(code: abi::aclError) -> Result<()> {
    if code == abi::ACL_SUCCESS {
        return Ok(());
    }
    Err(Fault::Refused {
        code,
        param: "cbFunc",
        cause: format!("the callback returned {code}"),
    }
    .into())
}
