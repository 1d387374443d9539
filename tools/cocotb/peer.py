"""Drivers of cocotbext-axi as one end of a bus; the other end is a bus model of sim/.

    peer.py KIND SEED PIN...    KIND is a name in KINDS, PIN is name:width:r or name:width:p

Standard input is a socket. In each clock, it carries whether all traffic is done (one byte) and the pins that the peer
drives (p), then the pins that Rust drives (r): each pin in whole bytes, lowest first. When Rust closes its direction, the
peer answers with its record of the traffic, as text. sim/tests/suite/cocotb.rs compares it with that of the bus model.
"""

import os
import random
import socket
import subprocess
import sys
from typing import NamedTuple

import cocotb
import cocotb.config
import find_libpython
from cocotb.triggers import Timer
from cocotbext.axi import (
    AxiBus, AxiLiteBus, AxiLiteMaster, AxiLiteSlave, AxiMaster, AxiSlave,
    AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource,
)

PAGE = 4096
FAILING = 3  # All accesses to this page fail.
FIXED, INCREMENTING, WRAPPING = range(3)


def launch(kind, seed, *pins):
    """Compiles a module that has nothing but the pins, and turns into the simulator."""
    lines = ["`timescale 1ns/1ns", "module pins;", "reg clk = 0;"]
    for pin in pins:
        name, width, _ = pin.split(":")
        lines.append(f"reg {'' if width == '1' else f'[{int(width) - 1}:0]'} {name} = 0;")
    with open("pins.sv", "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "endmodule\n"]))
    subprocess.run(["iverilog", "-g2012", "-o", "pins.vvp", "-s", "pins", "pins.sv"], check=True)
    environment = {
        **os.environ,
        "MODULE": "peer",
        "TOPLEVEL": "pins",
        "PEER": " ".join([kind, seed, *pins]),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COCOTB_LOG_LEVEL": "WARNING",
        "LIBPYTHON_LOC": find_libpython.find_libpython(),
    }
    library = cocotb.config.lib_name("vpi", "icarus")
    os.execvpe("vvp", ["vvp", "-n", "-M", cocotb.config.libs_dir, "-m", library, "pins.vvp"], environment)


def pauses(rng):
    """Yields in which clocks a channel pauses."""
    percent = rng.choice([0, 0, 30, 60])
    while True:
        yield rng.randrange(100) < percent


def pause(channels, rng):
    for channel in channels:
        channel.set_pause_generator(pauses(random.Random(rng.random())))


def frame_line(frame):
    return f"frame id {frame.tid or 0} user {frame.tuser or 0:#x} bytes {bytes(frame.tdata).hex()}"


async def send_frames(source, frames):
    for frame in frames:
        await source.send(frame)
    await source.wait()


class Memory:
    """The target of cocotbext-axi's slaves."""

    def __init__(self, rng):
        self.bytes, self.rng = {}, rng

    async def write(self, address, data):
        if address // PAGE == FAILING:
            raise ValueError("this page fails")
        self.bytes.update(enumerate(data, address))

    async def read(self, address, length):
        if address // PAGE == FAILING:
            raise ValueError("this page fails")
        return bytes(self.bytes.get(address + i, self.rng.randrange(256)) for i in range(length))

    def lines(self):
        return [f"{address:#x} = {byte:#x}" for address, byte in sorted(self.bytes.items())]


class Burst(NamedTuple):
    """A burst, or a word of AXI4-Lite, that cocotbext-axi's masters send as one."""

    id: int
    address: int
    length: int
    size: int
    kind: int

    @classmethod
    def random(cls, rng, is_lite):
        size, kind = rng.randrange(4), rng.choice([FIXED, INCREMENTING, INCREMENTING, WRAPPING])
        if is_lite:
            address = rng.randrange(4 * PAGE)
            return cls(0, address, rng.randint(1, 4 - address % 4), 2, INCREMENTING)
        if kind == FIXED:
            # The masters move to the next lanes after each beat, so only whole words are right. They split a burst where
            # the page would end if it did not repeat its address, and WRAP bursts as well.
            size = 3
            length = room = 8 * rng.randint(1, 16)
        elif kind == WRAPPING:
            # A block of less than a word would need lanes that do not move on either.
            length = room = max(8, rng.choice([2, 4, 8, 16]) << size)
        else:
            length = room = rng.randint(1, rng.choice([8, 8, 40, 255]) << size)
        address = rng.randrange(PAGE - room)
        if kind != INCREMENTING:
            address -= address % (1 << size)
        return cls(rng.randrange(6), rng.randrange(4) * PAGE + address, length, size, kind)

    def addresses(self):
        """The address of each byte, in the order of the data."""
        if self.kind == FIXED:
            return [self.address + i % 8 for i in range(self.length)]
        if self.kind == WRAPPING:
            start = self.address - self.address % self.length
            return [start + (self.address + i) % self.length for i in range(self.length)]
        return range(self.address, self.address + self.length)

    def line(self, what, response):
        size = 1 << self.size
        beats = -(-(self.address % size + self.length) // size)
        return (f"{what} id {self.id} address {self.address:#x} beats {beats} size {size} kind {self.kind} "
                f"response {int(response)}")


async def access(master, is_lite, rng, memory, lines):
    """Rounds of writes, then reads of what was written; all of one kind are under way at the same time."""
    def signals(burst, name):
        return {} if is_lite else {name: burst.id, "burst": burst.kind, "size": burst.size}

    for _ in range(4):
        bursts = [Burst.random(rng, is_lite) for _ in range(20)]
        data = [rng.randbytes(burst.length) for burst in bursts]
        tasks = [cocotb.start_soon(master.write(burst.address, written, **signals(burst, "awid")))
                 for burst, written in zip(bursts, data)]
        for burst, written, task in zip(bursts, data, tasks):
            answer = await task
            lines["write"].append(burst.line("write", answer.resp))
            if not answer.resp:
                memory.bytes.update(zip(burst.addresses(), written))
        bursts = [Burst.random(rng, is_lite) for _ in range(20)]
        tasks = [cocotb.start_soon(master.read(burst.address, burst.length, **signals(burst, "arid")))
                 for burst in bursts]
        for burst, task in zip(bursts, tasks):
            answer = await task
            lines["read"].append(burst.line("read", answer.resp))
            for address, byte in zip(burst.addresses(), answer.data):
                expected = memory.bytes.get(address, byte)
                assert answer.resp or byte == expected, f"{burst}: {byte:#x} at {address:#x}, not {expected:#x}"


def channels(end):
    return [end.write_if.aw_channel, end.write_if.w_channel, end.write_if.b_channel,
            end.read_if.ar_channel, end.read_if.r_channel]


def source(dut, rng):
    end = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk)
    pause([end], rng)
    frames = [AxiStreamFrame(rng.randbytes(rng.randint(1, 40)), tid=rng.randrange(4), tuser=rng.getrandbits(97))
              for _ in range(200)]
    lines = [frame_line(frame) for frame in frames]
    return send_frames(end, frames), lambda: lines


def sink(dut, rng):
    end = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk)
    pause([end], rng)
    return None, lambda: [frame_line(end.recv_nowait()) for _ in range(end.count())]


