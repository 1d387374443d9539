"""Contract tests of the package, with the example that sends every UDP packet back."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import threading
import warnings
from pathlib import Path
from typing import Iterator

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

import spinneret


def ping(port: int = 9000, size: int = 100) -> Ether:
    head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src="10.0.0.1", dst="10.0.0.2")
    return head / UDP(sport=4000, dport=port) / bytes(size - 42)


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy of the example in a separate folder, so that the build writes nothing into the checkout."""
    folder = tmp_path_factory.mktemp("handlers") / "udp_ping"
    source = spinneret.example("udp_ping")
    folder.mkdir()
    for name in ("udp_ping.c", "rules.toml"):
        shutil.copy(source / name, folder / name)
    (folder / "Makefile").write_text("HANDLER = udp_ping\ninclude $(SPINNERET_RUNTIME)/spin.mk\n")
    return folder


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Handlers that count, copy to the host, print, and fail on packets of 200 bytes."""
    folder = tmp_path_factory.mktemp("handlers") / "own"
    folder.mkdir()
    (folder / "Makefile").write_text("HANDLER = own\ninclude $(SPINNERET_RUNTIME)/spin.mk\n")
    (folder / "rules.toml").write_text('[[ruleset]]\nrules = ["ipv4", { ip-proto = 17 }]\nend-of-message = "never"\n')
    (folder / "own.c").write_text(
        """#include <handler.h>
