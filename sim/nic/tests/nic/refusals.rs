//! Refusals of commands: all messages are in one snapshot.

use crate::kit::{ok, spinneret, stderr};
use std::fs::{self, File};

/// Command lines. FOLDER has an empty folder, a text file and large files; LONG is a name that is too long for a socket.
const REFUSED: &[&str] = &[
    // Handlers
    "run no/such/folder --generate udp",
    "run /dev/null --generate udp",
    "run FOLDER/empty --generate udp",
    "run FOLDER/text --generate udp --rules RULES",
    "run FOLDER/huge --generate udp --rules RULES",
    "run /proc/self/exe --generate udp --rules RULES",
    "run ICMP --generate udp --handler other",
    "run ICMP/build/icmp_ping.elf --generate udp",
    "run ICMP --generate udp --rules no/such/rules",
    // Hardware
    "run ICMP --generate udp --host-latency 1000001",
    "run ICMP --generate udp --cluster-mhz 0",
    "run ICMP --generate udp --clusters 9",
    "run ICMP --generate udp --cluster asic",
    "run ICMP --generate udp --cluster rtl --hpus 4",
    "run ICMP --generate udp --cluster rtl --clusters 3",
    "run ICMP --generate udp --cluster model:spinneret --strict-pspin",
    "run ICMP --generate udp --cluster rtl --gdb 0",
    // Packets
    "run ICMP",
    "run ICMP --generate udp,sise=64",
    "run ICMP --pcap no/such/capture",
    "run ICMP --attach nosuchinterface",
    "run ICMP --generate udp --duration nan",
    "run ICMP --generate udp --duration -1",
    "run runtime/examples/udp_ping --generate udp --services",
    "run runtime/examples/host_log --generate udp --services=/no/such/folder",
    // Waveforms
    "run ICMP --generate udp --wave FOLDER/w --wave-scope nobody",
    "run ICMP --generate udp --wave FOLDER/w --wave-from 3us --wave-until 2us",
    "run ICMP --generate udp --wave FOLDER/w --wave-from soon",
    "run ICMP --generate udp --wave FOLDER/none/w",
    "run ICMP --generate udp --wave-scope u_ingress",
    // Sockets
    "serve",
    "serve /dev/null",
    "serve FOLDER/text",
    "serve FOLDER/empty",
    "serve FOLDER/text/below",
    "serve /nowhere/nic",
    "serve LONG",
    "serve --pci FOLDER/text",
    "share nic FOLDER/none",
    "share /dev/null FOLDER/none",
    "share /dev/spinneret7 FOLDER/none",
    "share vfio:0000:ff:1f.7 FOLDER/none",
    "share unix:FOLDER/none FOLDER/none",
    "share card FOLDER/none --slots 1,2",
    // Files
    "send FOLDER/nowhere --to 127.0.0.1",
    "send FOLDER/empty --to 127.0.0.1",
    "send FOLDER/huge --to 127.0.0.1",
    "send /dev/zero --to 127.0.0.1",
    "send FOLDER/text --to localhost",
    "send FOLDER/text --to 127.0.0.1 --rate=0",
    "send FOLDER/text --to 127.0.0.1 --give-up=-1",
    "send FOLDER/text --to 127.0.0.1 --segment=0",
    "send FOLDER/text --to 127.0.0.1 --segment=5000",
    "receive FOLDER/nowhere/got --udp 127.0.0.1:0",
    "receive FOLDER/got --udp 127.0.0.1:0 --many",
    "receive FOLDER/empty --udp 127.0.0.1:0",
    "receive FOLDER/got --udp 127.0.0.1:0 --duration -1",
    "receive FOLDER/got --udp 127.0.0.1:0 --idle nan",
    "receive FOLDER/got --udp 127.0.0.1:0 --trace FOLDER/trace.json",
    // Folders for handlers
    "new FOLDER/my-handler",
    "new FOLDER/text",
    "new FOLDER/nowhere/echo",
];

#[test]
fn refused_commands_are_explained_and_leave_no_files() {
    let folder = ok(tempfile::tempdir());
    let at = |name: &str| folder.path().join(name);
    ok(fs::create_dir(at("empty")));
    ok(fs::write(at("text"), "neither a program nor a socket"));
    ok(ok(File::create(at("huge"))).set_len(1 << 40));
    let names = || -> Vec<_> {
        ok(fs::read_dir(folder.path()))
            .map(|entry| ok(entry).file_name())
            .collect()
    };
    let before = names();
    let path = folder.path().display().to_string();
    let said = REFUSED.iter().map(|shown| {
        let line = shown
            .replace("FOLDER", &path)
            .replace("RULES", "ICMP/rules.toml")
            .replace("ICMP", crate::run::ICMP)
            .replace("LONG", &"/long".repeat(30));
        let output = ok(spinneret().args(line.split(' ')).output());
        let all = stderr(&output).replace(&path, "FOLDER");
        assert_eq!(output.status.code(), Some(2), "{shown}: {all}");
        assert!(output.stdout.is_empty(), "{shown}: {output:?}");
        // Handlers that were built for this print their sizes before.
        let message = all.find("error: ").map(|start| &all[start..]);
        let message = message.unwrap_or_else(|| panic!("{shown}: {all}"));
        assert_eq!(names(), before, "{shown}: nothing is left behind");
        format!("{shown}\n{message}")
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}
