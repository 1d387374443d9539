//! Manual pages and shell completions of a program, made of its command line.
//!
//! Each program writes its own, by a command or an option that its help does not show: `./dev install` asks for it.

use clap::{Args, Command};
use clap_complete::Shell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Shells, and where each looks for completions below `share/`.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// Arguments of the command that writes them.
#[derive(Clone, Debug, Args)]
pub struct ManualArguments {
    /// Folder `share` of the place that is installed to
    #[arg(value_name = "DIR")]
    pub share: PathBuf,
}

/// Writes a page for the program of that name and each of its commands, and completions for three shells, below a folder `share`.
///
/// # Errors
/// If something cannot be written; the sentence says what.
pub fn write(command: &Command, name: &'static str, share: &Path) -> io::Result<()> {
    let pages = folder(share, "man/man1")?;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", share.display()));
    clap_mangen::generate_to(command.clone(), pages).map_err(named)?;
    for (shell, place) in COMPLETIONS {
        // A completion shows what it finds, so it is made of a copy that has no hidden commands.
        let mut shown = visible(command, name);
        let file =
            clap_complete::generate_to(shell, &mut shown, name, folder(share, place)?).map_err(named)?;
        if shell == Shell::Bash {
            // The shell looks for the name of the program.
            fs::rename(&file, file.with_file_name(name)).map_err(named)?;
        }
    }
    Ok(())
}

fn folder(share: &Path, place: &str) -> io::Result<PathBuf> {
    let folder = share.join(place);
    let named = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("{} cannot be made: {error}", folder.display()),
        )
    };
    fs::create_dir_all(&folder).map_err(named)?;
    Ok(folder)
}

/// The same command without its hidden subcommands.
fn visible(command: &Command, name: &'static str) -> Command {
    let mut shown = Command::new(name).args(command.get_arguments().cloned());
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    let subcommands = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    shown.subcommands(subcommands.cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    #[test]
    fn pages_and_completions_show_what_the_help_shows() {
        let command = Command::new("tool")
            .about("Does things")
            .arg(Arg::new("deep").long("deep").help("Goes deep"))
            .subcommand(Command::new("dig").about("Digs"))
            .subcommand(Command::new("secret").hide(true));
        let share = tempfile::tempdir().expect("there is room");
        write(&command, "tool", share.path()).expect("there is room");
        for (file, has) in [
            ("man/man1/tool.1", "Goes deep"),
            ("man/man1/tool-dig.1", "Digs"),
            ("bash-completion/completions/tool", "dig"),
            ("zsh/site-functions/_tool", "dig"),
            ("fish/vendor_completions.d/tool.fish", "dig"),
        ] {
            let text = fs::read_to_string(share.path().join(file)).expect(file);
            assert!(text.contains(has), "{file}");
            assert!(!text.contains("secret"), "{file}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let said = write(&Command::new("tool"), "tool", file.path()).expect_err("it is a file");
        assert!(said.to_string().contains("man/man1 cannot be made"), "{said}");
    }
}
