"""What packets may be."""

from __future__ import annotations

from typing import Protocol, Union


class HasBytes(Protocol):
    """What `bytes()` takes, as packets of scapy."""

    def __bytes__(self) -> bytes: ...


Bytes = Union[bytes, bytearray, memoryview, HasBytes]

# An Ethernet frame without its check sequence, or when it comes, in nanoseconds since the run began, and the frame.
Packet = Union[Bytes, tuple[float, Bytes]]
