//! `host/include/spinneret.h` is what the sources say, and good C and C++.

mod header;

use header::Header;
use spinneret::{
    spinneret_addresses, spinneret_function, spinneret_options, spinneret_rule, spinneret_ruleset,
    spinneret_usage,
};

const INTRODUCTION: &str = "\
/*
 * The library for applications that use a spinneret NIC. Generated from host/c; see docs/host/library.md.
 *
 * Calls that return an int return 0 on success unless documented otherwise, and one of the negative numbers below on failure;
 * spinneret_error_message() returns the reason. Strings are UTF-8 and zero-terminated.
 *
 * Close each handle once, with the call that has close in its name. A closed handle, a handle of another kind, or a null
 * pointer where none is allowed is an error. All calls are thread-safe.
 */";

/// The version of the header, and annotations of prototypes, for the preprocessor.
const MACROS: &str = concat!(
    "#define SPINNERET_VERSION \"",
    env!("CARGO_PKG_VERSION"),
    "\"\n#define SPINNERET_VERSION_MAJOR ",
    env!("CARGO_PKG_VERSION_MAJOR"),
    "\n#define SPINNERET_VERSION_MINOR ",
    env!("CARGO_PKG_VERSION_MINOR"),
    "\n#define SPINNERET_VERSION_PATCH ",
    env!("CARGO_PKG_VERSION_PATCH"),
    "\n\n",
    "/*\n * Annotations of prototypes in a header: the command spinneret service generates stubs for handlers from it, and a file that\n",
    " * defines spinneret_offer_PREFIX (docs/host/services.md).\n */\n",
    "#define SPIN_SERVICE(number, prefix) int spinneret_offer_##prefix(spinneret_context *context, void *state)\n",
    "#define SPIN_CALL(...)\n#define SPIN_IN(count)\n#define SPIN_OUT(count)\n#define SPIN_INOUT(count)\n#define SPIN_CAP(bytes)\n",
    "/* The status of a function that refuses a call with a number. */\n",
    "#define SPIN_FAILED(number) (SPIN_SERVICE_FAILED | (uint32_t)(number) << 8)\n"
);

const HEADER: Header = Header {
    folder: env!("CARGO_MANIFEST_DIR"),
    path: "../include/spinneret.h",
    sources: &[
        "ffi",
        "nic",
        "context",
        "memory",
        "addresses",
        "slmp",
        "services",
        "calls",
    ],
    introduction: INTRODUCTION,
    guard: "SPINNERET_H",
    includes: [&["stddef.h", "stdint.h"], &[]],
    prelude: MACROS,
    epilogue: "",
    update: "SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-c --test header",
};

#[test]
fn the_header_is_up_to_date() {
    HEADER.check();
}

#[test]
fn no_call_is_left_out() {
    HEADER.check_calls();
}

#[test]
fn the_header_compiles_as_c_and_cpp() {
    let structures = [
        ("spinneret_rule", size_of::<spinneret_rule>()),
        ("spinneret_ruleset", size_of::<spinneret_ruleset>()),
        ("spinneret_options", size_of::<spinneret_options>()),
        ("spinneret_usage", size_of::<spinneret_usage>()),
        ("spinneret_function", size_of::<spinneret_function>()),
        ("spinneret_addresses", size_of::<spinneret_addresses>()),
    ];
    let main = "SPIN_SERVICE(64, t); SPIN_CALL(1, ticket) spin_status_t t_f(uint32_t n, SPIN_IN(n) const void *bytes); \
                _Static_assert(SPINNERET_OK == 0 && SPINNERET_ERROR_ARGUMENT < 0, \"results\"); \
                _Static_assert(SPIN_FAILED(3) == 0x30b, \"statuses\"); \
                spinneret_nic *nic = 0; return spinneret_open(\"\", &nic) == SPINNERET_OK;";
    let c: &[&str] = &["-std=c11", "-pedantic"];
    let cpp: &[&str] = &["-std=c++11", "-pedantic", "-x", "c++"];
    HEADER.compile(&structures, main, &[], &[("gcc", c), ("g++", cpp)]);
}
