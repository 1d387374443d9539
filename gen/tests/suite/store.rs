//! Directories of generated files.

use spinneret_gen::render::{File, HASH_HEADER, HEADER};
use spinneret_gen::store::{Difference, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

/// The list of what was written.
const LIST: &str = ".gen-verilog";

fn file(name: &str, body: &str) -> File {
    File {
        name: name.to_owned(),
        text: format!("{HEADER}\n{body}\n"),
    }
}

fn store(directory: &Path) -> Store {
    Store::new(directory.to_owned(), "shown".to_owned())
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != LIST)
        .collect();
    names.sort();
    names
}

#[test]
fn writes_what_is_missing_or_differs_and_removes_what_is_stale() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("a/b");
    let store = store(&directory);
    store
        .write(&[file("same.sv", "1"), file("old.sv", "1"), file("changed.sv", "1")])
        .unwrap();
    fs::write(directory.join("notes.sv"), "// mine\n").unwrap();
    fs::write(directory.join("notes.txt"), format!("{HEADER}\n")).unwrap();

    let wanted = [file("same.sv", "1"), file("changed.sv", "2"), file("new.sv", "1")];
    let mut expected = BTreeMap::from([
        (LIST.to_owned(), Difference::Differs),
        ("changed.sv".to_owned(), Difference::Differs),
        ("new.sv".to_owned(), Difference::Missing),
        ("old.sv".to_owned(), Difference::Stale),
    ]);
    assert_eq!(store.compare(&wanted).unwrap(), expected);
    expected.remove(LIST);
    assert_eq!(store.write(&wanted).unwrap(), expected);
    assert_eq!(
        names(&directory),
        ["changed.sv", "new.sv", "notes.sv", "notes.txt", "same.sv"]
    );
    assert_eq!(
        fs::read_to_string(directory.join("changed.sv")).unwrap(),
        wanted[1].text
    );
    assert_eq!(store.compare(&wanted).unwrap(), BTreeMap::new());
}

#[test]
fn files_that_do_not_change_are_not_touched() {
    let scratch = tempfile::tempdir().unwrap();
    let store = store(scratch.path());
    store.write(&[file("a.sv", "1")]).unwrap();
    let before = fs::metadata(scratch.path().join("a.sv"))
        .unwrap()
        .modified()
        .unwrap();
    store.write(&[file("a.sv", "1"), file("b.sv", "1")]).unwrap();
    assert_eq!(
        fs::metadata(scratch.path().join("a.sv"))
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
}

#[cfg(unix)]
#[test]
fn written_files_can_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = tempfile::tempdir().unwrap();
    store(scratch.path()).write(&[file("a.sv", "1")]).unwrap();
    let plain = scratch.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&scratch.path().join("a.sv")), mode(&plain));
}

#[test]
fn foreign_file_is_kept_and_nothing_is_written() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("b.sv"), "module b; endmodule\n").unwrap();
    let store = store(scratch.path());
    let wanted = [file("a.sv", "1"), file("b.sv", "1")];
    let message = "shown/b.sv is in the way and was not written by gen-verilog: \
                   move it away or choose another `--out`";
    assert_eq!(store.write(&wanted).unwrap_err().to_string(), message);
    assert_eq!(store.compare(&wanted).unwrap_err().to_string(), message);
    assert_eq!(names(scratch.path()), ["b.sv"]);
}

#[test]
fn folder_with_the_name_of_a_file_is_foreign() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("b.sv")).unwrap();
    let error = store(scratch.path())
        .write(&[file("a.sv", "1"), file("b.sv", "1")])
        .unwrap_err();
    assert!(
        error.to_string().starts_with("shown/b.sv is in the way "),
        "{error}"
    );
    assert_eq!(names(scratch.path()), ["b.sv"]);
}

#[cfg(unix)]
#[test]
fn does_not_block_on_a_pipe() {
    let scratch = tempfile::tempdir().unwrap();
    let made = Command::new("mkfifo")
        .arg(scratch.path().join("pipe.sv"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    store(scratch.path()).write(&[file("a.sv", "1")]).unwrap();
    assert_eq!(names(scratch.path()), ["a.sv", "pipe.sv"]);
}

#[test]
fn impossible_directory_leaves_no_files() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("file"), "").unwrap();
    let error = store(&scratch.path().join("file/sub/folder"))
        .write(&[file("a.sv", "1")])
        .unwrap_err();
    assert!(error.to_string().starts_with("cannot "), "{error}");
    assert_eq!(names(scratch.path()), ["file"]);
}

#[test]
fn folders_are_made_with_their_files_and_go_when_writing_fails() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("out");
    let store = store(&directory);
    store
        .write(&[file("rtl/a.sv", "1"), file("deep/er/b.sv", "1")])
        .unwrap();
    assert_eq!(names(&directory), ["deep", "rtl"]);
    assert!(directory.join("deep/er/b.sv").is_file());
    // A file is where a folder could be, then where one has to be.
    fs::write(directory.join("fpga"), "").unwrap();
    store
        .write(&[file("rtl/a.sv", "1"), file("deep/er/b.sv", "1")])
        .unwrap();
    let error = store
        .write(&[
            file("rtl/a.sv", "2"),
            file("new/c.sv", "1"),
            file("fpga/d.sv", "1"),
        ])
        .unwrap_err();
    assert!(error.to_string().starts_with("cannot "), "{error}");
    assert_eq!(names(&directory), ["deep", "fpga", "rtl"]);
    assert_eq!(
        fs::read_to_string(directory.join("rtl/a.sv")).unwrap(),
        file("", "1").text
    );
}

