//! Waveforms of a run: of all of it, of a part of the hardware, of some time.

use crate::{ICMP, refusal, run, stderr};
use spinneret_sim::waveform::{signals, times};
use std::path::{Path, PathBuf};

/// Picoseconds of a microsecond.
const US: u64 = 1_000_000;
/// Picoseconds of a clock of the core, within which a window ends.
const CLOCK: u64 = 4000;

/// A run of some pings with that waveform: what it says about it.
fn traced(path: &Path, more: &[&str]) -> String {
    let wave = path.display().to_string();
    let packets = ["--generate", "icmp,count=20,rate=1Gbps", "--wave", &wave];
    let done = run(&[&[ICMP], &packets[..], more].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    stderr(&done)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).expect("it is there").len()
}

#[test]
fn a_part_of_the_hardware_and_a_window_of_time_are_written_alone() {
    let folder = tempfile::tempdir().expect("there is room");
    let [all, part, window, wire] =
        ["all", "part", "window", "wire"].map(|name| -> PathBuf { folder.path().join(name) });
    let told = traced(&all, &[]);
    assert!(told.contains("MB for each simulated millisecond"), "{told}");
    assert!(
        told.contains("--wave-scope, --wave-from and --wave-until"),
        "{told}"
    );
    assert!(told.contains(&format!("{}: ", all.display())), "{told}");
    let of_all = signals(&all).expect("it is whole");
    let (first, end) = times(&all).expect("it is whole");

    let told = traced(&part, &["--wave-scope", "u_ingress"]);
    assert!(!told.contains("simulated millisecond"), "{told}");
    let of_part = signals(&part).expect("it is whole");
    assert!(0 < of_part && of_part < of_all / 2, "{of_part} of {of_all}");
    assert!(size(&part) < size(&all) / 2);

    // Packets come after the handlers are there.
    let (from, until) = ((first + end) / 2 / US, (first + end) / 2 / US + 10);
    let limits = [from, until].map(|time| format!("{time}us"));
    let told = traced(&window, &["--wave-from", &limits[0], "--wave-until", &limits[1]]);
    assert!(told.contains("so at most about 0.6 MB"), "{told}");
    assert_eq!(signals(&window).expect("it is whole"), of_all);
    let (start, last) = times(&window).expect("it is whole");
    assert!(
        from * US <= start && start < last && last < until * US + CLOCK,
        "{start} to {last}"
    );
    assert!(first < start && last < end, "{first} to {end}");

    traced(&wire, &["--wave-scope", "s_axis_if_rx_tvalid"]);
    assert_eq!(signals(&wire).expect("it is whole"), 1);
}

#[test]
fn what_is_not_there_is_refused_and_a_window_behind_the_end_is_told() {
    let folder = tempfile::tempdir().expect("there is room");
    let wave = folder.path().join("w");
    let name = wave.display().to_string();
    let packets = [ICMP, "--generate", "icmp,count=3"];
    let with = |more: &[&str]| refusal(&[&packets[..], &["--wave", &name], more].concat());
    let told = with(&["--wave-scope", "nobody"]);
    assert!(told.contains("no instance or signal of that name"), "{told}");
    let told = with(&["--wave-from", "3us", "--wave-until", "2us"]);
    assert!(told.contains("no time between 3 us and 2 us"), "{told}");
    let told = with(&["--wave-from", "soon"]);
    assert!(
        told.contains("write a number and a unit, such as 500 ns"),
        "{told}"
    );
    let told = refusal(&[&packets[..], &["--wave-scope", "u_ingress"]].concat());
    assert!(told.contains("--wave <FILE>"), "{told}");

    let done = run(&[&packets[..], &["--wave", &name, "--wave-from", "1s"]].concat());
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let told = stderr(&done);
    assert!(told.contains("the run was over before 1000000 us"), "{told}");
    assert!(!wave.exists());
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
