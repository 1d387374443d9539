"""A cocotb 2 testbench for the matching engine alone: IPv4 frames leave on one output, all others on the other.

    pip install cocotb pytest
    gen-verilog --module pspin_pkt_match --out match
    VERILOG=match pytest test_pkt_match.py

Without VERILOG, the test builds the SystemVerilog in gen/verilog/reference of the checkout. SIM=icarus is the default.
cocotb 2 supports Verilator from 5.036 on; Debian 12 has an older one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge

BEAT_BYTES = 64
RULES = 4
# The rule registers hold the bytes of a frame's word in reverse order.
IPV4 = {"idx": 3, "mask": 0x0000FFFF, "start": 0x00000008, "end": 0x00000008}
ALWAYS = {"idx": 0, "mask": 0, "start": 0, "end": 0}
NEVER = {"idx": 0, "mask": 0, "start": 1, "end": 0}


def set_rules(dut: Any, rulesets: list[list[dict[str, int]]]) -> None:
    """The last rule of each ruleset marks the end of a message."""
    rules = [rule for ruleset in rulesets for rule in ruleset]
    for field in ("idx", "mask", "start", "end"):
        words = (rule[field] << (32 * number) for number, rule in enumerate(rules))
        getattr(dut, f"match_{field}").value = sum(words)
    dut.match_mode.value = 0
    dut.match_valid.value = 1


async def send(dut: Any, frame: bytes) -> None:
    """Sends a frame. A beat moves at the clock edge at which valid and ready are both 1."""
    for start in range(0, len(frame), BEAT_BYTES):
        beat = frame[start : start + BEAT_BYTES]
        dut.s_axis_nic_rx_tdata.value = int.from_bytes(beat, "little")
        dut.s_axis_nic_rx_tkeep.value = (1 << len(beat)) - 1
        dut.s_axis_nic_rx_tlast.value = int(start + BEAT_BYTES >= len(frame))
        dut.s_axis_nic_rx_tvalid.value = 1
        while True:
            await ReadOnly()
            is_taken = dut.s_axis_nic_rx_tready.value == 1
            await RisingEdge(dut.clk)
            if is_taken:
                break
    dut.s_axis_nic_rx_tvalid.value = 0


async def receive(dut: Any, output: str, frames: list[bytes]) -> None:
    """Appends the frames that leave on an output to `frames`."""

    def of(name: str) -> Any:
        return getattr(dut, f"{output}_{name}").value

    frame = b""
    while True:
        await ReadOnly()
        if of("tvalid") == 1 and of("tready") == 1:
            count = int(of("tkeep")).bit_count()
            frame += int(of("tdata")).to_bytes(BEAT_BYTES, "little")[:count]
            if of("tlast") == 1:
                frames.append(frame)
                frame = b""
        await RisingEdge(dut.clk)


@cocotb.test()
async def ipv4_and_all_else(dut: Any) -> None:
    outputs: dict[str, list[bytes]] = {"m_axis_pspin_rx": [], "m_axis_nic_rx": []}
    for name in ("tvalid", "tdata", "tkeep", "tlast", "tid", "tdest", "tuser"):
        getattr(dut, f"s_axis_nic_rx_{name}").value = 0
    for output in outputs:
        getattr(dut, f"{output}_tready").value = 1
    dut.packet_meta_ready.value = 1
    dut.match_valid.value = 0
    dut.rstn.value = 0
    cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
    await ClockCycles(dut.clk, 5)
    dut.rstn.value = 1
    never = [NEVER] * RULES
    set_rules(dut, [[IPV4, ALWAYS, ALWAYS, ALWAYS], never, never, never])
    for output, frames in outputs.items():
        cocotb.start_soon(receive(dut, output, frames))
    await ClockCycles(dut.clk, 10)

    ipv4, arp = (bytes(12) + kind.to_bytes(2, "big") for kind in (0x0800, 0x0806))
    sent = [(arp if number % 3 == 0 else ipv4) + bytes([number]) * (50 + 40 * number) for number in range(20)]
    for frame in sent:
        await send(dut, frame)
    await ClockCycles(dut.clk, 100)
    assert outputs["m_axis_nic_rx"] == sent[0::3]
    assert outputs["m_axis_pspin_rx"] == [frame for number, frame in enumerate(sent) if number % 3]


def test_pkt_match(tmp_path: Path) -> None:
    """Entry point for pytest: builds the block and runs the test above in the simulator."""
    from cocotb_tools.runner import get_runner

    here = Path(__file__).resolve()
    verilog = Path(os.environ.get("VERILOG") or here.parents[3] / "gen/verilog/reference").resolve()
    simulator = os.environ.get("SIM", "icarus")
    runner = get_runner(simulator)
    runner.build(
        sources=sorted(verilog.glob("*.sv")),
        hdl_toplevel="pspin_pkt_match",
        build_args=["-g2012"] if simulator == "icarus" else [],
        build_dir=tmp_path,
        timescale=("1ns", "1ps"),
        always=True,
    )
    runner.test(hdl_toplevel="pspin_pkt_match", test_module=here.stem, build_dir=tmp_path, test_dir=tmp_path)
