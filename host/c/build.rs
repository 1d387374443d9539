//! The name by which programs ask for the library when they start: it changes with what they cannot do without.

use std::env;

fn main() {
    let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libspinneret.so.{major}");
}
