//! iperf3 over a pair of virtual interfaces: the throughput of this machine's network stack, the baseline of Figure 8.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use spinneret_table::bench::Spread;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs of a protocol, each of a second.
const RUNS: usize = 20;
/// The namespace of the server, and the first part of the names of both interfaces.
const NAME: &str = "spinfig8";
/// Addresses of the client and the server.
const CLIENT: &str = "10.98.0.1";
const SERVER: &str = "10.98.0.2";
/// Payload of a datagram, for frames of 1,514 bytes.
const DATAGRAM: &str = "1472";
/// Longest that the server takes to listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// Throughput of a protocol in Gb/s at the receiver.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    pub(super) protocol: &'static str,
    pub(super) gbps: Spread,
}

/// UDP as fast as the client sends, and TCP.
///
/// # Errors
/// If this process may not make interfaces, or iperf3 is missing or fails.
pub(super) fn measure() -> Result<Vec<Baseline>> {
    let cable = Cable::open()?;
    let all = [("UDP", &["-u", "-b", "0", "-l", DATAGRAM][..]), ("TCP", &[])];
    let measured = all.map(|(protocol, options)| {
        let gbps: Spread = (0..RUNS).map(|_| cable.run(options)).collect::<Result<_>>()?;
        eprintln!("iperf3, {protocol}: {:.2} Gb/s", gbps.median());
        Ok(Baseline { protocol, gbps })
    });
    measured.into_iter().collect()
}

/// Two interfaces, one of them in a namespace with a server.
#[derive(Debug)]
struct Cable {
    server: Option<Child>,
}

impl Cable {
    fn open() -> Result<Self> {
        let (near, far) = (format!("{NAME}-a"), format!("{NAME}-b"));
        ip(&format!("netns add {NAME}")).with_context(|| {
            format!(
                "another run measures, or was killed: then `ip netns delete {NAME}` removes its namespace"
            )
        })?;
        let mut cable = Self { server: None };
        ip(&format!("link add {near} type veth peer name {far} netns {NAME}"))?;
        ip(&format!("addr add {CLIENT}/30 dev {near}"))?;
        ip(&format!("-n {NAME} addr add {SERVER}/30 dev {far}"))?;
        ip(&format!("link set {near} up"))?;
        ip(&format!("-n {NAME} link set {far} up"))?;
        let mut server = Command::new("ip");
        server.args(["netns", "exec", NAME, "iperf3", "-s", "-B", SERVER]);
        let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        cable.server = Some(server.context("iperf3 cannot be started: install it")?);
        Ok(cable)
    }

    /// Gb/s that arrive in a second. The first run waits until the server listens.
    fn run(&self, options: &[&str]) -> Result<f64> {
        let begun = Instant::now();
        loop {
            let mut client = Command::new("iperf3");
            client.args(["-c", SERVER, "-t", "1", "-J"]).args(options);
            let output = client.output().context("iperf3 cannot be started: install it")?;
            let report: Value = serde_json::from_slice(&output.stdout).context("the report of iperf3")?;
            match report["end"]["sum_received"]["bits_per_second"].as_f64() {
                Some(rate) if output.status.success() => return Ok(rate / 1e9),
                _ if begun.elapsed() < PATIENCE => sleep(Duration::from_millis(100)),
                _ => bail!("iperf3 fails: {}", report["error"]),
            }
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // Ignore errors: it may have ended.
            let _ = server.kill();
            let _ = server.wait();
        }
        // The interfaces end with their namespace. Ignore errors: it may have been removed.
        let _ = ip(&format!("netns delete {NAME}"));
    }
}

fn ip(arguments: &str) -> Result<()> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.context("`ip` cannot be started: install iproute2")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`ip {arguments}`: {}", error.trim());
    Ok(())
}
