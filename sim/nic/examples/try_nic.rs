#![allow(missing_docs)]
use spinneret_cluster::*;
use spinneret_nic::nic::*;
use spinneret_sim::reference::matcher::MatcherParams;
use spinneret_sim::rules::RuleFile;
use std::path::Path;
use std::time::Instant;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let n: u64 = std::env::args().nth(2).map_or(32, |n| n.parse().unwrap());
    let t0 = Instant::now();
    let name = Path::new(&dir).file_name().unwrap().to_str().unwrap().to_owned();
    let program = Program::open(&Path::new(&dir).join(format!("build/{name}.elf"))).unwrap();
    let params = MatcherParams::BOARD;
    let rules = RuleFile::read(&Path::new(&dir).join("rules.toml"), &params).unwrap();
    let rulesets: Vec<_> = rules.rulesets.iter().map(|r| r.ruleset.clone()).collect();
    let mut config = NicConfig::default();
    if std::env::var_os("NOSKIP").is_some() {
        config.skips = false;
    }
    let mut nic = Nic::new(config).unwrap();
    println!("made {:?}", t0.elapsed());
    let ctx = HandlerContext {
        handlers: program.find(program.only_name().unwrap()).unwrap(),
        memory: [program.free_memory, 0x1000],
        scratchpad: [0x14400, 0x1000],
        host: (0x1_0000_0000, 0x10_0000),
    };
    nic.start(&program, &[ctx], &rulesets).unwrap();
    println!(
        "started {:?} clocks {} alone {} now {} us",
        t0.elapsed(),
        nic.simulated_clocks(),
        nic.cluster_clocks_alone(),
        nic.now_ps() / 1_000_000
    );
    let mut p = vec![0u8; 14 + 20 + 8 + 56];
    p[12] = 8;
    p[14] = 0x45;
    p[17] = 84;
    p[22] = 64;
    p[23] = 1;
    p[34] = 8;
    for (n, b) in p[42..].iter_mut().enumerate() {
        *b = n as u8;
    }
    if name == "udp_ping" {
        p[23] = 17;
        p[36] = 0x24;
        p[37] = 0x72;
        p[39] = 64;
        p[40] = 0;
        p[41] = 0;
    }
    let sum: u32 = p[34..]
        .chunks(2)
        .map(|c| u32::from(c[0]) << 8 | u32::from(c[1]))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    if name == "icmp_ping" {
        p[36] = (sum >> 8) as u8;
        p[37] = sum as u8;
    }
    let t1 = Instant::now();
    let (c0, a0) = (nic.simulated_clocks(), nic.cluster_clocks_alone());
    let mut rtts = vec![];
    for _ in 0..n {
        let s = nic.now_ps();
        nic.receive(p.clone());
        loop {
            if let Some(out) = nic.take_wire() {
                rtts.push((out.at_ps - s) / 1000);
                break;
            }
            if let Some(out) = nic.take_host() {
                println!("host got {:02x?}", out.bytes);
                break;
            }
            nic.step(s + 1_000_000_000).unwrap();
        }
    }
    println!(
        "{n} pings {:?}, clocks {} alone {}; rtt ns first {} last {}",
        t1.elapsed(),
        nic.simulated_clocks() - c0,
        nic.cluster_clocks_alone() - a0,
        rtts[0],
        rtts.last().unwrap()
    );
    for e in nic.take_events().iter().rev().take(4) {
        if let Event::Ran(r) = e {
            println!("{} cycles {:?}", r.ended - r.begun, r.ending);
        } else {
            println!("{e:x?}");
        }
    }
    println!("idle {:?} total {:?}", nic.run_until_idle(u64::MAX), t0.elapsed());
}
