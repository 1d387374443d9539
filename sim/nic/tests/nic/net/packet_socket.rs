//! A `veth` interface as the wire, with this test in the place of the NIC and Linux at the other end.

use super::*;
use spinneret_nic::net::{InterfaceAddress, NetError, Next, PacketSocket, Sink, Source, wait};
use spinneret_packets::checked_protocol;
use spinneret_skip::skip;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// MAC address of a machine that is not there, but that the other end believes in.
const NIC_MAC: &str = "02:00:00:00:00:01";

/// Two interfaces with a cable: one of this machine, and one in a namespace of its own, which are removed in the end.
struct Veth {
    name: String,
    space: String,
    /// Address of the other end, and one that it believes to be at [`NIC_MAC`].
    addresses: [InterfaceAddress; 2],
}

impl Veth {
    /// `None` after saying that this machine does not allow it.
    fn create(test: &str, number: u32) -> Option<Self> {
        let config = config(number);
        let (name, space) = (config.name.clone(), config.wire_name());
        let made = command("ip netns add").arg(&space).output();
        match made {
            Err(error) => skip(test, &error),
            Ok(made) if !made.status.success() => {
                let said = String::from_utf8_lossy(&made.stderr);
                let is_forbidden = said.contains("not permitted") || said.contains("ermission denied");
                assert!(is_forbidden, "{said}");
                skip(test, &said.trim());
            }
            Ok(_) => {
                let veth = Self {
                    name,
                    space,
                    addresses: [config.wire, config.host],
                };
                veth.set_up();
                return Some(veth);
            }
        }
        None
    }

    fn set_up(&self) {
        let Self {
            name,
            space,
            addresses: [theirs, ours],
        } = self;
        run(&format!(
            "ip link add {name} type veth peer name peer netns {space}"
        ));
        self.at_peer("link set peer up");
        bring_up(name);
        self.at_peer(&format!("address add {theirs} dev peer"));
        self.at_peer(&format!(
            "neighbour add {} lladdr {NIC_MAC} dev peer",
            ours.address
        ));
    }

    /// Runs `ip` at the other end.
    fn at_peer(&self, arguments: &str) {
        run(&format!("ip -n {} {arguments}", self.space));
    }

    /// A command at the other end.
    fn peer_command(&self, words: &str) -> Command {
        let mut command = command(&format!("ip netns exec {} {words}", self.space));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Sends a datagram from the other end.
    fn peer_sends(&self, text: &str, to: &str) {
        let mut child = self
            .peer_command(&format!("nc -u -q 0 -w 1 {to} 9330"))
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        child.wait_with_output().unwrap();
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        let _ = command("ip link delete").arg(&self.name).output();
        let _ = command("ip netns delete").arg(&self.space).output();
    }
}

/// Brings an interface up whose other end is up, and waits until it carries frames: before that, Linux drops them.
fn bring_up(name: &str) {
    run(&format!("ip link set {name} up"));
    until("an interface's way up", || {
        let said = String::from_utf8(run(&format!("ip link show dev {name}")).stdout).unwrap();
        said.contains("state UP") && !said.contains("qdisc noop ")
    });
}

/// All UDP over IPv4 that comes within a time or until there is so much of it.
fn udp(socket: &PacketSocket, wanted: usize, patience: Duration) -> Vec<Vec<u8>> {
    let mut source = socket.clone();
    let mut found = Vec::new();
    let begun = Instant::now();
    while found.len() < wanted && begun.elapsed() < patience {
        wait(&[socket.as_fd()], Some(Duration::from_millis(5))).unwrap();
        while let Next::Packet { bytes, .. } = source.next(0).unwrap() {
            let is_udp = checked_protocol(&bytes).unwrap() == Some("udp");
            found.extend(is_udp.then_some(bytes));
        }
    }
    found
}

#[test]
fn frames_are_received_with_checksums_and_answers_are_sent() {
    let Some(veth) = Veth::create("frames_come_in", 8) else {
        return;
    };
    let socket = PacketSocket::attach(&veth.name).unwrap();
    let mut sink = socket.clone();
    let to = veth.addresses[1].address;
    // The client waits for one answer.
    let mut client = veth
        .peer_command(&format!("nc -u -w 5 -W 1 {to} 9330"))
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut client.stdin.take().unwrap(), b"through the cable").unwrap();
    let requests = udp(&socket, 1, PATIENCE);
    let [request] = &requests[..] else {
        panic!("{requests:02x?}")
    };
    assert_eq!(request.len(), 60, "a wire pads");
    assert_eq!(&request[42..59], b"through the cable");
    assert_eq!(request[..6], [2, 0, 0, 0, 0, 1]);
    let mut answer = request.clone();
    answer[..12].rotate_left(6);
    answer[26..34].rotate_left(4);
    answer[34..38].rotate_left(2);
    sink.put(0, &answer).unwrap();
    let mut said = String::new();
    client.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(client.wait().unwrap().success());
    assert_eq!(said, "through the cable");
    assert_eq!((socket.dropped(), socket.uncut()), (0, 0));
}

