# %% [markdown]
# Reply latency of the NIC by packet size. Run the cells in an editor that supports notebooks, or run
# `python latency.py OUT.svg`.

# %%
import sys

import matplotlib.pyplot as plt

import spinneret

SIZES = range(64, 1473, 64)
PAUSE_NS = 100_000.0


def datagram(size: int) -> bytes:
    """Returns a UDP packet assembled from raw bytes; scapy packets work as well."""
    ethernet = bytes.fromhex("020000000002 020000000001 0800")
    ip = bytes.fromhex("4500") + (size - 14).to_bytes(2, "big") + bytes.fromhex("00000000 4011 0000 0a000001 0a000002")
    udp = bytes.fromhex("0fa0 2328") + (size - 34).to_bytes(2, "big") + bytes(2)
    return ethernet + ip + udp + bytes(size - 42)


# %% Both runs use one NIC. Its first packet loads the handler's instructions into the cluster's cache.
# This packet is not measured.
nic = spinneret.Nic(spinneret.example("udp_ping"))
nic.run([datagram(64)])

# %% One packet at a time, so that none waits for another.
result = nic.run([(number * PAUSE_NS, datagram(size)) for number, size in enumerate(SIZES)])
assert not result.faults, result.faults
microseconds = [(frame.time_ns - number * PAUSE_NS) / 1000 for number, frame in enumerate(result.replies)]
print(f"{len(result.replies)} replies, {microseconds[0]:.2f} to {microseconds[-1]:.2f} us")

# %%
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(list(SIZES), microseconds, marker="o")
axes.set_xlabel("bytes of the packet")
axes.set_ylabel("time to the reply (µs, simulated)")
axes.set_ylim(bottom=0)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1])
else:
    plt.show()
