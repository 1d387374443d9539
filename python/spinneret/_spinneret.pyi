import os
from typing import Any, Callable, Iterable, Optional, Union, overload

from ._packet import Packet

__version__: str

class Error(RuntimeError):
    """What the NIC, its handlers or their rules cannot do, in a sentence."""

class DropWarning(RuntimeWarning):
    """Packets for handlers were dropped."""

class Frame:
    """A frame that came out of the NIC."""

    @property
    def time_ns(self) -> float:
        """When, since the run began."""
    @property
    def data(self) -> bytes: ...
    @property
    def to_host(self) -> bool:
        """Whether it went to the host, and not to the wire."""
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...

class Fault:
    """Faults of handlers of one kind: the same instruction, for the same reason."""

    @property
    def handler(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def source(self) -> str:
        """File and line, or nothing if they are not known."""
    @property
    def place(self) -> str:
        """Function and offset, or nothing."""
    @property
    def count(self) -> int: ...

class Result:
    """The result of a run."""

    @property
    def packets(self) -> int:
        """Packets that came."""
    @property
    def dropped(self) -> int:
        """Packets for handlers that the NIC dropped; `summary["drops"]` has the causes."""
    @property
    def replies(self) -> list[Frame]:
        """Frames that left for the wire."""
    @property
    def to_host(self) -> list[Frame]:
        """Packets that went to the host, because no rule matched them."""
    @property
    def faults(self) -> list[Fault]: ...
    @property
    def messages(self) -> str:
        """What handlers printed, and what is to be said about faults."""
    @property
    def counters(self) -> dict[str, int]:
        """The counters of the hardware."""
    @property
    def summary(self) -> dict[str, Any]:
        """What `spinneret run --json` prints."""

class Nic:
    """A simulated NIC with handlers, from a folder with a Makefile or an ELF file."""

    def __init__(
        self,
        handlers: Union[str, os.PathLike[str]],
        rules: Union[str, os.PathLike[str], None] = None,
        *,
        handler: Optional[str] = None,
        clusters: int = 2,
        hpus: int = 8,
        cluster_mhz: float = 40.0,
        core_mhz: float = 250.0,
        host_latency_ns: int = 450,
        watchdog: int = 1_000_000,
    ) -> None: ...
    def run(
        self,
        packets: Iterable[Packet],
        *,
        on_frame: Optional[Callable[[Frame], object]] = None,
        gbps: Optional[float] = None,
    ) -> Result:
        """Runs until all packets are done with. What `packets` or `on_frame` raise ends the run, and comes out here.

        Packets without a time come at `gbps`, or as fast as the NIC takes them, which drops none. Warns with
        `DropWarning` if packets were dropped.
        """
    @property
    def now_ns(self) -> float:
        """Simulated time since the NIC was made."""
    def read_host(self, offset: int, size: int, *, context: int = 0) -> bytes:
        """Host memory of the context of a ruleset."""
    def write_host(self, offset: int, data: bytes, *, context: int = 0) -> None: ...
    @overload
    def variable(self, name: str, *, context: int = 0) -> bytes: ...
    @overload
    def variable(self, name: str, format: str, *, context: int = 0) -> Any:
        """A global variable of the handlers: its bytes, or its values in a format of the module `struct`.

        `variable("total", "I")` is a number, `variable("sizes", "4H")` a tuple. Bytes are in the NIC's order, the lowest
        first, unless the format says otherwise.
        """
    @overload
    def set_variable(self, name: str, value: bytes, *, context: int = 0) -> None: ...
    @overload
    def set_variable(self, name: str, value: object, format: str, *, context: int = 0) -> None:
        """Writes a global variable of the handlers: bytes, or with a format a value, or a tuple of them."""

def set_data(folder: Union[str, os.PathLike[str]]) -> None: ...
def runtime() -> os.PathLike[str]: ...
