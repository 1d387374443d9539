//! What is refused before anything starts.

use crate::support::{Folder, fabric, run};

const PAIR: &str = "[[nic]]\nname = 'a'\nMORE\n[[nic]]\nname = 'b'\n[[cable]]\nbetween = ['a', 'b']\n";

#[test]
fn a_topology_that_cannot_be_is_refused_with_its_line() {
    for (more, said) in [
        ("application = true", "--sockets does not say"),
        (
            "transmit = 'udp,size=9999999'",
            "a: transmit = \"udp,size=9999999\"",
        ),
        (
            "transmit = 'udp'\nto = 'c'",
            "topology.toml:4: there is no NIC `c`",
        ),
        ("handlers = 'nowhere'", "nowhere"),
        (
            "when-gone = 'explode'",
            "topology.toml:3: unknown variant `explode`",
        ),
        (
            "[[cable]]\nbetween = ['a', 'b']",
            "is a NIC with more than one cable",
        ),
    ] {
        let folder = Folder::new();
        let output = run(fabric().arg(folder.topology(&PAIR.replace("MORE", more))));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(said), "{text}\nsays nothing of {said}");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let sockets = folder.path("nics");
    let sockets = sockets.to_str().expect("it is text");
    for (arguments, said) in [
        (&["--nics", "1", "--sockets", sockets][..], "1 is not in 2..=4096"),
        (&["--nics", "2"], "--sockets"),
        (
            &["--nics", "2", "--sockets", sockets, "--latency", "5 ns"],
            "a latency of 5 ns",
        ),
        (
            &["--nics", "2", "--sockets", sockets, "--rate", "fast"],
            "`fast` is no rate",
        ),
        (
            &["--nics", "2", "--sockets", sockets, "--cluster-mhz", "10"],
            "20 MHz and more",
        ),
        (
            &["--nics", "3", "--sockets", sockets, "--buffer", "1 KiB"],
            "smaller than a frame",
        ),
        (&["--nics", "2", "--sockets", "/proc/no"], "cannot be listened at"),
        (&["/nowhere.toml"], "/nowhere.toml cannot be read"),
        (&["/nowhere.toml", "--rate", "1 Gbps"], "cannot be used with"),
    ] {
        let output = run(fabric().args(arguments));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            text.contains(said),
            "{arguments:?}: {text}\nsays nothing of {said}"
        );
        assert_eq!(output.status.code(), Some(2), "{text}");
    }
    assert!(!folder.path("nics/nic0").exists(), "no socket is left");
}