#[test]
fn frames_of_this_machine_are_not_received() {
    let Some(veth) = Veth::create("what_this_machine_sends", 9) else {
        return;
    };
    let [theirs, ours] = veth.addresses;
    run(&format!("ip address add {ours} dev {}", veth.name));
    run(&format!(
        "ip neighbour add {} lladdr 02:00:00:00:00:09 dev {}",
        theirs.address, veth.name
    ));
    let socket = PacketSocket::attach(&veth.name).unwrap();
    let other = PacketSocket::attach(&veth.name).unwrap();
    // From Linux, from the socket itself, and from another socket.
    let linux = UdpSocket::bind((ours.address, 0)).unwrap();
    linux.send_to(b"outgoing", (theirs.address, 9330)).unwrap();
    let frame = spinneret_nic::net::Recipe::frame(&"udp".parse().unwrap(), 0);
    socket.clone().put(0, &frame).unwrap();
    other.clone().put(0, &frame).unwrap();
    veth.peer_sends("incoming", &ours.address.to_string());
    let found = udp(&socket, 2, Duration::from_millis(500));
    assert_eq!(found.len(), 1, "{found:02x?}");
    assert_eq!(&found[0][42..50], b"incoming");
}

#[test]
fn vlan_tags_stay_in_their_frames() {
    let Some(veth) = Veth::create("vlan_tags_stay", 10) else {
        return;
    };
    // Both ends here, so that frames can be sent as they are.
    let [one, other] = [format!("{}a", veth.name), format!("{}b", veth.name)];
    run(&format!("ip link add {one} type veth peer name {other}"));
    run(&format!("ip link set {one} up"));
    bring_up(&other);
    bring_up(&one);
    let [sends, receives] = [&one, &other].map(|name| PacketSocket::attach(name).unwrap());
    let plain = spinneret_nic::net::Recipe::frame(&"udp,size=100".parse().unwrap(), 0);
    let tag = |frame: &[u8], tag: [u8; 4]| [&frame[..12], &tag, &frame[12..]].concat();
    let tagged = tag(&plain, [0x81, 0, 0x04, 0xd2]);
    let twice = tag(&tagged, [0x88, 0xa8, 0x60, 0x07]);
    let frames = [plain, tagged, twice];
    for frame in &frames {
        sends.clone().put(0, frame).unwrap();
    }
    let mut source = receives.clone();
    let mut found = Vec::new();
    let begun = Instant::now();
    while found.len() < frames.len() && begun.elapsed() < PATIENCE {
        wait(&[receives.as_fd()], Some(Duration::from_millis(5))).unwrap();
        while let Next::Packet { bytes, .. } = source.next(0).unwrap() {
            // Linux may have something to say on a new interface.
            found.extend((bytes[..6] == frames[0][..6]).then_some(bytes));
        }
    }
    run(&format!("ip link delete {one}"));
    assert_eq!(found, frames);
}

