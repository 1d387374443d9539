//! Programs that prepare themselves for long, or never come to take packets.

use crate::handler_errors::run;
use crate::kit::{self, Process, interruptible, json, packets, spinneret, stderr};
use spinneret_cluster::{Cluster, Config};
use spinneret_host::{Device as _, Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Handlers with a table of that many words.
fn with_table(words: usize) -> TempDir {
    kit::handlers(
        "app",
        &format!(
            "volatile uint32_t table[{words}];\n\
         __handler__ void app_ph(handler_args_t *args) {{ ++table[args->hpu_gid]; }}\n"
        ),
    )
}

/// The message about handlers that do not start.
fn refusal(init: &str) -> String {
    let folder = kit::handlers(
        "app",
        &format!(
            "extern volatile uint32_t __spin_state;\n\
         volatile uint32_t word;\n\
         void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **memory) {{ {init} }}\n\
         __handler__ void app_ph(handler_args_t *args) {{ ++word; }}\n"
        ),
    );
    let output = run(&folder, 20, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    stderr(&output)
}

#[test]
fn packets_wait_until_a_large_table_is_clear() {
    let folder = with_table(128 << 10);
    let summary = json(&run(&folder, 5000, &["--json"]));
    assert_eq!(packets(&summary, "done with"), 5000);
}

/// Clocks from reset until all HPUs wait for packets.
fn clocks_to_start(words: usize) -> u64 {
    let folder = with_table(words);
    let elf = spinneret_nic::run::program(folder.path(), 2).expect("it can be built");
    let mut cluster = Cluster::new(Config::default());
    cluster.load(&Program::open(&elf).expect("it was built"));
    cluster.set_fetch(3);
    while !cluster.is_ready() {
        cluster.tick();
    }
    cluster.now()
}

/// By stores of words, 30 clocks each, it would take 3.9 million.
#[test]
fn a_table_of_512_kib_is_clear_after_14_000_clocks() {
    let [small, large] = [64, 128 << 10].map(clocks_to_start);
    println!("ready after {small} clocks, with the table after {large}");
    assert!(large - small <= 14_000, "{small}, {large}");
}

#[test]
fn packets_wait_for_a_slow_clock() {
    let folder = with_table(64);
    for mhz in ["1", "3"] {
        let summary = json(&run(&folder, 3, &["--cluster-mhz", mhz, "--json"]));
        assert_eq!(packets(&summary, "done with"), 3, "{mhz} MHz");
    }
}

#[test]
fn hpus_that_do_not_take_packets_are_reported() {
    let fault = refusal("*(volatile uint32_t *)0x40000000 = 1;");
    assert!(fault.contains("in init_handlers: nothing can run"), "{fault}");
    assert!(fault.contains("its `init_handlers` faulted"), "{fault}");
    for init in [
        "for (;;) { }",
        "while (word == 0) { }",
        "asm volatile(\"wfi\"); for (;;) { rt_time_wait_cycles(1000); }",
    ] {
        let said = refusal(init);
        assert!(said.contains("has not returned after 100ms"), "{init}: {said}");
    }
    let lost = refusal("*(volatile uint32_t *)&__spin_state = 77; for (;;) { }");
    assert!(lost.contains("the runtime left 0x4d in `__spin_state`"), "{lost}");
}

/// Ctrl-C is heard while handlers do not come to take packets, which would take long on a fast clock.
#[test]
fn hpus_that_do_not_take_packets_can_be_interrupted() {
    let folder = kit::handlers(
        "app",
        "void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **memory) { for (;;) { } }\n\
         __handler__ void app_ph(handler_args_t *args) { }\n",
    );
    spinneret_nic::run::program(folder.path(), 2).expect("it can be built");
    let out = folder.path().join("out.pcap");
    let mut command = interruptible();
    command.arg("run").arg(folder.path());
    command.args(["--generate", "udp,count=3", "--cluster-mhz", "1000", "--out"]);
    let run = Process::start(command.arg(&out));
    run.catches();
    std::thread::sleep(Duration::from_millis(500));
    let begun = Instant::now();
    let ended = run.interrupt();
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "it goes on after Ctrl-C"
    );
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(
        ended.said.contains("interrupted before the first packet"),
        "{ended:?}"
    );
    assert!(ended.out.is_empty() && !out.exists());
}

/// Frames that handlers send during start-up leave as others do.
#[test]
fn a_frame_of_an_init_handler_is_sent() {
    let folder = kit::handlers(
        "app",
        "static uint8_t frame[100];\n\
         void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **memory) {\n\
         \x20   spin_cmd_t send;\n\
         \x20   spin_send_packet(frame, sizeof(frame), &send);\n\
         }\n\
         __handler__ void app_ph(handler_args_t *args) { }\n",
    );
    let summary = json(&run(&folder, 2, &["--json"]));
    assert_eq!(packets(&summary, "done with"), 2);
}

/// HPUs that never sleep do not block the run, which ends at its duration.
#[test]
fn looping_handlers_do_not_block_start_up() {
    let folder = kit::handlers(
        "app",
        "__handler__ void app_ph(handler_args_t *args) { for (;;) { } }\n",
    );
    let traffic = ["--generate", "udp,size=98,count=3", "--watchdog", "10000000000"];
    let mut command = spinneret();
    command.arg("run").arg(folder.path()).args(traffic);
    Process::start(command.args(["--duration", "1"])).end();
}

/// Memory holds anything after power-on, and what the program before left in it.
#[test]
fn uninitialized_variables_are_zero_at_each_start() {
    for words in [1, 15, 16, 17, 1023, 1025, 5001] {
        let folder = with_table(words);
        let elf = spinneret_nic::run::program(folder.path(), 2).expect("it can be built");
        let program = Program::open(&elf).expect("it was built");
        let table = program.variables["table"];
        let nic = Nic::new(Simulated::new(NicConfig::default()).expect("it is sound")).expect("it answers");
        let rules = Ruleset::all().rule(Rule::udp_destination_port(9, 9));
        for _ in 0..2 {
            let context = nic.open_context(&program, "app", &rules, &Options::default());
            let context = context.expect("there is room");
            let mut bytes = vec![1; 4 * words];
            let mut device = nic.device();
            device
                .read_cluster(table.address, &mut bytes)
                .expect("it is there");
            assert!(bytes.iter().all(|byte| *byte == 0), "{words} words");
            bytes.fill(0xa5);
            device.write_cluster(table.address, &bytes).expect("it is there");
            drop(device);
            drop(context);
        }
    }
}
