//! `docs/registers.md` is what the tables say.

use std::path::Path;

#[test]
fn the_register_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/registers.md");
    let mut wanted = String::new();
    spinneret_regmap::render::markdown(&mut wanted).expect("strings take every text");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).expect("docs/registers.md can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/registers.md differs from the tables of spinneret-regmap: run `./dev docs`, \
         which runs this test with SPINNERET_UPDATE_DOCS=1"
    );
}
