//! `--cluster rtl`: spinneret's own clusters as hardware, compared with the model.

use crate::kit::{captured, handlers, json, ok, packets, port, root, spinneret, stderr};
use serde_json::Value;
use spinneret_nic::net::{PcapSink, Sink as _};
use spinneret_packets::udp;
use spinneret_sim::waveform;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// The clusters of the NIC: PsPIN's and ours as models, and ours as hardware.
const CLUSTERS: [&str; 3] = ["model", "model:spinneret", "rtl"];

fn run(clusters: &str, handlers: &Path, arguments: &[&str]) -> Output {
    let mut command = spinneret();
    command.args(["run", "--cluster", clusters]).arg(handlers);
    ok(command.args(arguments).output())
}

/// A capture of these packets, 10 us apart.
fn capture(folder: &TempDir, packets: impl IntoIterator<Item = Vec<u8>>) -> PathBuf {
    let file = folder.path().join("in.pcap");
    let mut sink = Box::new(ok(PcapSink::create(&file)));
    for (number, packet) in (0..).zip(packets) {
        ok(sink.put(number * 10_000_000, &packet));
    }
    ok(sink.finish());
    file
}

/// Frames that left for the wire, in any order: HPUs work at the same time.
fn frames(file: &Path) -> Vec<Vec<u8>> {
    let mut frames: Vec<_> = captured(file).into_iter().map(|packet| packet.data).collect();
    frames.sort();
    frames
}

#[test]
fn replies_equal_those_of_the_model() {
    for (example, name) in [("icmp_ping", "lan"), ("slmp", "slmp")] {
        let folder = ok(tempfile::tempdir());
        let handlers = root().join("runtime/examples").join(example);
        let capture = format!("sim/captures/{name}.pcap");
        let [model, own, rtl] = CLUSTERS.map(|clusters| {
            let outs = ["wire", "host"].map(|name| folder.path().join(format!("{clusters}-{name}")));
            let [wire, host] = outs.each_ref().map(|out| out.display().to_string());
            let arguments = ["--pcap", &capture, "--json", "--out", &wire, "--out-host", &host];
            let summary = json(&run(clusters, &handlers, &arguments));
            assert_eq!(
                summary["unbalanced"],
                serde_json::json!([]),
                "{example}, {clusters}"
            );
            (
                outs.each_ref().map(|out| frames(out)),
                packets(&summary, "done with"),
            )
        });
        assert!(model.1 > 10, "{example}");
        for (clusters, other) in CLUSTERS.into_iter().zip([&model, &own, &rtl]) {
            let (done, wanted) = (other.1, model.1);
            assert!(
                *other == model,
                "{example}, {clusters}: frames differ, or {done} are done, not {wanted}"
            );
        }
    }
}

