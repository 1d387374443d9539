"""Types that are accepted as packets."""

from __future__ import annotations

from typing import Protocol, Union


class HasBytes(Protocol):
    """Anything that `bytes()` accepts, such as scapy packets."""

    def __bytes__(self) -> bytes: ...


Bytes = Union[bytes, bytearray, memoryview, HasBytes]

# An Ethernet frame without its check sequence, or a tuple of its arrival time and the frame. Times are in nanoseconds
# since the start of the run.
Packet = Union[Bytes, tuple[float, Bytes]]
