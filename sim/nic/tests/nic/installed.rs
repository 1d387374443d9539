//! An installation made of what the tests are built with: moved to another place, and used there.

use crate::kit::{self, build, built, root, stderr};
use std::path::Path;
use std::process::{Command, Output};

/// Output of a command, which must succeed.
fn succeeds(command: &mut Command) -> String {
    let output = kit::succeeds(command);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn install(prefix: &Path) -> Output {
    let mut script = Command::new(root().join("tools/install.sh"));
    script.arg("--prefix").arg(prefix).arg("--built").arg(built());
    script.output().expect("there is bash")
}

/// A program of the installation, by a user whose programs are those alone and the system's.
fn command(installed: &Path, program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    let path = format!("{}:/usr/bin:/bin", installed.join("bin").display());
    command.current_dir(home).env("PATH", path).env("HOME", home);
    command.env_remove("SPINNERET_DATA").env_remove("XDG_CACHE_HOME");
    command
}

#[test]
fn a_moved_installation_builds_runs_and_links() {
    build(&["--bin", "gen-verilog", "--test", "interface", "--test", "policy"]);
    let folder = tempfile::tempdir().expect("there is room");
    let [first, installed, home] = ["first", "moved", "home"].map(|name| folder.path().join(name));
    let output = install(&first);
    assert!(output.status.success(), "{}", stderr(&output));
    std::fs::rename(&first, &installed).expect("it is one file system");
    std::fs::create_dir(&home).expect("there is room");
    let run =
        |program: &str, arguments: &[&str]| succeeds(command(&installed, program, &home).args(arguments));

    let runtime = run("spinneret", &["where"]);
    let data = installed
        .canonicalize()
        .expect("it is there")
        .join("share/spinneret");
    assert_eq!(runtime.trim_end(), data.join("runtime").display().to_string());
    run("spinneret", &["new", "hello"]);
    assert!(run("make", &["-C", "hello", "test"]).contains("test: all as expected"));
    // Nothing was taken from the checkout.
    let rules =
        std::fs::read_to_string(home.join("hello/build/.objects/hello.c.d")).expect("make has written it");
    assert!(
        rules.contains("moved/share/spinneret/runtime/include/handler.h"),
        "{rules}"
    );

    let package = installed.join("lib/pkgconfig");
    let flags = succeeds(Command::new("pkg-config").env("PKG_CONFIG_PATH", package).args([
        "--cflags",
        "--libs",
        "spinneret",
    ]));
    let source = "#include <spinneret.h>\n#include <string.h>\n\
                  int main(void) { return strcmp(spinneret_version(), SPINNERET_VERSION); }\n";
    std::fs::write(home.join("version.c"), source).expect("there is room");
    let mut compiler = command(&installed, "cc", &home);
    succeeds(
        compiler
            .args(["-Wall", "-Werror", "-o", "version", "version.c"])
            .args(flags.split_whitespace()),
    );
    succeeds(command(&installed, "./version", &home).env("LD_LIBRARY_PATH", installed.join("lib")));
    let needs = succeeds(Command::new("readelf").arg("-d").arg(home.join("version")));
    assert!(needs.contains("[libspinneret.so.0]"), "{needs}");

    let mut listing = command(&installed, "cc", &home);
    let source = installed.join("share/spinneret/host/listing2.c");
    let package = installed.join("lib/pkgconfig");
    let flags = succeeds(
        Command::new("pkg-config")
            .env("PKG_CONFIG_PATH", package)
            .args(["--cflags", "--libs", "fpspin"]),
    );
    succeeds(
        listing
            .arg(source)
            .args(flags.split_whitespace())
            .args(["-o", "listing2"]),
    );

    // A variable that names another place is no reason to take what is here.
    let mut lost = command(&installed, "spinneret", &home);
    let output = lost
        .env("SPINNERET_DATA", &home)
        .arg("where")
        .output()
        .expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("where there is no runtime/spin.mk"), "{said}");
}

#[test]
fn a_failed_installation_leaves_no_files() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("there is room");
    let output = install(&file.join("prefix"));
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("name a folder that you may write to"), "{said}");

    let prefix = folder.path().join("prefix");
    let mut script = Command::new(root().join("tools/install.sh"));
    script
        .arg("--prefix")
        .arg(&prefix)
        .arg("--built")
        .arg(folder.path());
    let said = String::from_utf8_lossy(&script.output().expect("there is bash").stderr).into_owned();
    assert!(
        said.contains("there is no") && said.contains("/spinneret: build it"),
        "{said}"
    );
    let left = std::fs::read_dir(&prefix).expect("it was made").count();
    assert_eq!(left, 0, "nothing is left of it");
}

/// Handlers in another user's folder are built in the cache of the user.
#[test]
fn handlers_in_a_read_only_folder_are_built_in_the_cache() {
    const NOBODY: &str = "65534";
    let folder = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir();
    let folder = folder.expect("there is room");
    let program = folder.path().join("spinneret");
    std::fs::copy(env!("CARGO_BIN_EXE_spinneret"), &program).expect("there is room");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(root().join("runtime"))
        .arg(folder.path().join("runtime"))
        .status();
    assert!(copied.is_ok_and(|status| status.success()));
    let handlers = folder.path().join("runtime/examples/udp_ping");
    let _ = std::fs::remove_dir_all(handlers.join("build"));
    let [home, nowhere] = ["home", "nowhere"].map(|name| folder.path().join(name));
    for folder in [&home, &nowhere] {
        std::fs::create_dir(folder).expect("there is room");
    }
    if succeeds(Command::new("id").arg("-u")).trim() != "0" {
        return spinneret_skip::skip(
            "handlers_in_a_folder_that_cannot_be_written",
            &"it takes root to be somebody else",
        );
    }
    std::os::unix::fs::chown(&home, Some(65534), Some(65534)).expect("root may do so");
    let run = |home: &Path| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
        command.arg(&program).arg("run").arg(&handlers);
        command.args(["--generate", "udp,count=3,size=100"]);
        command
            .env("HOME", home)
            .env_remove("XDG_CACHE_HOME")
            .env_remove("SPIN_CACHE")
            .env("SPINNERET_DATA", folder.path());
        command.output().expect("there is setpriv")
    };
    let output = run(&home);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!handlers.join("build").exists());
    assert!(home.join(".cache/spinneret/handlers").is_dir());
    let output = run(&nowhere);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("or to the cache of this user"), "{said}");
}