#include <packets.h>
#include <spin_host.h>
volatile uint32_t total;
__handler__ void own_ph(handler_args_t *args) {
    task_t *task = args->task;
    amo_send_add((volatile int32_t *)&total, 1);
    spin_cmd_t copy;
    spin_dma_to_host(HOST_ADDR(args), (uint32_t)(uintptr_t)task->pkt_mem, 14, true, &copy);
    spin_cmd_wait(copy);
    printf("%u bytes\\n", (unsigned)task->pkt_mem_size);
    if (task->pkt_mem_size == 200) {
        *(volatile uint32_t *)0x40000000 = 1;
    }
}
"""
    )
    return folder


@pytest.mark.parametrize("cluster", ["model", "model:spinneret", "rtl"])
def test_packets_of_scapy_come_back_with_addresses_exchanged(echo: Path, cluster: str) -> None:
    sent = [ping(size=size) for size in (60, 100, 1500)]
    result = spinneret.Nic(echo, cluster=cluster).run(sent)
    assert len(result.replies) == 3 and result.to_host == [] and result.faults == []
    for frame in result.replies:
        back = Ether(bytes(frame))
        assert (back[IP].src, back[UDP].sport, back[UDP].dport) == ("10.0.0.2", 9000, 4000)
        assert frame.time_ns > 0 and len(frame) == len(frame.data) and not frame.to_host
    assert result.counters["ingress.matched"] == 3
    assert result.summary["handlers"][0]["packets"] == 3


def test_times_are_those_of_the_packets(echo: Path) -> None:
    nic = spinneret.Nic(echo)
    result = nic.run((1e6 * number, bytes(ping())) for number in range(3))
    times = [frame.time_ns for frame in result.replies]
    assert [round(time / 1e6) for time in times] == [0, 1, 2]
    # Times and counters of a second run begin at 0.
    again = nic.run([bytearray(bytes(ping())), memoryview(bytes(ping()))])
    assert again.replies[0].time_ns < 1e5
    assert again.counters["ingress.matched"] == 2
    assert nic.now_ns > 2e6


def test_packets_without_times_come_as_fast_as_the_nic_takes_them(echo: Path) -> None:
    nic = spinneret.Nic(echo)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = nic.run([ping()] * 500)
    assert (result.packets, result.dropped, len(result.replies)) == (500, 0, 500)
    assert repr(result) == "<Result of 500 packets: 500 replies>"
    # The NIC drops some packets if they arrive faster than the handlers process them.
    # The result and a warning report how many.
    with pytest.warns(spinneret.DropWarning, match=r"of 500 packets were dropped \(overload \d+\)"):
        result = nic.run([ping()] * 500, gbps=100)
    lost = result.dropped
    assert 0 < lost == result.summary["drops"]["overload"] and len(result.replies) == 500 - lost
    assert repr(result) == f"<Result of 500 packets: {500 - lost} replies, {lost} dropped>"


def test_a_rate_spaces_packets_without_times(echo: Path) -> None:
    # 76 bytes take 800 bits on the wire.
    times = [frame.time_ns for frame in spinneret.run(echo, [ping(size=76)] * 3, gbps=0.001).replies]
    assert [round(time / 1e5) for time in times] == [0, 8, 16]
    packets: list[spinneret.Packet] = [(2e6, bytes(ping(size=76))), ping(size=76)]
    times = [frame.time_ns for frame in spinneret.run(echo, packets, gbps=0.001).replies]
    assert [round(time / 1e5) for time in times] == [20, 28]
    for gbps in (0, -1, 1e4, float("nan")):
        with pytest.raises(ValueError, match="gbps is .*, and rates are 1e-6 to 1e3"):
            spinneret.run(echo, [ping()], gbps=gbps)


def test_what_no_rule_matches_goes_to_the_host(echo: Path) -> None:
    arp = Ether(dst="ff:ff:ff:ff:ff:ff", type=0x0806) / bytes(46)
    seen: list[spinneret.Frame] = []
    result = spinneret.run(echo, [arp, ping()], on_frame=seen.append)
    assert [bytes(frame) for frame in result.to_host] == [bytes(arp)]
    assert result.to_host[0].to_host and len(result.replies) == 1
    assert sorted(frame.to_host for frame in seen) == [False, True]
    assert repr(result) == "<Result of 2 packets: 1 replies, 1 to the host>"


def test_memory_messages_and_variables_are_there_after_a_run(own: Path) -> None:
    nic = spinneret.Nic(own)
    result = nic.run([ping()] * 5)
    assert nic.variable("total") == struct.pack("<I", 5)
    assert nic.read_host(0, 14) == bytes(ping())[:14]
    assert result.messages.count("100 bytes") == 5
    nic.set_variable("total", struct.pack("<I", 40))
    nic.write_host(64, b"shared")
    assert nic.read_host(64, 6) == b"shared"
    nic.run([ping()])
    assert nic.variable("total") == struct.pack("<I", 41)
    assert nic.variable("total", "I") == 41 and nic.variable("total", "2H") == (41, 0)
    assert nic.variable("total", ">I") == 41 << 24
    nic.set_variable("total", 7, "i")
    nic.run([ping()])
    assert nic.variable("total", "i") == 8
    nic.set_variable("total", (1, 2), "2H")
    assert nic.variable("total", "I") == 0x20001
    with pytest.raises(ValueError, match="`total` has 4 bytes, and the format `<Q` takes 8"):
        nic.variable("total", "Q")
    with pytest.raises(ValueError, match="`total` in the format `<y`: bad char in struct format"):
        nic.set_variable("total", 1, "y")
    with pytest.raises(ValueError, match="`total` in the format `<I`: "):
        nic.set_variable("total", "many", "I")
    with pytest.raises(IndexError, match="the host memory of context 0 has 16777216"):
        nic.read_host(1 << 24, 1)
    with pytest.raises(IndexError, match="there is no context 1: the rules have 1 rulesets"):
        nic.read_host(0, 1, context=1)
    with pytest.raises(spinneret.Error, match="totl"):
        nic.variable("totl")


def rules_of(folder: Path, port: int) -> Path:
    """Rules for packets to a port."""
    rules = folder / f"port-{port}.toml"
    rules.write_text(f'[[ruleset]]\nrules = ["ipv4", {{ ip-proto = 17 }}, {{ udp-dport = {port} }}]\n')
    return rules


def test_sessions_have_programs_and_memory_of_their_own(echo: Path, own: Path, tmp_path: Path) -> None:
    nic = spinneret.Nic()
    first = nic.open(echo, rules_of(tmp_path, 1))
    with nic.open(own, rules_of(tmp_path, 2)) as second:
        third = nic.open(own, rules_of(tmp_path, 3))
        result = nic.run([ping(port, 200 if port == 3 else 100) for port in (1, 2, 2, 3, 4)])
        assert len(result.replies) == 1 and len(result.to_host) == 1
        assert [fault.handler for fault in result.faults] == ["own_ph"]
        assert second.variable("total", "I") == 2 == third.variable("total", "I") + 1
        second.write_host(64, b"second")
        assert third.read_host(64, 6) == bytes(6)
        with pytest.raises(spinneret.Error, match="no shares of contexts"):
            second.set_share(weight=2)
        second.set_share(slots=100)
    # Its packets go to the host, and another session gets its memory.
    assert len(nic.run([ping(2), ping(1)]).to_host) == 1
    with pytest.raises(IndexError, match="the session is closed"):
        second.variable("total")
    again = nic.open(own, rules_of(tmp_path, 2))
    result = nic.run([ping(2), ping(3)])
    assert again.variable("total", "I") == 1 and third.variable("total", "I") == 2
    assert again.read_host(64, 6) == bytes(6)
    contexts = result.summary["contexts"]
    assert [context["handlers"] for context in contexts] == [1, 1]
    first.close()


def test_contexts_of_the_hardware_have_shares(own: Path) -> None:
    nic = spinneret.Nic(own, cluster="rtl")
    nic.set_share(weight=15, budget=100)
    result = nic.run([ping()] * 3)
    usage = nic.usage()
    assert usage["handlers"] == usage["budget_ends"] == usage["failures"] == 3
    assert 300 <= usage["clocks"] and result.summary["contexts"][0]["budget_ends"] == 3
    nic.set_share()
    result = nic.run([ping()])
    assert result.faults == [] and nic.usage()["handlers"] == 4
    # One packet at a time: of 20 that come at once some are dropped.
    nic.set_share(slots=1)
    result = nic.run([ping()] * 20, gbps=90)
    dropped = nic.usage()["dropped_bound"]
    assert dropped > 0 and result.summary["contexts"][0]["dropped_bound"] == dropped
    assert nic.usage()["handlers"] == 24 - dropped
    with pytest.raises(spinneret.Error, match="a weight of 16 is not possible: this process may set 1 to 15"):
        nic.set_share(weight=16)


def test_faults_have_their_source_line(own: Path) -> None:
    result = spinneret.run(own, [ping(size=200), ping()])
    (fault,) = result.faults
    assert fault.handler == "own_ph" and fault.count == 1
    assert fault.source.endswith("own.c:13"), fault.source
    assert repr(result) == "<Result of 2 packets: 0 replies, 1 faults>"
    with pytest.raises(spinneret.HandlerFault, match=r"own_ph: .*own\.c:13") as raised:
        spinneret.run(own, [ping(size=200)], check=True)
    assert raised.value.result.faults[0].count == 1


def test_an_exception_of_the_program_ends_the_run_and_is_the_same(echo: Path) -> None:
    class Enough(Exception):
        pass

    def stop(_frame: spinneret.Frame) -> None:
        raise Enough

    nic = spinneret.Nic(echo)
    with pytest.raises(Enough):
        nic.run([ping()] * 100, on_frame=stop)
    with pytest.raises(spinneret.Error, match="create a new one"):
        nic.run([ping()])

    def packets() -> Iterator[Ether]:
        yield ping()
        raise Enough

    with pytest.raises(Enough):
        spinneret.run(echo, packets())


def test_ctrl_c_ends_a_run_that_has_no_end(echo: Path) -> None:
    def forever() -> Iterator[bytes]:
        packet = bytes(ping())
        while True:
            yield packet

    # Tests that a shell starts in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            spinneret.run(echo, forever())
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("packet", "kind", "sentence"),
    [
        (7, TypeError, "packet 1 is of type int"),
        (b"short", ValueError, "packet 1 has 5 bytes, and frames have 14 to 9216"),
        (bytes(9217), ValueError, "packet 1 has 9217 bytes"),
        ((-1.0, bytes(64)), ValueError, "packet 1 comes at -1 ns"),
        ((float("nan"), bytes(64)), ValueError, "packet 1 comes at NaN ns"),
    ],
)
def test_what_is_no_packet_is_refused_by_number(echo: Path, packet: object, kind: type, sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        spinneret.run(echo, [ping(), packet])  # type: ignore[list-item]


def test_what_cannot_be_run_is_refused_in_a_sentence(echo: Path, tmp_path: Path) -> None:
    with pytest.raises(spinneret.Error, match="does not exist"):
        spinneret.Nic(tmp_path / "nowhere")
    with pytest.raises(spinneret.Error, match="has no Makefile"):
        spinneret.Nic(tmp_path)
    with pytest.raises(spinneret.Error, match="nowhere.toml"):
        spinneret.Nic(echo, "nowhere.toml")
    with pytest.raises(ValueError, match="cluster_mhz is 0, and clocks are 1 to 1000 MHz"):
        spinneret.Nic(echo, cluster_mhz=0)
    with pytest.raises(ValueError, match="cluster is asic, and must be model, model:spinneret or rtl"):
        spinneret.Nic(echo, cluster="asic")
    with pytest.raises(spinneret.Error, match="--hpus needs a model of the clusters"):
        spinneret.Nic(echo, cluster="rtl", hpus=4)
    with pytest.raises(spinneret.Error, match="create one without handlers"):
        spinneret.Nic(echo).open(echo)
    with pytest.raises(ValueError, match="rules and handler need handlers"):
        spinneret.Nic(rules="rules.toml")
    with pytest.raises(ValueError, match="1 to 8 clusters"):
        spinneret.Nic(echo, clusters=9)
    with pytest.raises(spinneret.Error, match="there is no example `nothing`; there are aggregate, "):
        spinneret.example("nothing")