#[test]
fn finds_header_after_the_first_line() {
    let scratch = tempfile::tempdir().unwrap();
    let store = store(scratch.path());
    let with = |body: &str| File {
        name: "x.core".to_owned(),
        text: format!("CAPI=2:\n{HASH_HEADER}\n{body}\n"),
    };
    store.write(&[with("1")]).unwrap();
    assert_eq!(store.write(&[with("2")]).unwrap().len(), 1);
    assert_eq!(
        store.compare(&[]).unwrap(),
        BTreeMap::from([
            (LIST.to_owned(), Difference::Differs),
            ("x.core".to_owned(), Difference::Stale)
        ])
    );
}

#[test]
fn copies_of_generated_files_are_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let store = store(scratch.path());
    let wanted = [file("a.sv", "1"), file("rtl/b.sv", "1")];
    store.write(&wanted).unwrap();
    for copy in ["mine.sv", "rtl/mine.sv", "Makefile", "filelist.f"] {
        fs::write(scratch.path().join(copy), format!("{HEADER}\n// edited\n")).unwrap();
    }
    assert_eq!(store.write(&wanted).unwrap(), BTreeMap::new());
    assert_eq!(
        names(scratch.path()),
        ["Makefile", "a.sv", "filelist.f", "mine.sv", "rtl"]
    );
    assert_eq!(names(&scratch.path().join("rtl")), ["b.sv", "mine.sv"]);
}

#[test]
fn modified_list_cannot_escape_the_directory() {
    let scratch = tempfile::tempdir().unwrap();
    let outside = scratch.path().join("outside.sv");
    fs::write(&outside, format!("{HEADER}\n")).unwrap();
    let directory = scratch.path().join("out");
    let store = store(&directory);
    let wanted = [file("a.sv", "1")];
    store.write(&wanted).unwrap();
    for name in [
        "../outside.sv",
        outside.to_str().unwrap(),
        "rtl/../../outside.sv",
        "",
        ".",
        ".//a.sv",
        LIST,
    ] {
        fs::write(directory.join(LIST), format!("{HASH_HEADER}\n{name}\n")).unwrap();
        let list_alone = BTreeMap::from([(LIST.to_owned(), Difference::Differs)]);
        assert_eq!(store.compare(&wanted).unwrap(), list_alone, "{name}");
        assert_eq!(store.write(&wanted).unwrap(), BTreeMap::new(), "{name}");
        assert!(outside.exists() && directory.join("a.sv").exists(), "{name}");
    }
    let mut broken = format!("{HASH_HEADER}\n").into_bytes();
    broken.extend([0xff; 3000]);
    fs::write(directory.join(LIST), broken).unwrap();
    store.write(&wanted).unwrap();
    fs::remove_file(directory.join(LIST)).unwrap();
    assert_eq!(store.compare(&wanted).unwrap()[LIST], Difference::Missing);
    store.write(&wanted).unwrap();
    assert!(store.compare(&wanted).unwrap().is_empty());
    // A user's file of that name stays.
    fs::write(directory.join(LIST), "mine\n").unwrap();
    let error = store.write(&[file("a.sv", "2")]).unwrap_err();
    assert!(
        error.to_string().contains(".gen-verilog is in the way"),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(directory.join("a.sv")).unwrap(),
        file("", "1").text
    );
}

#[test]
fn removes_only_leftovers_of_killed_runs() {
    let scratch = tempfile::tempdir().unwrap();
    let store = store(scratch.path());
    let wanted = [file("a.sv", "1"), file("rtl/b.sv", "1")];
    store.write(&wanted).unwrap();
    for left in [
        ".gen-verilog-Ab3dEf",
        "rtl/.gen-verilog-x",
        ".gen-verilogs",
        ".hidden",
    ] {
        fs::write(scratch.path().join(left), "half").unwrap();
    }
    store.write(&wanted).unwrap();
    assert_eq!(names(scratch.path()), [".gen-verilogs", ".hidden", "a.sv", "rtl"]);
    assert_eq!(names(&scratch.path().join("rtl")), ["b.sv"]);
}

/// Files of 2 GB, of which nothing is kept on disk: reading them whole would be noticed.
#[test]
fn large_files_are_not_read() {
    let scratch = tempfile::tempdir().unwrap();
    let store = store(scratch.path());
    for (name, header) in [("foreign.sv", ""), ("own.sv", HEADER)] {
        let large = fs::File::create(scratch.path().join(name)).unwrap();
        fs::write(scratch.path().join(name), header).unwrap();
        large.set_len(1 << 40).unwrap();
    }
    let error = store.compare(&[file("foreign.sv", "1")]).unwrap_err();
    assert!(
        error.to_string().contains("was not written by gen-verilog"),
        "{error}"
    );
    let differs = store.compare(&[file("own.sv", "1")]).unwrap();
    assert_eq!(differs["own.sv"], Difference::Differs);
    store.write(&[file("own.sv", "1")]).unwrap();
    assert_eq!(
        fs::read_to_string(scratch.path().join("own.sv")).unwrap(),
        file("", "1").text
    );
}

#[test]
fn concurrent_runs_do_not_interfere() {
    let scratch = tempfile::tempdir().unwrap();
    let set = |body: usize| (0..40).map(move |number| file(&format!("{number}.sv"), &body.to_string()));
    let sets: Vec<Vec<File>> = (0..4).map(|body| set(body).collect()).collect();
    std::thread::scope(|scope| {
        for wanted in &sets {
            scope.spawn(|| {
                for _ in 0..5 {
                    store(scratch.path()).write(wanted).unwrap();
                }
            });
        }
    });
    let is_whole = |wanted: &&Vec<File>| store(scratch.path()).compare(wanted).unwrap().is_empty();
    assert_eq!(sets.iter().filter(is_whole).count(), 1);
    assert_eq!(names(scratch.path()).len(), 40);
}
