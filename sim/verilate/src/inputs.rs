//! Tracking of inputs: which inputs combinational logic depends on.
//!
//! Verilator evaluates all logic between inputs and registers or outputs in every call, even at clock edges, before
//! which all inputs have settled. In a large design that takes a good part of the time. So the loop over that logic
//! is patched to ask whether an input changed, and each input is searched in the logic: an input that does not occur
//! in it, such as a clock, need not be tracked.
//!
//! Code that does not look as Verilator 5 writes it stays unchanged; then every input is tracked in every call.

use crate::{Error, FileContext, Port};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The start of the loop, and its replacement: `spinneret_model.h` has the variable.
pub(crate) const PATCH: [&str; 2] = [
    "\n    __VicoContinue = 1U;\n",
    "\n    __VicoContinue = spinneret::follow_inputs;\n",
];

/// In the names of the functions of that logic: its region is "input combinational".
const REGION: &str = "___ico_";

/// Makes the loop ask, in the folder that Verilator has written; for each port whether it is followed.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn patch(ports: &[Port], generated: &Path) -> Result<Vec<bool>, Error> {
    let mut words = HashSet::new();
    let mut loops: Vec<(PathBuf, String)> = Vec::new();
    for entry in fs::read_dir(generated).at("read", generated)? {
        let path = entry.at("read", generated)?.path();
        if path.extension().is_none_or(|extension| extension != "cpp") {
            continue;
        }
        let text = fs::read_to_string(&path).at("read", &path)?;
        words.extend(words_of_region(&text).map(str::to_owned));
        if text.contains(PATCH[0]) {
            loops.push((path, text));
        }
    }
    let [(path, text)] = &loops[..] else {
        return Ok(vec![true; ports.len()]);
    };
    if text.matches(PATCH[0]).count() != 1 {
        return Ok(vec![true; ports.len()]);
    }
    // A function outside of the region could read any input.
    if words.iter().any(|word| is_other_function(word)) {
        return Ok(vec![true; ports.len()]);
    }
    fs::write(path, text.replace(PATCH[0], PATCH[1])).at("write", path)?;
    // Verilator writes names with two underscores in another way.
    let is_followed = |port: &Port| !port.input || port.name.contains("__") || words.contains(&port.name);
    Ok(ports.iter().map(is_followed).collect())
}

/// All words in the functions of that region.
fn words_of_region(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    let lines = text.lines().filter(move |line| {
        // Functions begin in the first column; their bodies are indented.
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            is_inside = line.contains(REGION);
        }
        is_inside
    });
    lines.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'))
}

/// Whether a word is a function of the model outside of the region: `V<model>___024root___<function>`.
fn is_other_function(word: &str) -> bool {
    word.starts_with('V') && word.replace("___024root", "").contains("___") && !word.contains(REGION)
}

#[cfg(test)]
mod tests {
    use super::{PATCH, patch};
    use crate::Port;
    use std::fs;

    /// Output of Verilator, shortened.
    const TEXT: &str = "
VL_INLINE_OPT void Vx___024root___ico_sequent__TOP__0(Vx___024root* vlSelf) {
    vlSelf->q = ((IData)(vlSelf->a) & vlSelf->x__b);
}

VL_INLINE_OPT void Vx___024root___nba_sequent__TOP__0(Vx___024root* vlSelf) {
    vlSelf->kept = vlSelf->d;
}

void Vx___024root___eval(Vx___024root* vlSelf) {
    __VicoContinue = 1U;
    while (__VicoContinue) {
        __VicoContinue = 0U;
    }
}
";

    fn followed(text: &str) -> (Vec<bool>, String) {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("Vx.cpp");
        fs::write(&file, text).expect("there is room");
        let port = |(name, input): (&str, bool)| Port {
            name: name.to_owned(),
            input,
            width: 1,
        };
        let ports = [
            ("a", true),
            ("d", true),
            ("clk", true),
            ("x__b", true),
            ("q", false),
        ]
        .map(port);
        let followed = patch(&ports, folder.path()).expect("it can be written");
        (followed, fs::read_to_string(file).expect("it is there"))
    }

    #[test]
    fn inputs_that_only_registers_and_edges_read_are_not_followed() {
        let (followed, text) = followed(TEXT);
        assert_eq!(followed, [true, false, false, true, true]);
        assert_eq!(text, TEXT.replace(PATCH[0], PATCH[1]));
    }

    #[test]
    fn text_of_another_form_stays_and_all_is_followed() {
        let other = TEXT.replace("__VicoContinue = 1U", "more = true");
        assert_eq!(followed(&other), (vec![true; 5], other.clone()));
        let twice = format!("{TEXT}{TEXT}");
        assert_eq!(followed(&twice), (vec![true; 5], twice.clone()));
        let calls = TEXT.replace("vlSelf->q =", "Vx___024root___helper(vlSelf);\n    vlSelf->q =");
        assert_eq!(followed(&calls), (vec![true; 5], calls.clone()));
    }
}