#[test]
fn unsegmented_packets_are_dropped_and_counted() {
    let Some(veth) = Veth::create("packets_that_nobody_cut_up", 11) else {
        return;
    };
    let [theirs, ours] = veth.addresses;
    // This machine's own Linux is the receiver; the other end learns its address from it.
    veth.at_peer(&format!("neighbour del {} dev peer", ours.address));
    run(&format!("ip address add {ours} dev {}", veth.name));
    let socket = PacketSocket::attach(&veth.name).unwrap();
    let listener = TcpListener::bind((ours.address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
    });
    let words = format!(
        "socat -u -b 65536 OPEN:/dev/zero,readbytes=2000000 TCP:{}:{port}",
        ours.address
    );
    let output = veth.peer_command(&words).stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(receiver.join().unwrap(), 2_000_000, "from {theirs}");
    let mut source = socket.clone();
    let mut longest = 0;
    while let Next::Packet { bytes, .. } = source.next(0).unwrap() {
        checked_protocol(&bytes).unwrap();
        longest = longest.max(bytes.len());
    }
    assert!(socket.uncut() > 0);
    assert!(longest <= 1514, "{longest}");
}

#[test]
fn frames_that_are_too_long_are_lost_and_counted() {
    let Some(veth) = Veth::create("frames_that_do_not_fit", 12) else {
        return;
    };
    let socket = PacketSocket::attach(&veth.name).unwrap();
    let mut sink = socket.clone();
    for (size, dropped) in [(1514, 0), (1600, 1), (9, 2), (0, 3), (60, 3)] {
        sink.put(0, &vec![0x02; size]).unwrap();
        assert_eq!(socket.dropped(), dropped, "{size}");
    }
}

#[test]
fn unsuitable_interfaces_are_refused() {
    let found = PacketSocket::attach("no-such-thing").unwrap_err().to_string();
    assert_eq!(
        found,
        "there is no interface `no-such-thing`: `ip link` lists those that exist"
    );
    let found = PacketSocket::attach(&"long".repeat(10)).unwrap_err();
    assert!(matches!(found, NetError::Unknown { .. }), "{found}");
    let found = PacketSocket::attach("lo").unwrap_err().to_string();
    assert_eq!(
        found,
        "interface `lo` does not carry Ethernet frames (its hardware type is 772, not 1)"
    );

    let Some(veth) = Veth::create("interfaces_that_cannot_be_the_wire", 13) else {
        return;
    };
    let name = &veth.name;
    let socket = PacketSocket::attach(name).unwrap();
    run(&format!("ip link set {name} down"));
    let down = format!("interface `{name}` is down: `ip link set {name} up` brings it up");
    assert_eq!(PacketSocket::attach(name).unwrap_err().to_string(), down);
    assert_eq!(socket.clone().next(0).unwrap_err().to_string(), down);
    assert_eq!(socket.clone().put(0, &[0xff; 60]).unwrap_err().to_string(), down);
    run(&format!("ip link delete {name}"));
    let gone = format!("interface `{name}` is gone: somebody removed it");
    assert_eq!(socket.clone().put(0, &[0xff; 60]).unwrap_err().to_string(), gone);
}

#[test]
fn an_attached_interface_is_promiscuous() {
    let Some(veth) = Veth::create("the_interface_is_promiscuous", 14) else {
        return;
    };
    let is_promiscuous = || {
        let said = run(&format!("ip -d link show dev {}", veth.name)).stdout;
        String::from_utf8(said).unwrap().contains("promiscuity 1")
    };
    assert!(!is_promiscuous());
    let socket = PacketSocket::attach(&veth.name).unwrap();
    let source = socket.clone();
    drop(socket);
    assert!(is_promiscuous());
    drop(source);
    // A process that another test starts has all files of this one for an instant.
    until("the end", || !is_promiscuous());
}

#[test]
fn missing_privileges_are_explained() {
    const CHILD: &str = "SPINNERET_TEST_INTERFACE";
    if let Ok(name) = std::env::var(CHILD) {
        println!("\nsays {}", PacketSocket::attach(&name).unwrap_err());
        return;
    }
    let Some(veth) = Veth::create("without_privileges", 15) else {
        return;
    };
    let program = std::env::current_exe().unwrap();
    let mut child = command("setpriv --bounding-set=-all --inh-caps=-all");
    child.arg(&program).args([
        "--exact",
        "net::packet_socket::missing_privileges_are_explained",
        "--nocapture",
    ]);
    let output = child.env(CHILD, &veth.name).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = format!(
        "says attaching to the interface {} needs more privileges: run `sudo setcap cap_net_raw+ep {}` once, or run \
         this with sudo",
        veth.name,
        program.display()
    );
    assert!(said.lines().any(|line| line == expected), "{said}");
}
