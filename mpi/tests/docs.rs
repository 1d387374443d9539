//! The C header is what the tables say.

use std::path::Path;

#[test]
fn the_c_header_is_up_to_date() {
    let mut wanted = String::new();
    spinneret_mpi::nic::c_header(&mut wanted).expect("strings take every text");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/include/mpi_types.h");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == wanted,
        "runtime/include/mpi_types.h differs from the tables of spinneret-mpi: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-mpi --test docs`"
    );
}
