//! Two ranks of MPI, each with its own NIC, whose handlers send each other messages. `SPINNERET_RPC_MESSAGES` makes it more of them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Messages of each run: a tenth of those that are asked for if they are long, because each takes as long as a thousand others.
fn messages(variant: &str, usual: u32) -> String {
    let asked = std::env::var("SPINNERET_RPC_MESSAGES");
    let asked = asked.map_or(usual, |asked| {
        asked.parse().expect("SPINNERET_RPC_MESSAGES is a number")
    });
    match variant {
        "long" if asked > usual => asked.div_ceil(10).to_string(),
        _ => asked.to_string(),
    }
}

/// Runs both ranks under an MPI, if it is there, and gives what they say, rank 0 first.
fn ranks(name: &str, variant: &str, messages: &str, more: &[&str]) -> Option<[Value; 2]> {
    let launcher = format!("mpirun.{name}");
    if Command::new(&launcher).arg("--version").output().is_err() {
        spinneret_skip::skip(module_path!(), &format!("{launcher} is not installed"));
        return None;
    }
    let mut command = Command::new("timeout");
    command.args(["900", &launcher]);
    if name == "openmpi" {
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
    }
    command.args([
        "-n",
        "2",
        env!("CARGO_BIN_EXE_spinneret-bench"),
        "calls",
        "--variant",
        variant,
        "--messages",
        messages,
    ]);
    let output = command
        .args(more)
        .env(
            "XDG_CACHE_HOME",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        )
        .env("SPINNERET_MPICC", format!("mpicc.{name}"))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .stdin(Stdio::null())
        .output();
    let output = output.expect("timeout is installed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{variant} under {name}: {said}{errors}");
    let mut reports: Vec<Value> = said
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    reports.sort_by_key(|report| report["rank"].as_u64());
    Some(reports.try_into().unwrap_or_else(|_| panic!("{said}{errors}")))
}

/// Asserts that no handler of both ranks found an error, and that the given number died.
fn all_right(name: &str, variant: &str, usual: u32, packets: impl Fn(u64) -> [u64; 2]) {
    let messages = messages(variant, usual);
    let Some(reports) = ranks(name, variant, &messages, &[]) else {
        return;
    };
    let [right, dead] = packets(messages.parse().expect("it is a number"));
    for report in reports {
        let found = ["right", "wrong", "dead"].map(|field| report[field].as_u64());
        assert_eq!(
            found,
            [right, 0, dead].map(Some),
            "{variant} under {name}: {report}"
        );
    }
}

/// A variant under one MPI, or under both if more messages are asked for than usual.
fn under(name: &str, variant: &str, usual: u32, packets: impl Fn(u64) -> [u64; 2]) {
    let names: &[&str] = match std::env::var_os("SPINNERET_RPC_MESSAGES") {
        Some(_) => &["openmpi", "mpich"],
        None => &[name],
    };
    for name in names {
        all_right(name, variant, usual, &packets);
    }
}

#[test]
fn messages_go_from_handler_to_handler() {
    for name in ["openmpi", "mpich"] {
        all_right(name, "plain", 200, |messages| [messages, 0]);
    }
}

#[test]
fn they_may_be_asked_for_in_another_order_and_go_both_ways_at_once() {
    under("openmpi", "shuffled", 64, |messages| [messages, 0]);
    under("mpich", "both-ways", 64, |messages| [messages, 0]);
    under("openmpi", "synchronous", 64, |messages| [messages, 0]);
}

#[test]
fn long_messages_go_by_host_memory() {
    under("openmpi", "long", 24, |messages| [messages, 0]);
}

#[test]
fn a_long_message_takes_at_most_three_tenths_more_than_its_copy() {
    // With MPICH, and with one at a time, no send waits for the other rank.
    let Some([sender, receiver]) = ranks("mpich", "timed", "6", &["--window", "1"]) else {
        return;
    };
    assert_eq!(
        (&sender["right"], &receiver["right"]),
        (&6.into(), &48.into()),
        "{sender}{receiver}"
    );
    let clocks = ["least_clocks", "least_copy_clocks"].map(|field| sender[field].as_u64().unwrap_or(0));
    let [call, copy] = clocks;
    println!("64 KiB: {copy} clocks for the copy alone, {call} for MPI_Send");
    assert!(
        copy > 0 && 10 * call <= 13 * copy,
        "{call} clocks for a message whose copy takes {copy}"
    );
}

#[test]
fn handlers_that_die_or_are_wrong_harm_themselves_alone() {
    under("openmpi", "faults", 64, |messages| {
        [messages, (messages + 42) / 50]
    });
    under("mpich", "wrong", 64, |messages| {
        [messages + (messages + 2) / 10, 0]
    });
}

#[test]
fn requests_are_tested_and_ranks_do_things_together() {
    under("openmpi", "requests", 32, |messages| [messages, 0]);
    for name in ["openmpi", "mpich"] {
        all_right(name, "together", 8, |messages| [messages, 0]);
    }
}

#[test]
fn handlers_call_mpi_under_its_own_names() {
    for name in ["openmpi", "mpich"] {
        all_right(name, "named", 64, |messages| [messages, 0]);
        all_right(name, "named-together", 6, |messages| [messages, 0]);
    }
    under("mpich", "named-requests", 32, |messages| [messages, 0]);
}

/// The same source compiles for the host.
#[test]
fn their_source_compiles_with_the_mpi_of_the_host() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    for compiler in ["mpicc.openmpi", "mpicc.mpich"] {
        let mut command = Command::new(compiler);
        command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]);
        command.arg(runtime.join("include"));
        match command.arg(runtime.join("tests/mpi_calls/named.c")).output() {
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{compiler}: {errors}");
            }
            Err(_) => spinneret_skip::skip(module_path!(), &format!("{compiler} is not installed")),
        }
    }
}
