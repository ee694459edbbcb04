//! Functions of the module `acl` itself.

pub(crate) mod data_buffer;
pub(crate) mod init;
pub(crate) mod tensor_desc;
