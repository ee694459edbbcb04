//! Macros that make the items and, from the same lines, the rows of the tables.
//!
//! One line of a generated module is the only place where a value stands: the item that programs
//! use and the row that tests walk cannot differ.

/// Drops the raw-identifier mark of a member name such as `r#type`.
pub(crate) const fn plain(name: &'static str) -> &'static str {
    let bytes = name.as_bytes();
    if bytes.len() > 2 && bytes[0] == b'r' && bytes[1] == b'#' {
        name.split_at(2).1
    } else {
        name
    }
}

/// Enum types (aliases of `i32`) and their values.
macro_rules! enum_values {
    ($(
        $(#[$doc:meta])*
        $group:ident in $header:literal { $($name:ident = $value:literal, $meaning:literal;)* }
    )*) => {
        $(
            $(#[$doc])*
            #[doc = concat!("\n\nEnum of `", $header, "`, 4 bytes.")]
            pub type $group = i32;
            $(
                #[doc = concat!($meaning, "\n\nA value of [`", stringify!($group), "`].")]
                pub const $name: $group = $value;
            )*
        )*
        pub(crate) const TABLE: &[crate::EnumFact] = &[$($(crate::EnumFact {
            group: stringify!($group),
            name: stringify!($name),
            value: $name as i64,
            c_type: "enum",
            meaning: $meaning,
            header: $header,
        },)*)*];
    };
}

/// Constants that are macros in C.
macro_rules! constants {
    ($(
        $group:literal in $header:literal {
            $($name:ident: $ty:ty = $value:literal, $c_type:literal, $meaning:literal;)*
        }
    )*) => {
        $($(
            #[doc = concat!($meaning, "\n\nConstant of type `", $c_type, "` (", $header, ").")]
            pub const $name: $ty = $value;
        )*)*
        pub(crate) const TABLE: &[crate::EnumFact] = &[$($(crate::EnumFact {
            group: $group,
            name: stringify!($name),
            value: $name as i64,
            c_type: $c_type,
            meaning: $meaning,
            header: $header,
        },)*)*];
    };
}

/// Return codes.
macro_rules! codes {
    (@flag old) => { true };
    (@flag current) => { false };
    (@flag alias) => { true };
    (@flag canonical) => { false };
    ($(
        $name:ident = $value:literal, $age:ident, $role:ident, $header:literal,
        $meaning:literal, $remedy:literal;
    )*) => {
        $(
            #[doc = concat!($meaning, "\n\nRemedy: ", $remedy, "\n\nCode of `", $header, "`.")]
            pub const $name: crate::aclError = $value;
        )*
        pub(crate) const TABLE: &[crate::CodeFact] = &[$(crate::CodeFact {
            name: stringify!($name),
            value: $name,
            old: codes!(@flag $age),
            alias: codes!(@flag $role),
            header: $header,
            meaning: $meaning,
            remedy: $remedy,
        },)*];
    };
}

/// Message codes.
macro_rules! messages {
    ($(
        $name:ident, $group:literal, $meaning:literal, $remedy:literal, [$($param:literal),*];
    )*) => {
        $(
            #[doc = concat!($meaning, "\n\nRemedy: ", $remedy, "\n\nIssued as: ", $group, ".")]
            pub const $name: &str = stringify!($name);
        )*
        pub(crate) const TABLE: &[crate::MessageFact] = &[$(crate::MessageFact {
            name: $name,
            group: $group,
            meaning: $meaning,
            remedy: $remedy,
            params: &[$($param),*],
        },)*];
    };
}

/// Structs and unions, with an optional unnamed union at the end of a struct.
macro_rules! layouts {
    ($(
        $(#[$attr:meta])*
        pub $kind:tt $name:ident as $c_name:literal in $header:literal {
            $($field:ident: $ty:ty = $c_type:literal;)*
        }
        $(unnamed union $anon:ident: $anon_ty:ident {
            $($inner:ident: $inner_ty:ty = $inner_c_type:literal;)*
        })?
    )*) => {
        $(
            $(#[$attr])*
            #[doc = concat!("\n\nC name `", $c_name, "`, header `", $header, "`.")]
            #[repr(C)]
            pub $kind $name {
                $(
                    #[doc = concat!("`", $c_type, "`")]
                    pub $field: $ty,
                )*
                $(
                    #[doc = "The unnamed union of the C struct."]
                    pub $anon: $anon_ty,
                )?
            }
            $(
                #[doc = concat!("The unnamed union of [`", stringify!($name), "`].")]
                #[derive(Clone, Copy)]
                #[repr(C)]
                pub union $anon_ty {
                    $(
                        #[doc = concat!("`", $inner_c_type, "`")]
                        pub $inner: $inner_ty,
                    )*
                }
            )?
        )*
        pub(crate) const TABLE: &[crate::LayoutFact] = &[$(crate::LayoutFact {
            name: $c_name,
            kind: stringify!($kind),
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            fields: &[
                $(crate::FieldFact {
                    name: crate::macros::plain(stringify!($field)),
                    c_type: $c_type,
                    offset: core::mem::offset_of!($name, $field),
                    size: size_of::<$ty>(),
                },)*
                $($(crate::FieldFact {
                    name: crate::macros::plain(stringify!($inner)),
                    c_type: $inner_c_type,
                    offset: core::mem::offset_of!($name, $anon.$inner),
                    size: size_of::<$inner_ty>(),
                },)*)?
            ],
            header: $header,
        },)*];
    };
}

/// Handles that are plain pointers.
macro_rules! handles {
    ($($(#[$attr:meta])* $name:ident in $header:literal;)*) => {
        $(
            $(#[$attr])*
            #[doc = concat!("\n\nHandle of `", $header, "`.")]
            pub type $name = *mut c_void;
        )*
        pub(crate) const POINTERS: &[crate::HandleFact] = &[$(crate::HandleFact {
            name: stringify!($name),
            target: "void *",
            header: $header,
        },)*];
    };
}

/// Structs that exist only behind pointers.
macro_rules! opaque_structs {
    ($($(#[$attr:meta])* $name:ident = $target:literal in $header:literal;)*) => {
        $(
            $(#[$attr])*
            #[doc = concat!("\n\n`", $target, "` of `", $header, "`.")]
            #[derive(Debug)]
            #[repr(C)]
            pub struct $name {
                _inside: [u8; 0],
                // Not Send, not Sync, not Unpin: only the library knows what is behind it.
                _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
            }
        )*
        pub(crate) const OPAQUE: &[crate::HandleFact] = &[$(crate::HandleFact {
            name: stringify!($name),
            target: $target,
            header: $header,
        },)*];
    };
}

/// Scalar type names.
macro_rules! scalars {
    ($($(#[$attr:meta])* $name:ident = $ty:ty as $target:literal in $header:literal;)*) => {
        $(
            $(#[$attr])*
            #[doc = concat!("\n\n`", $target, "` of `", $header, "`.")]
            pub type $name = $ty;
        )*
        pub(crate) const SCALAR_TABLE: &[crate::ScalarFact] = &[$(crate::ScalarFact {
            name: stringify!($name),
            target: $target,
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            header: $header,
        },)*];
    };
}

/// Types of functions that a program hands over.
macro_rules! callbacks {
    ($(
        $(#[$attr:meta])*
        fn $name:ident($($param:ident: $ty:ty),*) $(-> $ret:ty)?, $header:literal;
    )*) => {
        $(
            $(#[$attr])*
            #[doc = concat!("\n\nFunction pointer of `", $header, "`; `None` is the null pointer.")]
            pub type $name = Option<unsafe extern "C" fn($($param: $ty),*) $(-> $ret)?>;
        )*
        pub(crate) const TABLE: &[crate::CallbackFact] = &[$(crate::CallbackFact {
            name: stringify!($name),
            returns: concat!($(stringify!($ret))?),
            params: &[$((crate::macros::plain(stringify!($param)), stringify!($ty))),*],
            size: size_of::<$name>(),
            header: $header,
        },)*];
    };
}
