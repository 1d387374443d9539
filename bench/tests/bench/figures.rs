//! Figures as programs and people read them.

use serde_json::Value;
use spinneret_bench::experiments::{Mode, Protocol, RoundTrip, figure7_csv, read_figure7};
use std::path::Path;
use std::process::{Command, Output};

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spinneret-bench"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program was built")
}

#[test]
fn tables_round_trip() {
    let trips = [
        (Protocol::Icmp, Mode::HostSpin, 16),
        (Protocol::Icmp, Mode::SpinSum, 16),
        (Protocol::Udp, Mode::Host, 1400),
    ];
    let trips = trips.map(|(protocol, mode, payload)| RoundTrip {
        protocol,
        mode,
        payload,
        simulated: 10.736,
        client: 7.5,
        host: 0.25,
        total: [18.486, 17.0, 19.25],
    });
    let csv = figure7_csv(&trips);
    assert_eq!(read_figure7(&csv), Ok(trips.to_vec()));
    assert_eq!(read_figure7(&csv.replace("1400", "many")), Err(4));
    assert_eq!(read_figure7("protocol\n"), Err(1));
    assert_eq!(read_figure7(""), Err(1));
}

/// Files are as long as a window at least, so the shortest has two of them.
#[test]
fn figure_8_repeats_transfers_until_enough_succeeded() {
    let folder = tempfile::tempdir().expect("there is room");
    let arguments = ["experiments", "figure8", "--largest", "10000", "--out", "."];
    let output = bench(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let table = std::fs::read_to_string(folder.path().join("figure8.csv")).expect("the table was written");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let settings: Vec<&[&str]> = rows.iter().skip(1).map(|row| &row[..5]).collect();
    let expected = [
        ["1", "10000", "1", "false", "20"],
        ["4", "10000", "1", "false", "20"],
        ["1", "10000", "1", "true", "6"],
        ["4", "10000", "1", "true", "6"],
    ];
    assert_eq!(settings, expected);
    for row in &rows[1..] {
        let gbps: Vec<f64> = row[5..8].iter().filter_map(|cell| cell.parse().ok()).collect();
        let [median, low, high] = gbps[..] else {
            panic!("{row:?}");
        };
        assert!(0.1 < low && low < median && median < high, "{row:?}");
    }
    // Its points are not used again, and the picture can be drawn from the table alone.
    assert!(!folder.path().join("target/experiments/figure8.json").exists());
    let before = std::fs::read(folder.path().join("figure8.svg")).expect("the picture was drawn");
    assert!(
        bench(folder.path(), &[&arguments[..], &["--redraw"]].concat())
            .status
            .success()
    );
    assert_eq!(
        std::fs::read(folder.path().join("figure8.svg")).ok(),
        Some(before)
    );
}

#[test]
fn a_missed_bar_sets_the_exit_code_and_figures_are_written() {
    let folder = tempfile::tempdir().expect("there is room");
    // A single call costs more than one of many, so it misses the bar of words on the NIC.
    let output = bench(folder.path(), &["rpc", "--only", "noop", "--calls", "1"]);
    let (printed, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(1), "{printed}{errors}");
    assert!(errors.contains(" of 5 bars are missed"), "{errors}");
    assert!(printed.contains("figures: target/bench/rpc.json"), "{printed}");
    let path = folder.path().join("target/bench/rpc.json");
    let text = std::fs::read_to_string(path).expect("figures were written");
    let figures: Value = serde_json::from_str(&text).expect("figures are JSON");
    let rows = figures["simulated"].as_array().expect("there are rows");
    assert_eq!(rows[0]["row"]["call"], "Noop", "{figures}");
    assert_eq!(rows[0]["kept"], false, "{figures}");
    assert_eq!(figures["message"], Value::Null);
}

#[test]
fn a_baseline_is_measured_in_turn_and_compared() {
    let folder = tempfile::tempdir().expect("there is room");
    let arguments = ["nic", "--runs", "2", "--clocks", "200", "--baseline"];
    let baseline = env!("CARGO_BIN_EXE_spinneret-bench");
    let output = bench(folder.path(), &[&arguments[..], &[baseline]].concat());
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(folder.path().join("target/bench/nic.json"));
    let figures: Value =
        serde_json::from_str(&text.expect("figures were written")).expect("figures are JSON");
    assert_eq!(figures["baseline"], baseline);
    for name in ["64 bytes", "512 bytes", "1500 bytes", "60 to 1500 bytes"] {
        let speed = &figures["speed"][name];
        let ratios = speed["ratios"].as_array().expect("ratios of both rounds");
        let ratio = speed["ratio"].as_f64().expect("the median");
        // Two runs of 200 clocks may differ much, but not by this factor.
        assert!(
            ratios.len() == 2 && (0.02..50.0).contains(&ratio),
            "{name}: {speed}"
        );
        assert_eq!(
            speed["baseline_runs"].as_array().map(Vec::len),
            Some(2),
            "{name}: {speed}"
        );
    }
}

#[test]
fn every_bench_has_help() {
    let help = |of: &str| {
        let output = bench(Path::new("."), &[of, "--help"]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = bench(Path::new("."), &["--help"]);
    for name in ["nic", "laptop", "fabric", "pci", "serve", "mpi", "rpc"] {
        assert!(String::from_utf8_lossy(&all.stdout).contains(&format!("\n  {name} ")));
        assert!(help(name).contains("--json <FILE>"), "{name}");
    }
    assert!(help("experiments").contains("--points <FILE>"));
    assert!(help("calls").contains("--variant <VARIANT>"));
}

#[test]
fn wrong_use_is_reported_and_writes_nothing() {
    let folder = tempfile::tempdir().expect("there is room");
    let cases: [(&[&str], i32, &str); 6] = [
        (&["nothing"], 2, "unrecognized subcommand 'nothing'"),
        (&["nic", "--runs", "0"], 2, "--runs"),
        (
            &["nic", "--baseline", "./nowhere"],
            1,
            "error: cannot run ./nowhere: No such file or directory",
        ),
        (
            &["nic", "--baseline", "/bin/true"],
            1,
            "error: /bin/true wrote no speeds: it must be a build of spinneret-bench",
        ),
        (
            &["rpc", "--only", "nothing"],
            1,
            "error: no call has `nothing` in its name",
        ),
        (
            &["serve", "--spinneret", "nowhere"],
            1,
            "error: no such file: nowhere; `cargo build --workspace --bins` makes it",
        ),
    ];
    for (arguments, code, words) in cases {
        let output = bench(folder.path(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
    }
    let left = std::fs::read_dir(folder.path()).expect("it is there");
    assert_eq!(left.count(), 0);
}
