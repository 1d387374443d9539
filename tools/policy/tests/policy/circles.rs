//! No modules of a crate use each other.
//!
//! A module uses another one if it names an item that is declared there, in a `use` or by its path; what a module passes on
//! by `pub use` counts where it is declared. A module and those that it is in may use each other. Tests do not count.

use crate::{read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, Visibility};

/// The place of a module or an item in its crate: names from the root.
type Place = Vec<String>;

/// Relations of a file to others.
#[derive(Default)]
struct Module {
    /// Paths as written in the file.
    paths: Vec<Place>,
    /// Its imports, by their names in the file.
    imports: BTreeMap<String, Place>,
    /// Its re-exports.
    exports: BTreeMap<String, Place>,
    /// Modules within the file around the current item.
    depth: usize,
}

/// The circles among the modules of a crate, each as a list of its modules; fails if a file cannot be read or is not Rust.
fn circles(source: &Path) -> Result<Vec<Vec<String>>, String> {
    let mut modules = BTreeMap::new();
    read_modules(source, &mut Vec::new(), &mut modules)?;
    let users: BTreeMap<&Place, BTreeSet<&Place>> = modules
        .iter()
        .map(|(place, module)| (place, used(&modules, place, module)))
        .collect();
    let reached = |from| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            open.extend(users[next].iter().filter(|place| seen.insert(**place)));
        }
        seen
    };
    let all: BTreeMap<&Place, BTreeSet<&Place>> =
        users.keys().map(|place| (*place, reached(*place))).collect();
    let with = |place: &Place| {
        let others = all.iter().filter(|(other, _)| all[place].contains(**other));
        others
            .filter(|(_, reached)| reached.contains(place))
            .map(|(other, _)| other.join("::"))
            .collect::<Vec<_>>()
    };
    let circles: BTreeSet<_> = all
        .keys()
        .map(|place| with(place))
        .filter(|circle| circle.len() > 1)
        .collect();
    Ok(circles.into_iter().collect())
}

/// Reads the modules of a folder.
fn read_modules(
    folder: &Path,
    place: &mut Place,
    modules: &mut BTreeMap<Place, Module>,
) -> Result<(), String> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
        let path = entry.map_err(|error| failed(folder, &error))?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            place.push(name);
            read_modules(&path, place, modules)?;
            place.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests" {
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
            let file = syn::parse_file(&text).map_err(|error| failed(&path, &error))?;
            let mut module = Module::default();
            module.visit_file(&file);
            let own = (!["lib", "main", "mod"].contains(&name.as_str())).then_some(name);
            let place = place.iter().cloned().chain(own).collect();
            modules.insert(place, module);
        }
    }
    Ok(())
}

/// The modules that declare what a module names.
fn used<'a>(modules: &'a BTreeMap<Place, Module>, place: &Place, module: &Module) -> BTreeSet<&'a Place> {
    let own = module.paths.iter().filter_map(|path| {
        let path = match module.imports.get(&path[0]) {
            Some(import) => import.iter().chain(&path[1..]).cloned().collect(),
            None => path.clone(),
        };
        from_root(modules, place, &path)
    });
    own.filter_map(|path| declared(modules, path, 0))
        .filter(|other| !other.starts_with(place) && !place.starts_with(other))
        .collect()
}

/// A path from the root of the crate, if it is in the crate.
fn from_root(modules: &BTreeMap<Place, Module>, place: &Place, path: &[String]) -> Option<Place> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([place.as_slice(), rest].concat()),
        "super" => {
            let (_, above) = place.split_last()?;
            match rest.first().is_some_and(|next| next == "super") {
                true => from_root(modules, &above.to_vec(), rest),
                false => Some([above, rest].concat()),
            }
        }
        _ => {
            let below = [place.as_slice(), path].concat();
            modules.contains_key(&below[..=place.len()]).then_some(below)
        }
    }
}

/// The module that declares an item, behind all that only pass it on.
fn declared(modules: &BTreeMap<Place, Module>, path: Place, steps: usize) -> Option<&Place> {
    let length = (0..=path.len())
        .rev()
        .find(|length| modules.contains_key(&path[..*length]))?;
    let (place, module) = modules.get_key_value(&path[..length])?;
    // A module that is named, and no item of it, is not used yet.
    let item = path.get(length)?;
    let passed_on = module.exports.get(item).filter(|_| steps < 8);
    match passed_on.and_then(|export| from_root(modules, place, export)) {
        Some(export) => declared(
            modules,
            export.into_iter().chain(path[length + 1..].to_vec()).collect(),
            steps + 1,
        ),
        None => Some(place),
    }
}

/// The paths of a `use`, each with the name that it gets.
fn flatten(tree: &UseTree, before: &Place, found: &mut Vec<(String, Place)>) {
    let with = |name: String| before.iter().cloned().chain([name]).collect::<Place>();
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &with(path.ident.to_string()), found),
        UseTree::Name(name) if name.ident == "self" => {
            found.extend(before.last().map(|last| (last.clone(), before.clone())));
        }
        UseTree::Name(name) => found.push((name.ident.to_string(), with(name.ident.to_string()))),
        UseTree::Rename(rename) => {
            found.push((rename.rename.to_string(), with(rename.ident.to_string())));
        }
        UseTree::Glob(_) => found.push(("*".to_owned(), with("*".to_owned()))),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, found)),
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let is_cfg = |attribute: &Attribute| attribute.path().is_ident("cfg");
    attributes.iter().any(|attribute| {
        is_cfg(attribute)
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|name| name == "test")
    })
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            self.depth += 1;
            visit::visit_item_mod(self, item);
            self.depth -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = Vec::new();
        flatten(&item.tree, &Vec::new(), &mut found);
        if self.depth > 0 {
            return;
        }
        match item.vis {
            Visibility::Inherited => {
                self.paths.extend(found.iter().map(|(_, path)| path.clone()));
                self.imports.extend(found);
            }
            _ => self.exports.extend(found),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Place = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if names.len() > 1 && self.depth == 0 {
            self.paths.push(names);
        }
        visit::visit_path(self, path);
    }
}

/// The circles of a crate with these files.
fn of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    circles(folder.path()).unwrap()
}

#[test]
fn finds_cycles_through_re_exports() {
    let found = of(&[
        ("lib.rs", "mod a; mod b; mod c; pub use a::One; pub use b::Two;"),
        ("a.rs", "use crate::Two; pub struct One(Two);"),
        ("b.rs", "use crate::c; pub type Two = c::Three;"),
        ("c.rs", "pub struct Three(Box<super::a::One>);"),
    ]);
    assert_eq!(found, [["a", "b", "c"]]);
}

#[test]
fn parents_children_and_tests_are_not_cycles() {
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
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    assert!(members.len() > 10, "{members:?}");
    let mut found = Vec::new();
    let members = members.iter().filter_map(|member| member.as_str());
    for member in members.filter(|member| root().join(member).join("src").is_dir()) {
        let circles = circles(&root().join(member).join("src")).unwrap();
        found.extend(circles.into_iter().map(|circle| (member, circle)));
    }
    assert!(
        found.is_empty(),
        "modules use each other; move what they share to a home of its own: {found:#?}"
    );
}
