//! `spinneret new` and `spinneret where`: a folder for handlers of one's own, and what they are built with.

use crate::installed;
use crate::terminal::{Failure, print, print_folded};
use anyhow::{Context as _, anyhow};
use clap::Args;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What takes the handler's name in names and texts of files.
const NAME: &str = "NAME";

/// Files of a new folder: names, texts, and whether they are programs.
const FILES: [(&str, &str, bool); 6] = [
    ("NAME.c", include_str!("new/handler.c"), false),
    ("rules.toml", include_str!("new/rules.toml"), false),
    ("Makefile", include_str!("new/Makefile"), false),
    ("test.sh", include_str!("new/test.sh"), true),
    ("README.md", include_str!("new/README.md"), false),
    (".gitignore", "build/\n", false),
];

/// Arguments of `spinneret new`.
#[derive(Clone, Debug, Args)]
pub(super) struct NewArguments {
    /// Folder to make; its last part is the name of the handler
    #[arg(value_name = "NAME")]
    path: PathBuf,
}

/// Makes a folder with a handler that runs, its rules, a Makefile and a test.
///
/// # Errors
/// If the name is none for a handler, or the folder is there or cannot be made; nothing is left then.
pub(super) fn run(arguments: &NewArguments) -> Result<(), Failure> {
    let path = &arguments.path;
    let name = name(path).map_err(Failure::Usage)?;
    fs::create_dir(path)
        .with_context(|| format!("{} cannot be made", path.display()))
        .map_err(|error| Failure::Usage(anyhow!("{error:#}")))?;
    if let Err(error) = fill(path, name) {
        // The folder was not there before.
        let _ = fs::remove_dir_all(path);
        return Err(Failure::Work(anyhow!("{error:#}")));
    }
    let shown = path.display();
    print_folded(format_args!(
        "{shown} has a handler that answers UDP packets to port 9000; try\n  make -C {shown} test\n  \
         spinneret run {shown} --generate udp,dport=9000,rate=10Gbps,count=1000\n"
    ))
    .map_err(Failure::Work)
}

/// Prints where the headers, the linker script and the examples are.
///
/// # Errors
/// If they are nowhere.
pub(super) fn tell_where() -> Result<(), Failure> {
    let runtime = installed::runtime().map_err(Failure::usage)?;
    print(format_args!("{}\n", runtime.display())).map_err(Failure::Work)
}

/// The name of the handler: the functions that are called begin with it.
fn name(path: &Path) -> anyhow::Result<&str> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    anyhow::ensure!(
        begins && name.chars().all(is_word),
        "`{name}` cannot be the name of a C function: take letters, digits and _, a letter first"
    );
    Ok(name)
}

fn fill(path: &Path, name: &str) -> anyhow::Result<()> {
    for (file, text, is_program) in FILES {
        let file = path.join(file.replace(NAME, name));
        let write = || {
            fs::write(&file, text.replace(NAME, name))?;
            match is_program {
                true => fs::set_permissions(&file, Permissions::from_mode(0o755)),
                false => Ok(()),
            }
        };
        write().with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c_functions() {
        assert_eq!(
            name(Path::new("some/folder/echo_2")).expect("it is one"),
            "echo_2"
        );
        for wrong in ["", "2x", "a-b", "_a", "é", "a b", "x/.."] {
            let said = name(Path::new(wrong)).expect_err(wrong).to_string();
            assert!(said.contains("cannot be the name of a C function"), "{said}");
        }
    }
}
