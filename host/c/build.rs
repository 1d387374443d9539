//! The name by which programs ask for the library when they start: it changes with what they cannot do without.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::{env, fs};

fn main() {
    let major = env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets it");
    let name = format!("libspinneret.so.{major}");
    println!("cargo::rerun-if-changed=build.rs");
    // For targets of this package alone: arguments for libraries go on to the libraries that use this one. Programs ignore it.
    println!("cargo::rustc-link-arg=-Wl,-soname,{name}");
    // Programs that are linked with the library where cargo puts it have to find it there by this name.
    let output = env::var("OUT_DIR").expect("cargo sets it");
    if let Some(folder) = Path::new(&output).ancestors().nth(3) {
        let link = folder.join(&name);
        // Another build may have left one.
        let _ = fs::remove_file(&link);
        if let Err(error) = symlink("deps/libspinneret.so", &link) {
            println!("cargo::warning={} cannot be made: {error}", link.display());
        }
    }
}
