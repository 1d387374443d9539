//! The header of handlers is what the tables say.

use spinneret_rpc::place::c_header;
use std::path::Path;

#[test]
fn the_header_of_handlers_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/include/spin_rpc_abi.h");
    let mut wanted = String::new();
    c_header(&mut wanted).expect("strings take every text");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted)
            .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "runtime/include/spin_rpc_abi.h differs from the tables of spinneret-rpc: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-rpc --test docs`"
    );
}
