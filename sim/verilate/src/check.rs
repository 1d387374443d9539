//! Refuses descriptions of models that Verilator, C++ or Rust would misunderstand.

use crate::rust_text::{getter, setter, struct_name};
use crate::{Error, Model};
use std::collections::HashMap;
use std::path::Path;

/// Checks every model separately, and that no two have the same names.
pub(crate) fn check_all(models: &[Model]) -> Result<(), Error> {
    let mut structs: HashMap<String, &str> = HashMap::new();
    for model in models {
        check(model).map_err(|reason| Error::Description {
            model: model.name.clone(),
            reason,
        })?;
        let name = struct_name(&model.name);
        if let Some(other) = structs.insert(name.clone(), &model.name) {
            let reason = format!("model `{other}` has the same Rust name `{name}`; rename one");
            return Err(Error::Description {
                model: model.name.clone(),
                reason,
            });
        }
    }
    Ok(())
}

fn check(model: &Model) -> Result<(), String> {
    let snake = model.name.starts_with(|c: char| c.is_ascii_lowercase())
        && model
            .name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !snake {
        return Err("its name is not in snake_case".to_owned());
    }
    if !is_identifier(&model.top) {
        return Err(format!(
            "the top module's name `{}` is not an identifier",
            model.top
        ));
    }
    check_sources(model)?;
    check_ports(model)
}

fn check_sources(model: &Model) -> Result<(), String> {
    if model.sources.is_empty() {
        return Err("it has no sources".to_owned());
    }
    let mut seen: HashMap<&str, ()> = HashMap::new();
    for (file, _) in &model.sources {
        let plain = Path::new(file)
            .file_name()
            .is_some_and(|name| name == file.as_str());
        if !plain || file.starts_with('-') {
            return Err(format!("the source `{file}` is not a plain file name"));
        }
        if seen.insert(file, ()).is_some() {
            return Err(format!("two sources are called `{file}`"));
        }
    }
    Ok(())
}

fn check_ports(model: &Model) -> Result<(), String> {
    let mut accessors: HashMap<String, &str> = HashMap::new();
    for port in &model.ports {
        let name = &port.name;
        if !is_identifier(name) {
            return Err(format!(
                "the port name `{name}` is not an identifier of letters, digits and single _"
            ));
        }
        if port.width == 0 {
            return Err(format!("the port `{name}` is 0 bits wide"));
        }
        for accessor in [Some(getter(name)), port.input.then(|| setter(name))]
            .into_iter()
            .flatten()
        {
            if let Some(other) = accessors.insert(accessor.clone(), name) {
                return Err(format!(
                    "the ports `{other}` and `{name}` need the same accessor `{accessor}`; rename one"
                ));
            }
        }
    }
    Ok(())
}

/// Whether Verilator keeps the name as it is in C++: it encodes `__` and `$`.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.contains("__")
}

#[cfg(test)]
mod tests {
    use super::check_all;
    use crate::{Model, Port};

    fn model(name: &str, ports: &[(&str, bool, usize)]) -> Model {
        let port = |&(name, input, width): &(&str, bool, usize)| Port {
            name: name.to_owned(),
            input,
            width,
        };
        Model {
            name: name.to_owned(),
            top: "top".to_owned(),
            sources: vec![("top.sv".to_owned(), String::new())],
            ports: ports.iter().map(port).collect(),
        }
    }

    fn refusal(models: &[Model]) -> String {
        check_all(models).expect_err("must be refused").to_string()
    }

    #[test]
    fn accepts_ordinary_models() {
        check_all(&[
            model("a", &[("clk", true, 1), ("type", false, 600)]),
            model("b", &[]),
        ])
        .expect("nothing is wrong");
    }

    #[test]
    fn refuses_names_that_collide() {
        assert_eq!(
            refusal(&[model("a_b", &[]), model("a__b", &[])]),
            "model `a__b` is not usable: model `a_b` has the same Rust name `AB`; rename one"
        );
        assert_eq!(
            refusal(&[model("m", &[("x", true, 1), ("set_x", false, 1)])]),
            "model `m` is not usable: the ports `x` and `set_x` need the same accessor `set_x`; rename one"
        );
    }

    #[test]
    fn refuses_names_that_verilator_would_change() {
        for name in ["a__b", "a$b", "", "1a", "a b"] {
            assert_eq!(
                refusal(&[model("m", &[(name, true, 1)])]),
                format!(
                    "model `m` is not usable: the port name `{name}` is not an identifier of letters, digits and single _"
                )
            );
        }
    }

    #[test]
    fn refuses_other_nonsense() {
        assert_eq!(
            refusal(&[model("M", &[])]),
            "model `M` is not usable: its name is not in snake_case"
        );
        assert_eq!(
            refusal(&[model("m", &[("x", true, 0)])]),
            "model `m` is not usable: the port `x` is 0 bits wide"
        );
        let mut elsewhere = model("m", &[]);
        elsewhere.sources[0].0 = "../x.sv".to_owned();
        assert_eq!(
            refusal(&[elsewhere]),
            "model `m` is not usable: the source `../x.sv` is not a plain file name"
        );
        let mut twice = model("m", &[]);
        twice.sources.push(("top.sv".to_owned(), String::new()));
        assert_eq!(
            refusal(&[twice]),
            "model `m` is not usable: two sources are called `top.sv`"
        );
        let mut empty = model("m", &[]);
        empty.sources.clear();
        assert_eq!(refusal(&[empty]), "model `m` is not usable: it has no sources");
    }
}
