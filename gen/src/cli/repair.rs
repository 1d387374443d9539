//! The command that repairs what `--check` found.

use super::Arguments;

impl Arguments {
    /// The command that writes what `--check` compared with.
    pub(super) fn repair_command(&self) -> String {
        let mut words = Vec::new();
        let mut add = |option: &str, value: &str| words.push(format!("{option} {}", quote(value)));
        if let Some(config) = &self.config {
            add("--config", config);
        }
        let board = [
            ("--board", &self.board),
            ("--corundum", &self.corundum),
            ("--cluster", &self.cluster),
            ("--cluster-mhz", &self.cluster_mhz),
        ];
        for (option, value) in board {
            value.iter().for_each(|value| add(option, value));
        }
        for (option, path) in [
            ("--corundum-dir", &self.corundum_dir),
            ("--pspin-dir", &self.pspin_dir),
        ] {
            path.iter()
                .for_each(|path| add(option, &path.display().to_string()));
        }
        self.modules.iter().for_each(|module| add("--module", module));
        self.settings.iter().for_each(|setting| add("--set", setting));
        self.prefix.iter().for_each(|prefix| add("--prefix", prefix));
        if let Some(directory) = &self.out {
            add("--out", &directory.display().to_string());
        }
        let command = "cargo run --release --bin gen-verilog";
        if words.is_empty() {
            command.to_owned()
        } else {
            format!("{command} -- {}", words.join(" "))
        }
    }
}

/// Quotes a word for a shell if it needs that.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-=./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::super::Arguments;
    use clap::Parser as _;

    #[test]
    fn the_repair_command_repeats_what_was_asked() {
        let parse = |words: &[&str]| Arguments::try_parse_from(words).unwrap().repair_command();
        assert_eq!(
            parse(&["gen-verilog", "--check"]),
            "cargo run --release --bin gen-verilog"
        );
        assert_eq!(
            parse(&[
                "gen-verilog",
                "--check",
                "--config",
                "board",
                "--set",
                "a.b=1",
                "--prefix",
                "wide_",
                "--out",
                "it's here"
            ]),
            r"cargo run --release --bin gen-verilog -- --config board --set a.b=1 --prefix wide_ --out 'it'\''s here'"
        );
    }
}
