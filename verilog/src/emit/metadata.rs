//! The name of a module and the documentation of what is in it; verbatim text has them in comments.

use std::collections::BTreeMap;

use super::names;
use super::parameters::Named;
use crate::lang::Describe;

/// A number that an instance of a verbatim module sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleParameter {
    pub(crate) name: String,
    /// Its value in the instance that the module is made for.
    pub(crate) value: u64,
    /// Canonical paths of the signals that are so wide.
    pub(crate) of: Vec<String>,
}

/// Name and documentation of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// The block that the module is made of, whatever its parameters.
    pub(crate) block: Option<String>,
    /// The name that the block asks for.
    pub(crate) module: Option<String>,
    /// Parameters of verbatim text.
    pub(crate) parameters: Vec<ModuleParameter>,
    /// Numbers that a kernel names.
    pub(crate) named: Vec<Named>,
    /// Lines above the module.
    pub(crate) doc: Vec<String>,
    /// Documentation of signals, registers and instances by canonical path.
    pub(crate) ports: BTreeMap<String, String>,
}

impl Metadata {
    /// The metadata of a block. `suffix` ends its name; the numbers that its kernel names are name, value, formula.
    pub(crate) fn of<T: Describe + ?Sized>(
        suffix: Option<String>,
        numbers: &[(&str, usize, Option<&str>)],
    ) -> Self {
        let named = |(name, value, formula): &(&str, usize, Option<&str>)| Named {
            name: (*name).to_owned(),
            value: i64::try_from(*value).unwrap_or(i64::MAX),
            formula: formula.map(str::to_owned),
        };
        let name = match suffix.filter(|suffix| !suffix.is_empty()) {
            Some(suffix) => format!("{}_{suffix}", T::NAME),
            None => T::NAME.to_owned(),
        };
        let fields = T::FIELDS.iter();
        Self {
            block: Some(T::NAME.to_owned()),
            module: Some(name),
            parameters: Vec::new(),
            named: numbers.iter().map(named).collect(),
            doc: T::DOC.iter().map(|line| line.trim_end().to_owned()).collect(),
            ports: fields
                .map(|(field, lines)| ((*field).to_owned(), lines.join(" ")))
                .collect(),
        }
    }

    /// Takes a comment of verbatim text if it is metadata.
    fn take(&mut self, comment: &str) -> bool {
        if let Some(name) = comment.strip_prefix("module:") {
            self.module = Some(name.trim().to_owned());
        } else if let Some(text) = comment.strip_prefix("doc:") {
            self.doc
                .push(text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned());
        } else if let Some(parameter) = comment.strip_prefix("parameter ") {
            let Some(parameter) = module_parameter(parameter) else {
                return false;
            };
            self.parameters.push(parameter);
        } else {
            return false;
        }
        true
    }

    /// The parameter that gives the width of a signal.
    pub(crate) fn parameter_of(&self, path: &str) -> Option<&ModuleParameter> {
        let whole = names::without_index(path);
        let mut all = self.parameters.iter();
        all.find(|parameter| parameter.of.iter().any(|of| of == path || *of == whole))
    }

    /// The documentation of a signal, register or instance. For an array, the first element holds it.
    pub(crate) fn doc(&self, path: &str) -> &str {
        let of_array = || {
            let indices = path.strip_prefix(&names::without_index(path))?;
            let first = indices.split('$').skip(1).all(|index| index == "0");
            if first {
                self.ports.get(&names::without_index(path))
            } else {
                None
            }
        };
        self.ports.get(path).or_else(of_array).map_or("", String::as_str)
    }

    /// The documentation of the interface that the port at `path` belongs to, if the port before it belongs
    /// to another one.
    pub(crate) fn heading(&self, path: &str, before: Option<&str>) -> Option<&str> {
        let ends = path.match_indices('$').map(|(end, _)| end);
        let mut interfaces = ends.map(|end| path.split_at(end).0);
        let interface = interfaces.find(|interface| !self.doc(interface).is_empty())?;
        let is_same = |path: &str| {
            path.strip_prefix(interface)
                .is_some_and(|rest| rest.starts_with('$'))
        };
        (!before.is_some_and(is_same)).then(|| self.doc(interface))
    }

