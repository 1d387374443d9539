//! The name by which programs ask for the library when they start: it changes with what they cannot do without.

use std::env;

fn main() {
    let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=build.rs");
    // For targets of this package alone: arguments for libraries go on to the libraries that use this one. Programs ignore it.
    println!("cargo::rustc-link-arg=-Wl,-soname,libspinneret.so.{major}");
}
