"""Types that are accepted as packets."""

from __future__ import annotations

from typing import Protocol, Union


class HasBytes(Protocol):
    """Anything that `bytes()` accepts, such as packets of scapy."""

    def __bytes__(self) -> bytes: ...


Bytes = Union[bytes, bytearray, memoryview, HasBytes]

# An Ethernet frame without its check sequence, or a tuple of its arrival time, in nanoseconds since the start of the run, and the frame.
Packet = Union[Bytes, tuple[float, Bytes]]
