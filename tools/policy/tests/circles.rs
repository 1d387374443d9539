//! No modules use each other, in any crate of the workspace.

use spinneret_policy::circles;
use std::fs;
use std::path::Path;

/// The circles of a crate with these files.
fn of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = std::env::temp_dir().join(format!(
        "spinneret-circles-{}-{}",
        std::process::id(),
        files.len()
    ));
    let _ = fs::remove_dir_all(&folder);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = circles(&folder).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    found
}

#[test]
fn modules_that_use_each_other_are_found_behind_what_passes_them_on() {
    let found = of(&[
        ("lib.rs", "mod a; mod b; mod c; pub use a::One; pub use b::Two;"),
        ("a.rs", "use crate::Two; pub struct One(Two);"),
        ("b.rs", "use crate::c; pub type Two = c::Three;"),
        ("c.rs", "pub struct Three(Box<super::a::One>);"),
    ]);
    assert_eq!(found, [["a", "b", "c"]]);
}

#[test]
fn parents_children_and_tests_are_no_circles() {
    let found = of(&[
        ("lib.rs", "mod a; mod b; pub const N: usize = a::inner::M;"),
        ("a/mod.rs", "pub mod inner; pub struct A(inner::I);"),
        (
            "a/inner.rs",
            "use super::A; pub struct I(Box<A>); pub const M: usize = 1;",
        ),
        (
            "b.rs",
            "pub struct B(crate::a::A);\n#[cfg(test)]\nmod tests { use crate::c::C; }",
        ),
        ("c.rs", "use crate::b::B; pub struct C(B);"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn no_modules_of_the_workspace_use_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    assert!(members.len() > 10, "{members:?}");
    let mut found = Vec::new();
    for member in members {
        let member = member.as_str().unwrap();
        let circles = circles(&root.join(member).join("src")).unwrap();
        found.extend(circles.into_iter().map(|circle| (member, circle)));
    }
    assert!(
        found.is_empty(),
        "modules use each other; move what they share to a home of its own: {found:#?}"
    );
}
