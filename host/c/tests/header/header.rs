//! A header that cbindgen makes of a library's sources.

use cbindgen::{Builder, Config, DocumentationStyle, Language};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library's header.
pub(crate) struct Header {
    /// The folder of the crate.
    pub(crate) folder: &'static str,
    /// The header, from there.
    pub(crate) path: &'static str,
    /// Its sources, in the order of the header.
    pub(crate) sources: &'static [&'static str],
    pub(crate) introduction: &'static str,
    pub(crate) guard: &'static str,
    /// What it includes: in angle brackets, and in quotation marks.
    pub(crate) includes: [&'static [&'static str]; 2],
    /// What stands behind that.
    pub(crate) prelude: &'static str,
    /// What stands at the end.
    pub(crate) epilogue: &'static str,
    /// What brings it up to date.
    pub(crate) update: &'static str,
}

impl Header {
    fn file(&self) -> PathBuf {
        Path::new(self.folder).join(self.path)
    }

    /// What the header should be.
    pub(crate) fn made(&self) -> String {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let config = Config {
            language: Language::C,
            cpp_compat: true,
            header: Some(self.introduction.to_owned()),
            include_guard: Some(self.guard.to_owned()),
            no_includes: true,
            sys_includes: names(self.includes[0]),
            includes: names(self.includes[1]),
            after_includes: (!self.prelude.is_empty()).then(|| self.prelude.to_owned()),
            trailer: (!self.epilogue.is_empty()).then(|| self.epilogue.to_owned()),
            usize_is_size_t: true,
            documentation_style: DocumentationStyle::Doxy,
            line_length: 112,
            tab_width: 4,
            ..Config::default()
        };
        let sources = self.sources.iter();
        let builder = sources.fold(Builder::new().with_config(config), |builder, source| {
            builder.with_src(Path::new(self.folder).join(format!("src/{source}.rs")))
        });
        let made = builder.generate().expect("the compiler has taken the sources");
        let mut text = Vec::new();
        made.write(&mut text);
        let text = String::from_utf8(text).expect("the sources are UTF-8");
        // Comments are Markdown, of which C knows nothing; what callers promise follows what the call does; `type` is a name
        // that Rust keeps for itself.
        text.replace('`', "")
            .replace(" *\n * # Safety\n", "")
            .replace("type_", "type")
    }

    /// Whether the file is what it should be; it is written if that is asked for.
    pub(crate) fn check(&self) {
        let wanted = self.made();
        if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
            std::fs::write(self.file(), &wanted).expect("it can be written");
        }
        let found = std::fs::read_to_string(self.file()).unwrap_or_default();
        assert!(
            found == wanted,
            "{} differs from its sources: run `{}`",
            self.file().display(),
            self.update
        );
    }

    /// Whether all calls are in it: cbindgen leaves out what it does not know, and says so to nobody.
    pub(crate) fn check_calls(&self) {
        let header = self.made();
        let mut calls = 0;
        for file in std::fs::read_dir(Path::new(self.folder).join("src")).expect("the crate has sources") {
            let path = file.expect("the folder can be read").path();
            let source = std::fs::read_to_string(&path).expect("it is a source file");
            for exported in source.split("#[unsafe(no_mangle)]").skip(1) {
                let (_, named) = exported.split_once("fn ").expect("calls are marked");
                let (name, _) = named.split_once('(').expect("calls have arguments");
                let declared = [' ', '*'].map(|before| format!("{before}{name}("));
                assert!(
                    declared.iter().any(|call| header.contains(call)),
                    "{name} of {} is not in the header",
                    path.display()
                );
                calls += 1;
            }
        }
        assert!(calls > 0, "no calls are found in the sources");
    }

    /// Compiles a program that does not compile if structures are not as large as here, and whose
    /// `main` is `result`, by compilers, each with its arguments; others' headers are in these folders.
    pub(crate) fn compile(
        &self,
        structures: &[(&str, usize)],
        result: &str,
        others: &[&str],
        compilers: &[(&str, &[&str])],
    ) {
        let folder = tempfile::tempdir().expect("there is room");
        // Not the file of the project, which another test may be writing.
        let name = self.file().file_name().expect("it has a name").to_owned();
        let mut source = format!("#include <{}>\n", name.display());
        source += "#ifdef __cplusplus\n#define _Static_assert static_assert\n#endif\n";
        for (structure, size) in structures {
            source += &format!("_Static_assert(sizeof({structure}) == {size}, \"{structure}\");\n");
        }
        source += &format!("int main(void) {{ {result} }}\n");
        std::fs::write(folder.path().join(name), self.made()).expect("there is room");
        let uses = folder.path().join("uses.c");
        std::fs::write(&uses, source).expect("there is room");
        for (compiler, arguments) in compilers {
            let mut command = Command::new(compiler);
            command.args(*arguments);
            command.args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]);
            command.arg(folder.path());
            for other in others {
                command.arg("-I").arg(Path::new(self.folder).join(other));
            }
            let checked = command
                .arg(&uses)
                .output()
                .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
            assert!(
                checked.status.success(),
                "{compiler}: {}",
                String::from_utf8_lossy(&checked.stderr)
            );
        }
    }
}
