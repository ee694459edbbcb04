//! Link settings of libascendcl.so, and its one C file (a variadic function).

fn main() {
    println!("cargo::rerun-if-changed=src/app_log.c");
    cc::Build::new()
        .file("src/app_log.c")
        .flag_if_supported("-fvisibility=hidden")
        .compile("app_log");
    // Programs ask for exactly this name, and dlopen must find the copy that is loaded already.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libascendcl.so");
    // A thread of the library may run when a program closes it: the code must stay.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,relro,-z,now");
}
