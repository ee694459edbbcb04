//! The macro for functions that only translate: arguments in, one C call, results out.
//!
//! ```text
//! calls! {
//!     also [hand_written];
//!     /// Documentation, also for Python's help().
//!     fn free(dev_ptr: Word) -> code = aclrtFree(at(dev_ptr));
//!     fn malloc(size: Word, policy: Int) -> (dev_ptr: Memory) = aclrtMalloc(&raw mut dev_ptr, size, policy);
//!     fn data_type_size(data_type: Int) -> [usize] = aclDataTypeSize(data_type);
//!     fn synchronize_stream(stream: Word) -> wait = aclrtSynchronizeStream(at(stream));
//! }
//! ```
//!
//! Shapes: `code` returns the code alone, `(outputs)` the outputs and then the code, `[type]` the
//! bare answer of the function, `wait` the code of a call during which other Python threads run.
//! Arguments are positional only. `also` names functions written by hand in the same file; the
//! macro makes `register`, which adds all of them to a module.

macro_rules! calls {
    (
        also [$($extra:ident),* $(,)?];
        $(
            $(#[$meta:meta])*
            fn $name:ident($($first:ident: $first_ty:ty $(, $arg:ident: $arg_ty:ty)* $(,)?)?) -> $shape:tt
                = $c:ident($($value:expr),* $(,)?);
        )*
    ) => {
        $(
            $(#[$meta])*
            #[allow(clippy::too_many_arguments)] // As many as the interface has.
            #[pyo3::pyfunction]
            #[pyo3(signature = ($($first, $($arg,)* /)?))]
            fn $name(
                py: pyo3::Python<'_>,
                $($first: $first_ty, $($arg: $arg_ty,)*)?
            ) -> $crate::calls::calls!(@returns $shape) {
                $(
                    let $first = $first.0;
                    $(let $arg = $arg.0;)*
                )?
                $crate::calls::calls!(@call py, $shape, $c, $($value),*)
            }
        )*

        /// Adds the functions of this chapter to `module`.
        pub(crate) fn register(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            use pyo3::types::PyModuleMethods as _;
            $(module.add_function(pyo3::wrap_pyfunction!($name, module)?)?;)*
            $(module.add_function(pyo3::wrap_pyfunction!($extra, module)?)?;)*
            Ok(())
        }
    };

    (@returns code) => { i32 };
    (@returns wait) => { i32 };
    (@returns [$ty:ty]) => { <$ty as $crate::outputs::Give>::Given };
    (@returns ($($out:ident: $ty:ty),+)) => { ($(<$ty as $crate::outputs::Give>::Given,)+ i32) };

    (@call $py:ident, code, $c:ident, $($value:expr),*) => {{
        let _: pyo3::Python<'_> = $py;
        // SAFETY: the prototype is the library's (`c_api::table`); it judges every number itself.
        // What it may do with memory behind an address is what the program asks it to do.
        unsafe { ($crate::c_api::c_api().$c)($($value),*) }
    }};
    (@call $py:ident, wait, $c:ident, $($value:expr),*) => {{
        $py.detach(move || {
            // SAFETY: as for `code`; nothing of Python is touched meanwhile.
            unsafe { ($crate::c_api::c_api().$c)($($value),*) }
        })
    }};
    (@call $py:ident, [$ty:ty], $c:ident, $($value:expr),*) => {{
        let _: pyo3::Python<'_> = $py;
        // SAFETY: as for `code`.
        let answer: $ty = unsafe { ($crate::c_api::c_api().$c)($($value),*) };
        $crate::outputs::Give::give(answer)
    }};
    (@call $py:ident, ($($out:ident: $ty:ty),+), $c:ident, $($value:expr),*) => {{
        let _: pyo3::Python<'_> = $py;
        $(let mut $out: $ty = <$ty as $crate::outputs::Blank>::BLANK;)+
        // SAFETY: as for `code`; the outputs are valid for the call.
        let ret = unsafe { ($crate::c_api::c_api().$c)($($value),*) };
        ($($crate::outputs::Give::give($out),)+ ret)
    }};
}
pub(crate) use calls;
