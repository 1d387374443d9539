//! The header of handlers is what the trait says.

use std::path::Path;

#[test]
fn the_header_of_handlers_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include/spin_mpi.h");
    let wanted = spinneret_rpc_mpi::messages::C_HEADER;
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted)
            .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "runtime/include/spin_mpi.h differs from the trait Messages: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test --workspace --test mpi_header`"
    );
}
