//! A token on a ring of many NICs, most of which are idle.

use crate::harness::memory_bytes;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use spinneret_fabric::topology::{Simple, SwitchConfig, Table as Addresses, mac_of};
use spinneret_fabric::{Left, Settings};
use spinneret_nic::Simulated;
use spinneret_nic::fabric::{Hosted, run_programs};
use spinneret_nic::nic::{Nic, NicConfig, NicError};
use spinneret_table::figures;
use std::process::Command;
use std::time::Instant;

/// A token on rings of 1, 10 and many NICs, each in a process of its own, as its memory counts.
pub(super) fn rings(nics: usize) -> Result<Vec<Value>> {
    let headings = [
        "NICs on a ring",
        "made in s",
        "token round in s",
        "memory, MB",
        "MB a NIC",
    ];
    let mut table = figures(headings, &[0]);
    let mut rows = Vec::new();
    for nics in [1, 10, nics] {
        let output = Command::new(std::env::current_exe()?)
            .args(["ring", &nics.to_string()])
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "a ring of {nics} NICs: {errors}");
        let row: Value = serde_json::from_slice(&output.stdout)?;
        let figure = |name: &str| row[name].as_f64().unwrap_or(0.0);
        let memory = figure("memory_bytes") / 1e6;
        table.add_row([
            nics.to_string(),
            format!("{:.2}", figure("made_seconds")),
            format!("{:.3}", figure("round_seconds")),
            format!("{memory:.1}"),
            format!("{:.2}", memory / nics as f64),
        ]);
        rows.push(row);
    }
    println!("{table}");
    Ok(rows)
}

/// Prints the figures of one ring as JSON.
///
/// # Errors
/// If the token does not come to every NIC once.
pub(crate) fn ring(nics: usize) -> Result<()> {
    println!("{}", if nics == 1 { alone()? } else { around(nics)? });
    Ok(())
}

/// A NIC that is alone.
fn alone() -> Result<Value> {
    let begun = Instant::now();
    let _nic = Nic::new(NicConfig::default())?;
    let made = begun.elapsed();
    Ok(json!({
        "nics": 1,
        "made_seconds": made.as_secs_f64(),
        "round_seconds": 0.0,
        "memory_bytes": memory()?,
    }))
}

/// A token goes once round NICs around a switch.
fn around(nics: usize) -> Result<Value> {
    let begun = Instant::now();
    let topology = Simple {
        nics,
        switch: SwitchConfig {
            table: Addresses::Static,
            ..SwitchConfig::default()
        },
        ..Simple::default()
    };
    let topology = topology.topology()?;
    let (made, times) = std::sync::mpsc::channel();
    let programs = (0..nics).map(|number| {
        let made = made.clone();
        let program: Hosted<'_> = Box::new(move |nic: &Simulated| {
            let _ = made.send(Instant::now());
            pass_on(nic, number, nics)
        });
        program
    });
    let settings = Settings {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..Settings::default()
    };
    let report = run_programs(&topology, &NicConfig::default(), settings, programs.collect())?;
    let ended = Instant::now();
    ensure!(
        report.nics.iter().all(|nic| nic.received == 1),
        "the token was not everywhere once"
    );
    let made = times.try_iter().max().context("no NIC was made")?;
    Ok(json!({
        "nics": nics,
        "made_seconds": made.duration_since(begun).as_secs_f64(),
        "round_seconds": ended.duration_since(made).as_secs_f64(),
        "simulated_us": report.time_ps as f64 / 1e6,
        "rounds": report.rounds,
        "memory_bytes": memory()?,
    }))
}

/// The first NIC sends the token, and every other one passes it on when it has it.
fn pass_on(nic: &Simulated, number: usize, nics: usize) -> Result<(), Left> {
    let failed = |error: NicError| Left::Failed(error.to_string());
    while number != 0 && nic.borrow_mut().take_host().is_none() {
        nic.borrow_mut().step(u64::MAX).map_err(failed)?;
    }
    let token = [
        &mac_of((number + 1) % nics)[..],
        &mac_of(number),
        &[0x88, 0xb5],
        &[7; 50],
    ];
    nic.borrow_mut().transmit(token.concat());
    Ok(())
}

/// Most memory that this process ever had, in bytes.
fn memory() -> Result<u64> {
    memory_bytes(std::process::id(), "VmHWM")
}
