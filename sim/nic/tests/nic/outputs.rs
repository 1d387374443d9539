//! Outputs of a run are complete or missing, and overwrite nothing else.

use crate::kit::{Ended, Process, interruptible, ok, root, spinneret, stderr};
use crate::run::{ICMP, refusal};
use rustix::process::Signal;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Copies of what a run reads, and a name for each output in the same folder.
struct Named {
    folder: tempfile::TempDir,
}

impl Named {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let copy = |from: &str, to: &str| {
            std::fs::copy(root().join(from), folder.path().join(to)).expect("there is room");
        };
        copy("sim/captures/lan.pcap", "in.pcap");
        copy(&format!("{ICMP}/rules.toml"), "rules.toml");
        std::os::unix::fs::symlink(folder.path().join("in.pcap"), folder.path().join("link.pcap"))
            .expect("there is room");
        Self { folder }
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[test]
fn outputs_overwrite_no_inputs_outputs_or_devices() {
    let named = Named::new();
    let (pcap, rules, link) = (named.at("in.pcap"), named.at("rules.toml"), named.at("link.pcap"));
    let before = [&pcap, &rules].map(|file| std::fs::read(file).expect("it is there"));
    for output in ["--out", "--out-host", "--trace", "--wave", "--plot", "--report"] {
        for (input, file) in [("--pcap", &pcap), ("--pcap", &link), ("--rules", &rules)] {
            let told = refusal(&[ICMP, "--rules", &rules, "--pcap", &pcap, output, file]);
            let wanted = format!("{input} and {output} are the same file, {file}");
            assert!(told.contains(&wanted), "{told}");
        }
        let told = refusal(&[ICMP, "--pcap", &pcap, output, "/dev/null"]);
        assert!(
            told.contains(&format!(
                "{output} /dev/null: it exists and is not a regular file"
            )),
            "{told}"
        );
    }
    // Everything that make has read or built.
    for (source, option) in [
        ("runtime/examples/icmp_ping/icmp_ping.c", "a source of HANDLERS"),
        ("runtime/examples/icmp_ping/Makefile", "a source of HANDLERS"),
        ("runtime/examples/icmp_ping/build/icmp_ping.elf", "HANDLERS"),
        ("runtime/include/handler.h", "a source of HANDLERS"),
        ("runtime/spin.mk", "a source of HANDLERS"),
        ("runtime/link.ld", "a source of HANDLERS"),
    ] {
        let told = refusal(&[ICMP, "--pcap", &pcap, "--out", source]);
        let found = told.contains(&format!("{option} and --out are the same file"));
        let other = told.contains(&format!("--out and {option} are the same file"));
        assert!(found || other, "{source}: {told}");
    }
    let told = refusal(&[
        ICMP,
        "--pcap",
        &pcap,
        "--wave",
        &named.at("one"),
        "--trace",
        &named.at("./one"),
    ]);
    assert!(told.contains("--trace and --wave are the same file"), "{told}");
    assert_eq!(
        before,
        [&pcap, &rules].map(|file| std::fs::read(file).expect("it is there"))
    );
    let left: Vec<_> = named.folder.path().read_dir().expect("it is ours").collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// A run of some captured packets with these arguments, by a shell that says this first.
fn run_after(first: &str, arguments: &[&str]) -> Output {
    Command::new("bash")
        .args(["-c", &format!("{first}; exec \"$@\""), "bash"])
        .args([env!("CARGO_BIN_EXE_spinneret"), "run", ICMP])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("there is a shell")
}

/// Files of a folder, and what they hold.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = folder.read_dir().expect("it is ours").flatten();
    let mut files: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().display().to_string();
            (name, std::fs::read(entry.path()).unwrap_or_default())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_failed_waveform_changes_no_files() {
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("w"), "of yesterday").expect("there is room");
    std::fs::write(at("w.hier"), "of somebody else").expect("there is room");
    std::os::unix::fs::symlink(at("w"), at("link")).expect("there is room");
    let before = content(folder.path());
    let packets = ["--generate", "icmp,size=300,count=200,pps=1e6"];
    for name in ["w", "link", "new"] {
        let path = at(name);
        let wave = [&packets[..], &["--wave", &path]].concat();
        // Each limit is reached in another part of the file: once is enough.
        let limits: &[u32] = if name == "w" { &[4, 64, 200] } else { &[64] };
        for kibibytes in limits {
            let full = run_after(&format!("trap '' XFSZ; ulimit -f {kibibytes}"), &wave);
            let told = stderr(&full);
            assert_eq!(full.status.code(), Some(1), "{name} {kibibytes}: {told}");
            assert!(told.contains(&format!("{path} was not written: ")), "{told}");
            assert!(content(folder.path()) == before, "{name} {kibibytes}");
        }
    }
    let told = refusal(&[&[ICMP], &packets[..], &["--wave", &at("none/w")]].concat());
    assert!(told.contains("none/w: there is no such folder"), "{told}");

    let done = run_after(":", &[&packets[..], &["--wave", &at("link")]].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    let names =
        |files: &[(String, Vec<u8>)]| -> Vec<String> { files.iter().map(|file| file.0.clone()).collect() };
    let after = content(folder.path());
    assert_eq!(names(&after), names(&before));
    assert!(Path::new(&at("link")).is_symlink());
    spinneret_sim::waveform::check(Path::new(&at("w"))).expect("it is whole");
    assert_eq!(
        std::fs::read(at("w.hier")).expect("it is there"),
        b"of somebody else"
    );
}

#[test]
fn a_killed_run_keeps_the_old_waveform() {
    let folder = tempfile::tempdir().expect("there is room");
    let wave = folder.path().join("w");
    std::fs::write(&wave, "of yesterday").expect("there is room");
    let wave_name = wave.display().to_string();
    // The run takes more than a second of the processor's time.
    let arguments = ["--generate", "icmp,count=1e6", "--wave", &wave_name];
    let killed = run_after("ulimit -t 1", &arguments);
    assert_eq!(killed.status.code(), None, "{killed:?}");
    assert_eq!(std::fs::read(&wave).expect("it is there"), b"of yesterday");
}

#[test]
fn standard_output_is_no_other_output() {
    let folder = tempfile::tempdir().expect("there is room");
    let both = folder.path().join("both").display().to_string();
    let arguments = ["--generate", "icmp,count=3", "--json", "--out", &both];
    let done = run_after(&format!("exec > {both}"), &arguments);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(
        stderr(&done).contains("standard output and --out are the same file"),
        "{}",
        stderr(&done)
    );
}

/// A run with all outputs in a folder, which gets a signal so long after its start: how it ends.
fn run_until(signal: Signal, after: Duration, folder: &Path, more: &[&str]) -> Ended {
    let mut command = interruptible();
    command
        .args(["run", ICMP, "--generate", "icmp,rate=1Gbps,count=1e6"])
        .args(more);
    for output in ["--out", "--out-host", "--report", "--trace", "--plot"] {
        command.arg(output).arg(folder.join(output));
    }
    let run = Process::start(&mut command);
    std::thread::sleep(after);
    run.signal(signal)
}

#[test]
fn signals_leave_complete_files_or_none() {
    let signals = [Signal::INT, Signal::TERM, Signal::INT, Signal::HUP, Signal::INT];
    for (signal, milliseconds) in signals.into_iter().zip([3, 15, 40, 100, 300]) {
        let after = Duration::from_millis(milliseconds);
        let folder = tempfile::tempdir().expect("there is room");
        let wave = folder.path().join("wave").display().to_string();
        let (more, outputs) = match signal {
            Signal::INT => (&["--wave", &*wave, "--wave-scope", "u_ingress"][..], 6),
            _ => (&[][..], 5),
        };
        let ended = run_until(signal, after, folder.path(), more);
        let left: Vec<String> = content(folder.path()).into_iter().map(|file| file.0).collect();
        let is_right = match ended.code {
            Some(0) => left.len() == outputs,
            // A waveform in which nothing has happened yet is none.
            Some(1) => outputs == 6 && left.len() == 5,
            Some(130) | None => left.is_empty(),
            _ => false,
        };
        assert!(
            is_right && !left.iter().any(|name| name.starts_with('.')),
            "{signal:?} after {after:?}: {:?}, {left:?}: {}",
            ended.code,
            ended.said
        );
    }
    // Files without a name end with the process; this file system may not support them.
    let folder = tempfile::tempdir().expect("there is room");
    run_until(Signal::KILL, Duration::from_millis(300), folder.path(), &[]);
    let left = content(folder.path());
    assert!(left.is_empty() || !has_unnamed(folder.path()), "{left:?}");
}

/// Whether a folder's file system has files without a name.
fn has_unnamed(folder: &Path) -> bool {
    let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::WRONLY;
    rustix::fs::open(folder, flags, rustix::fs::Mode::empty()).is_ok()
}

/// A run whose standard output goes somewhere.
fn run_to(out: impl Into<Stdio>) -> (Option<i32>, String) {
    let mut command = spinneret();
    command.args(["run", ICMP, "--pcap", "sim/captures/lan.pcap", "--json"]);
    let done = ok(command.stdout(out).output());
    (done.status.code(), stderr(&done))
}

#[test]
fn a_closed_pipe_is_no_failure_and_a_full_disk_is_one() {
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let (code, told) = run_to(writer);
    assert_eq!(code, Some(0), "{told}");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("it is there");
    let (code, told) = run_to(full);
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("cannot print the result: No space left on device"),
        "{told}"
    );
    assert!(!told.contains("panicked"), "{told}");
}