/// A program that is built for two clusters runs on four.
#[test]
fn more_clusters_run_the_same_program() {
    let source = "#include <packets.h>
        __handler__ void app_ph(handler_args_t *args) {
            task_t *task = args->task;
            uint8_t *packet = task->pkt_mem;
            packet[42] = (uint8_t)rt_cluster_count();
            packet[43] = task->flow_id & 63;
            packet[44] = task->scratchpad[0] != task->scratchpad[1];
            packet[45] = (uint8_t)(args->hpu_gid == args->cluster_id * 8 + args->hpu_id);
            spin_cmd_t send;
            spin_send_packet(packet, task->pkt_mem_size, &send);
            spin_cmd_wait(send);
            for (uint32_t start = cycles(); cycles() - start < 3000;) {
            }
            printf(\"cluster %u\\n\", (unsigned)args->cluster_id);
        }\n";
    let folder = handlers("app", source);
    let elf = ok(spinneret_nic::run::program(folder.path(), 2));
    let rules = folder.path().join("rules.toml").display().to_string();
    // The home cluster of the message is full after twenty packets.
    let [model, rtl] = ["model", "rtl"].map(|which| {
        let wire = folder.path().join(format!("{which}-wire"));
        let out = wire.display().to_string();
        let traffic = "udp,size=98,count=96";
        let arguments = [
            "--clusters",
            "4",
            "--generate",
            traffic,
            "--json",
            "--rules",
            &rules,
            "--out",
            &out,
        ];
        let output = run(which, &elf, &arguments);
        let said = stderr(&output);
        let used = (0..4).filter(|cluster| said.contains(&format!("cluster {cluster}\n")));
        (frames(&wire), used.count())
    });
    assert_eq!(rtl.0.len(), 96);
    assert!(rtl.0 == model.0, "frames differ");
    assert_eq!(rtl.1, 4, "each cluster had packets");
}

/// Packet n is about fault n.
const FAULTS: &str = "
static uint8_t own[64];
__handler__ void app_ph(handler_args_t *args) {
    uint32_t *beyond = (uint32_t *)0x1c100000;
    switch (*((uint8_t *)args->task->pkt_mem + 42)) {
    case 0: *(volatile uint32_t *)0x40000000 = 1; break;
    case 1: spin_send_packet(beyond, 64, NULL); break;
    case 2: spin_dma(beyond, own, 64, 0, 0, NULL); break;
    case 3: spin_dma(own, beyond, 64, 0, 0, NULL); break;
    case 4: spin_dma_from_host(HOST_ADDR(args), 0x1c100000, 64, true, NULL); break;
    case 5: spin_dma_to_host(HOST_ADDR(args), 0x1c100000, 64, true, NULL); break;
    case 6: __builtin_trap(); break;
    case 7: asm volatile(\".word 0xffffffff\"); break;
    case 8: ((void (*)(void))beyond)(); break;
    case 9: spin_send_packet(args->task->pkt_mem, 0, NULL); break;
    case 10: *(volatile uint32_t *)0x1b200000 = 0; break;
    default: for (;;) asm volatile(\"\");
    }
}
";

#[test]
fn faults_are_those_of_the_model_with_their_lines() {
    let folder = handlers("app", &format!("#include <spin_host.h>\n{FAULTS}"));
    let capture = capture(&folder, (0..12).map(|number| udp(7, &[number; 56])));
    let capture = capture.display().to_string();
    let arguments = ["--pcap", &capture, "--json", "--allow-faults"];
    let all = CLUSTERS.map(|clusters| run(clusters, folder.path(), &arguments));
    let said = stderr(&all[2]);
    let [model, own, rtl] = all.map(|output| json(&output));
    // After the end of its program, the model names the instruction that follows.
    let is_end = |kind: &Value| kind["cause"] == "the program terminated itself";
    let kinds = |summary: &Value, of: &str| {
        let all = summary[of].as_array().expect("it is a list").iter();
        let mut kinds: Vec<_> = all
            .filter(|kind| !is_end(kind))
            .map(ToString::to_string)
            .collect();
        kinds.sort();
        kinds
    };
    for of in ["faults", "refusals"] {
        assert_eq!(kinds(&rtl, of), kinds(&model, of));
        assert_eq!(kinds(&own, of), kinds(&model, of));
    }
    for summary in [&rtl, &own, &model] {
        let mut faults = summary["faults"].as_array().into_iter().flatten();
        assert!(faults.any(is_end), "{summary}");
    }
    for line in [
        "app_ph failed on packet 0",
        "store or atomic operation at 0x40000000",
        "0x40000000 = 1; break;",
        "its command or copy writes 0x1c100000",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn output_profile_trace_and_counters_are_reported() {
    let source = "#include <spin_host.h>
        static uint32_t __attribute__((noinline)) sum(const uint8_t *bytes, uint32_t count) {
            uint32_t sum = 0;
            while (count--) sum += *bytes++;
            return sum;
        }
        __handler__ void app_ph(handler_args_t *args) {
            push_counter(&__host_data.counters[0], sum(args->task->pkt_mem, args->task->pkt_mem_size));
            printf(\"%u bytes\\n\", (unsigned)args->task->pkt_mem_size);
        }\n";
    let folder = handlers("app", source);
    // On the model and on the hardware it takes the same path.
    let makefile = folder.path().join("Makefile");
    let include = ok(std::fs::read_to_string(&makefile));
    ok(std::fs::write(&makefile, format!("HPU = pspin\n{include}")));
    let capture = capture(&folder, (0..4).map(|number| udp(7, &[number; 56])));
    let [capture, trace] = [capture, folder.path().join("trace.json")].map(|file| file.display().to_string());
    let [model, own, rtl] = CLUSTERS.map(|clusters| {
        let arguments = ["--pcap", &capture, "--json", "--profile", "--trace", &trace];
        let output = run(clusters, folder.path(), &arguments);
        assert_eq!(
            stderr(&output).matches("98 bytes").count(),
            4,
            "{clusters}: {output:?}"
        );
        let trace: Value = ok(serde_json::from_slice(&ok(std::fs::read(&trace))));
        let events = trace["traceEvents"].as_array().expect("it is a list").iter();
        assert_eq!(
            events.filter(|event| event["name"] == "app_ph").count(),
            4,
            "{clusters}"
        );
        json(&output)
    });
    for other in [&own, &rtl] {
        assert_eq!(other["handler_counters"], model["handler_counters"]);
    }
    let calls = |summary: &Value, name: &str| {
        let functions = summary["profile"]["functions"]
            .as_array()
            .expect("it is a list")
            .iter();
        let found = functions
            .into_iter()
            .find(|function| function["function"] == name)
            .cloned();
        found.unwrap_or_else(|| panic!("{name} is in {}", summary["profile"]))
    };
    for name in ["sum", "app_ph"] {
        for other in [&own, &rtl] {
            let [one, other] = [&model, other].map(|summary| calls(summary, name)["instructions"].clone());
            assert_eq!(one, other, "{name}");
        }
    }
    // Idle time is not simulated.
    let clocks = |name: &str| rtl["time"][name].as_u64().expect("it is a number");
    assert!(clocks("core_clocks") < 20_000, "{}", rtl["time"]);
}

/// With the names of the generated Verilog, whole and in parts.
#[test]
fn a_waveform_has_the_application_and_the_clusters() {
    let folder = ok(tempfile::tempdir());
    let handlers = root().join("runtime/examples/udp_ping");
    let signals = |scope: Option<&str>| {
        let file = folder.path().join("w.fst");
        let name = file.display().to_string();
        let scope = scope.map(|scope| ["--wave-scope", scope]);
        let mut arguments = vec!["--generate", "udp,count=1", "--wave", &name];
        arguments.extend(scope.iter().flatten());
        run("rtl", &handlers, &arguments);
        ok(waveform::check(&file));
        let (first, last) = ok(waveform::times(&file));
        assert!(first < last, "{scope:?}: {first} to {last}");
        ok(waveform::signals(&file))
    };
    let [application, cluster] = ["u_ingress", "cluster.u_clusters_1"].map(|scope| signals(Some(scope)));
    let all = signals(None);
    assert!(
        application > 100 && cluster > 1000 && all > application + cluster,
        "{application}, {cluster} of {all}"
    );
}

/// A program of another process loads handlers and gets their data; NICs with clusters as hardware exchange frames.
#[test]
fn a_served_nic_and_a_fabric_have_such_clusters() {
    use crate::kit::{PATIENCE, Served, contexts, open};
    let server = Served::start(
        &[],
        &[
            "--cluster",
            "rtl",
            "--generate",
            "udp,dport=7000,size=100,rate=1Gbps,count=20",
            "--json",
        ],
    );
    let nic = ok(spinneret_host::Nic::open(&server.name()));
    let context = open(&nic, &contexts(), "count", &port(7000));
    let total = ok(context.variable("total"));
    ok(nic.wait_until("all packets", PATIENCE, || Ok(total.load::<u32>(0)? == 20)));
    assert_eq!(ok(nic.counters()).get("ingress.hers"), Some(20));
    drop((total, context, nic));
    let summary = server.process.interrupt().json();
    assert_eq!(packets(&summary, "done with"), 20);

    let folder = ok(tempfile::tempdir());
    let topology = folder.path().join("pair.toml");
    let handlers = root().join("runtime/examples/icmp_ping");
    let text = format!(
        "[[nic]]\nname = 'a'\ntransmit = 'icmp,size=98,rate=1Gbps,count=20'\nto = 'b'\nafter = '400 us'\n\
         [[nic]]\nname = 'b'\nhandlers = '{}'\n[[cable]]\nbetween = ['a', 'b']\n",
        handlers.display()
    );
    ok(std::fs::write(&topology, text));
    let mut fabric = spinneret();
    fabric.args(["fabric", "--cluster", "rtl", "--json"]);
    let summary = json(&ok(fabric.arg(&topology).output()));
    let handled = &summary["nics"]["1"]["summary"]["handlers"][0]["packets"];
    assert_eq!(*handled, serde_json::json!(20), "{summary}");
}