    /// Takes the metadata from the head of verbatim Verilog and returns the rest.
    pub(crate) fn take_head<'a>(&mut self, text: &'a str) -> &'a str {
        let mut rest = text;
        while let Some((line, tail)) = rest.split_once('\n') {
            let line = line.trim();
            let is_metadata = line
                .strip_prefix("//")
                .is_some_and(|comment| self.take(comment.trim()));
            if !is_metadata && !line.is_empty() {
                break;
            }
            rest = tail;
        }
        rest
    }
}

/// `NAME = VALUE: path path`.
fn module_parameter(text: &str) -> Option<ModuleParameter> {
    let (setting, of) = text.split_once(':')?;
    let (name, value) = setting.split_once('=')?;
    let name = name.trim();
    names::is_identifier(name).then_some(())?;
    Some(ModuleParameter {
        name: name.to_owned(),
        value: value.trim().parse().ok()?,
        of: of.split_whitespace().map(str::to_owned).collect(),
    })
}

/// The text of a comment statement, one entry for each line.
///
/// Kernels of rust-hdl hand over the whole macro call when the compiler prints it in another form than
/// rust-hdl expects; the text is what stands between its quotes.
pub(crate) fn comment_lines(comment: &str) -> Vec<String> {
    let comment = comment.trim();
    let is_call = ["comment", "println", "assert"].iter().any(|name| {
        comment
            .strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with('!'))
    });
    let text = match comment.split_once('"') {
        Some((_, text)) if is_call => text.rsplit_once('"').map_or(text, |(text, _)| text),
        _ => comment,
    };
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_metadata_and_leaves_comments() {
        let mut metadata = Metadata::default();
        assert!(metadata.take("module: skid"));
        assert!(metadata.take("doc: First line."));
        assert!(metadata.take("parameter WIDTH = 9: s$data memory"));
        assert!(!metadata.take("parameter of all"));
        assert!(!metadata.take("Default values."));
        let parameter = metadata
            .parameter_of("memory")
            .map(|found| (found.name.as_str(), found.value));
        assert_eq!(parameter, Some(("WIDTH", 9)));
        assert_eq!(metadata.parameter_of("s"), None);
        assert_eq!(metadata.module.as_deref(), Some("skid"));
    }

    #[test]
    fn documents_arrays_and_interfaces_once() {
        let ports = [("rules", "Rules."), ("s", "Stream.")];
        let metadata = Metadata {
            ports: ports.map(|(name, doc)| (name.to_owned(), doc.to_owned())).into(),
            ..Metadata::default()
        };
        assert_eq!(metadata.doc("rules$0"), "Rules.");
        assert_eq!(metadata.doc("rules$1"), "");
        assert_eq!(metadata.doc("other"), "");
        assert_eq!(metadata.heading("s$tdata", Some("clk")), Some("Stream."));
        assert_eq!(metadata.heading("s$tvalid", Some("s$tdata")), None);
    }

    #[test]
    fn separates_the_head_of_verbatim_text() {
        let mut metadata = Metadata::default();
        let rest =
            metadata.take_head("// module: ram\n\n// doc: A memory.\n// Not metadata.\nassign a = b;\n");
        assert_eq!(rest, "// Not metadata.\nassign a = b;\n");
        assert_eq!(metadata.doc, ["A memory."]);
    }

    #[test]
    fn finds_the_text_of_a_comment_call() {
        assert_eq!(comment_lines("comment! (\"module: x\")"), ["module: x"]);
        assert_eq!(comment_lines("comment!(\"two\nlines"), ["two", "lines"]);
        assert_eq!(comment_lines("plain \"text\""), ["plain \"text\""]);
    }
}
