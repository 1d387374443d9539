//! `mpi/include/spinneret_rank.h` is what the sources say, and good C and C++ with both MPIs.

use cbindgen::{Builder, Config, DocumentationStyle, Language};
use spinneret_rank::{spinneret_rank_counts, spinneret_rank_options, spinneret_status};
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the order of the header.
const SOURCES: [&str; 3] = ["failure", "rank", "requests"];

const INTRODUCTION: &str = "\
/*
 * What a program of MPI uses a spinneret NIC with for its messages. Made from mpi/c; docs/host/mpi.md explains it.
 *
 * Calls give back what those of spinneret.h do. Those that take an MPI_Comm or an MPI_Datatype take what spinneret_comm() and
 * spinneret_type() make of it.
 */";

/// What needs the user's own `mpi.h`: handles are numbers in some MPIs and pointers in others.
const HANDLES: &str = "\
/* A communicator, as the calls below take it. */
static inline uint64_t spinneret_comm(MPI_Comm comm) {
    uint64_t bytes = 0;
    memcpy(&bytes, &comm, sizeof comm);
    return bytes;
}

/* A datatype, as the calls below take it. */
static inline uint64_t spinneret_type(MPI_Datatype type) {
    uint64_t bytes = 0;
    memcpy(&bytes, &type, sizeof type);
    return bytes;
}
";

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> PathBuf {
    folder().join("../include/spinneret_rank.h")
}

/// What the header should be.
fn made() -> String {
    let config = Config {
        language: Language::C,
        cpp_compat: true,
        header: Some(INTRODUCTION.to_owned()),
        include_guard: Some("SPINNERET_RANK_H".to_owned()),
        no_includes: true,
        sys_includes: ["mpi.h", "stddef.h", "stdint.h", "string.h"]
            .map(str::to_owned)
            .to_vec(),
        includes: vec!["spinneret.h".to_owned()],
        after_includes: Some(format!("\n{HANDLES}")),
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::Doxy,
        line_length: 112,
        tab_width: 4,
        ..Config::default()
    };
    let builder = SOURCES
        .iter()
        .fold(Builder::new().with_config(config), |builder, source| {
            builder.with_src(folder().join(format!("src/{source}.rs")))
        });
    let made = builder.generate().expect("the compiler has taken the sources");
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).expect("the sources are UTF-8");
    // Comments are Markdown, of which C knows nothing; what callers promise follows what the call does.
    text.replace('`', "")
        .replace(" *\n * # Safety\n", "")
        .replace("type_", "type")
}

#[test]
fn the_header_is_up_to_date() {
    let wanted = made();
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(header(), &wanted).expect("it can be written");
    }
    let found = std::fs::read_to_string(header()).unwrap_or_default();
    assert!(
        found == wanted,
        "mpi/include/spinneret_rank.h differs from mpi/c: run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-mpi-c --test rank_header`"
    );
}

/// cbindgen leaves out what it does not know, and says so to nobody.
#[test]
fn no_call_is_left_out() {
    let header = made();
    let sources = SOURCES.map(|source| {
        std::fs::read_to_string(folder().join(format!("src/{source}.rs"))).expect("it is a source file")
    });
    let sources = sources.concat();
    let calls: Vec<&str> = sources.split("#[unsafe(no_mangle)]").skip(1).collect();
    assert!(calls.len() > 10, "{} calls", calls.len());
    for call in calls {
        let (_, named) = call.split_once("fn ").expect("calls are marked");
        let (name, _) = named.split_once('(').expect("calls have arguments");
        assert!(
            header.contains(&format!("int {name}(")),
            "{name} is not in the header"
        );
    }
}

/// A program that does not compile if structures are not as large, or functions not there, as the header says.
#[test]
fn the_header_compiles_as_c_and_cpp_with_both_mpis() {
    let source = format!(
        "#include <spinneret_rank.h>\n\
         #ifdef __cplusplus\n#define _Static_assert static_assert\n#endif\n\
         _Static_assert(sizeof(spinneret_status) == {}, \"status\");\n\
         _Static_assert(sizeof(spinneret_rank_options) == {}, \"options\");\n\
         _Static_assert(sizeof(spinneret_rank_counts) == {}, \"counts\");\n\
         int main(void) {{ return spinneret_type(MPI_INT) == spinneret_comm(MPI_COMM_WORLD); }}\n",
        size_of::<spinneret_status>(),
        size_of::<spinneret_rank_options>(),
        size_of::<spinneret_rank_counts>(),
    );
    let build = tempfile::tempdir().expect("there is room");
    // Not the file of the project, which another test may be writing.
    std::fs::write(build.path().join("spinneret_rank.h"), made()).expect("there is room");
    for (compiler, name, standard) in [
        ("mpicc.openmpi", "uses.c", "-std=c11"),
        ("mpicc.mpich", "uses.c", "-std=c11"),
        ("mpicxx.openmpi", "uses.cpp", "-std=c++11"),
        ("mpicxx.mpich", "uses.cpp", "-std=c++11"),
    ] {
        let path = build.path().join(name);
        std::fs::write(&path, &source).expect("there is room");
        let checked = Command::new(compiler)
            // The old bindings for C++ of both MPIs have warnings of their own.
            .args([standard, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"])
            .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .args([build.path(), Path::new("-I")])
            .args([&folder().join("../../host/include"), &path])
            .output()
            .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
        assert!(
            checked.status.success(),
            "{compiler}: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}
