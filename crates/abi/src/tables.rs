//! The tables that list the items of this crate, and their row types.

use crate::{aclError, callbacks, codes, enums, handles, layouts, messages};

/// One enum value or constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumFact {
    /// Enum type, or group of a constant (such as `define:ACL_EVENT_*`).
    pub group: &'static str,
    /// Name of the value.
    pub name: &'static str,
    /// The value; every one fits.
    pub value: i64,
    /// `enum` for an enum value, else the C type of the constant.
    pub c_type: &'static str,
    /// What the value means.
    pub meaning: &'static str,
    /// Header that a program includes for it.
    pub header: &'static str,
}

/// One return code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeFact {
    /// Name of the code.
    pub name: &'static str,
    /// Its number.
    pub value: aclError,
    /// The manual calls the name old and names a successor.
    pub old: bool,
    /// Another name of the same number is the one to print.
    pub alias: bool,
    /// Header that a program includes for it.
    pub header: &'static str,
    /// What the code means.
    pub meaning: &'static str,
    /// What a user can do about it; empty for success.
    pub remedy: &'static str,
}

/// One message code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFact {
    /// The code, such as `EE1001`.
    pub name: &'static str,
    /// Component that issues it.
    pub group: &'static str,
    /// What the message says.
    pub meaning: &'static str,
    /// What a user can do about it.
    pub remedy: &'static str,
    /// What its placeholders carry, in order.
    pub params: &'static [&'static str],
}

/// One struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutFact {
    /// C name; an unnamed member type is `Owner.member`.
    pub name: &'static str,
    /// `struct` or `union`.
    pub kind: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Members in order; members of an unnamed union stand flat among them.
    pub fields: &'static [FieldFact],
    /// Header that a program includes for it.
    pub header: &'static str,
}

/// One member of a struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldFact {
    /// C name of the member.
    pub name: &'static str,
    /// C type of the member.
    pub c_type: &'static str,
    /// Distance from the start of the owner in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// One handle type: a pointer, or a struct that is never seen from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleFact {
    /// C name.
    pub name: &'static str,
    /// C type that the name stands for: `void *` or an incomplete struct.
    pub target: &'static str,
    /// Header that a program includes for it.
    pub header: &'static str,
}

/// One scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarFact {
    /// C name.
    pub name: &'static str,
    /// C type that the name stands for.
    pub target: &'static str,
    /// Size in bytes (1 for `hi_void`, which has none in C).
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Header that a program includes for it.
    pub header: &'static str,
}

/// One callback type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackFact {
    /// C name.
    pub name: &'static str,
    /// Rust spelling of the result type; empty for `void`.
    pub returns: &'static str,
    /// Name and Rust type of each parameter.
    pub params: &'static [(&'static str, &'static str)],
    /// Size in bytes.
    pub size: usize,
    /// Header that a program includes for it.
    pub header: &'static str,
}

/// Joins slices into one array at compile time; the length must be exact.
const fn join<T: Copy, const N: usize>(parts: &[&[T]]) -> [T; N] {
    let mut out = [parts[0][0]; N];
    let mut filled = 0;
    let mut part = 0;
    while part < parts.len() {
        let mut row = 0;
        while row < parts[part].len() {
            out[filled] = parts[part][row];
            filled += 1;
            row += 1;
        }
        part += 1;
    }
    assert!(filled == N, "a table has more rows than its modules hold");
    out
}

/// Number of rows in all parts.
const fn rows<T>(parts: &[&[T]]) -> usize {
    let mut total = 0;
    let mut part = 0;
    while part < parts.len() {
        total += parts[part].len();
        part += 1;
    }
    total
}

/// Every enum value and every constant.
pub static ENUMS: [EnumFact; rows(enums::TABLES)] = join(enums::TABLES);

/// Every return code.
pub static CODES: [CodeFact; rows(codes::TABLES)] = join(codes::TABLES);

/// Every message code.
pub static MESSAGES: &[MessageFact] = messages::TABLE;

/// Every struct and union with members.
pub static LAYOUTS: [LayoutFact; rows(layouts::TABLES)] = join(layouts::TABLES);

/// Every handle type.
pub static HANDLES: [HandleFact; rows(HANDLE_PARTS)] = join(HANDLE_PARTS);
const HANDLE_PARTS: &[&[HandleFact]] = &[handles::POINTERS, handles::OPAQUE];

/// Every scalar type.
pub static SCALARS: &[ScalarFact] = handles::SCALAR_TABLE;

/// Every callback type.
pub static CALLBACKS: &[CallbackFact] = callbacks::TABLE;

/// The row of a return code: the name to print, its meaning and remedy.
///
/// Where two names share a number, this is the current one (`ACL_SUCCESS` for 0).
pub fn code_fact(value: aclError) -> Option<&'static CodeFact> {
    CODES.iter().find(|row| row.value == value && !row.alias)
}

/// The name of a return code, `None` for a number that is no code.
///
/// ```
/// use cannery_abi::{ACL_ERROR_RT_MEMORY_ALLOCATION, code_name};
/// assert_eq!(code_name(ACL_ERROR_RT_MEMORY_ALLOCATION), Some("ACL_ERROR_RT_MEMORY_ALLOCATION"));
/// assert_eq!(code_name(0), Some("ACL_SUCCESS"));
/// assert_eq!(code_name(-1), None);
/// ```
pub fn code_name(value: aclError) -> Option<&'static str> {
    code_fact(value).map(|row| row.name)
}

/// The row of a message code such as `EE1001`.
pub fn message_fact(name: &str) -> Option<&'static MessageFact> {
    MESSAGES.iter().find(|row| row.name == name)
}
