//! The macro that turns prototypes into a table of function pointers.

/// Declares a table: one field, one name to look up and one stand-in a prototype.
macro_rules! c_functions {
    (
        $(#[$doc:meta])*
        struct $table:ident;
        $(fn $name:ident($($param:ident: $ty:ty),* $(,)?) -> $ret:ty;)*
    ) => {
        $(#[$doc])*
        // The names are those of the C interface and its manual.
        #[allow(non_snake_case)]
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($ty),*) -> $ret,)*
        }

        #[allow(non_snake_case)]
        impl $table {
            /// Takes the functions that `lookup` finds by name, stand-ins for the others.
            pub(crate) fn resolve(
                lookup: impl Fn(&std::ffi::CStr) -> Option<std::ptr::NonNull<std::ffi::c_void>>,
            ) -> Self {
                $(
                    unsafe extern "C" fn $name($(_: $ty),*) -> $ret {
                        <$ret as $crate::c_api::Absent>::absent()
                    }
                )*
                Self {
                    $($name: match lookup($crate::c_api::declare::terminated!($name)) {
                        // SAFETY: a symbol of this name in a library of this interface is a
                        // function with this prototype; data and function pointers have the
                        // same size and representation on the supported platforms.
                        Some(symbol) => unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                unsafe extern "C" fn($($ty),*) -> $ret,
                            >(symbol.as_ptr())
                        },
                        None => $name,
                    },)*
                }
            }
        }
    };
}

/// An identifier as a C string.
macro_rules! terminated {
    ($name:ident) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            }
        }
    };
}
pub(crate) use terminated;