def slave(dut, rng, prefix, bus, kind):
    memory = Memory(rng)
    pause(channels(kind(bus.from_prefix(dut, prefix), dut.clk, target=memory)), rng)
    return None, memory.lines


def master(dut, rng, prefix, bus, kind):
    memory, lines = Memory(rng), {"write": [], "read": []}
    end = kind(bus.from_prefix(dut, prefix), dut.clk)
    pause(channels(end), rng)
    traffic = access(end, kind is AxiLiteMaster, rng, memory, lines)
    return traffic, lambda: lines["write"] + lines["read"] + memory.lines()


# Each returns its traffic, if it begins any, and a function that returns the lines of its record.
KINDS = {
    "source": source,
    "sink": sink,
    "axi_slave": lambda dut, rng: slave(dut, rng, "m_axi", AxiBus, AxiSlave),
    "axi_master": lambda dut, rng: master(dut, rng, "s_axi", AxiBus, AxiMaster),
    "axil_slave": lambda dut, rng: slave(dut, rng, "m_axil", AxiLiteBus, AxiLiteSlave),
    "axil_master": lambda dut, rng: master(dut, rng, "s_axil", AxiLiteBus, AxiLiteMaster),
}


def state(pin):
    """The bytes of a pin; unknown bits are 1, so that an unknown `valid` is noticed."""
    bits = pin.value.binstr.lower().replace("x", "1").replace("z", "1")
    return int(bits, 2).to_bytes(-(-len(bits) // 8), "little")


@cocotb.test()
async def peer(dut):
    kind, seed, *pins = os.environ["PEER"].split()
    pins = [(getattr(dut, name), -(-int(width) // 8), side) for name, width, side in (pin.split(":") for pin in pins)]
    driven = [pin for pin, _, side in pins if side == "p"]
    seen = [(pin, count) for pin, count, side in pins if side == "r"]
    size = sum(count for _, count in seen)
    traffic, lines = KINDS[kind](dut, random.Random(f"{kind} {seed}"))
    task = None if traffic is None else cocotb.start_soon(traffic)
    with socket.socket(fileno=os.dup(0)) as wire:
        while True:
            await Timer(1, "ns")
            wire.sendall(bytes([task is None or task.done()]) + b"".join(map(state, driven)))
            message = wire.recv(size, socket.MSG_WAITALL)
            if len(message) != size:
                break
            for pin, count in seen:
                pin.value, message = int.from_bytes(message[:count], "little"), message[count:]
            await Timer(1, "ns")
            dut.clk.value = 1
            await Timer(1, "ns")
            dut.clk.value = 0
        if task is not None:
            await task
        wire.sendall("\n".join(lines()).encode())


if __name__ == "__main__":
    launch(*sys.argv[1:])
