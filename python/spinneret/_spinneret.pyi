import os
from typing import Any, Callable, Iterable, Optional, Union, overload

from typing_extensions import Self

from ._packet import Packet

__version__: str

class Error(RuntimeError):
    """An error of the NIC, its handlers or their rules."""

class DropWarning(RuntimeWarning):
    """Packets for handlers were dropped."""

class Frame:
    """A frame that came out of the NIC."""

    @property
    def time_ns(self) -> float:
        """Time since the start of the run."""
    @property
    def data(self) -> bytes: ...
    @property
    def to_host(self) -> bool:
        """True for a frame to the host, False for a frame to the wire."""
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...

class Fault:
    """Faults with the same cause at the same instruction."""

    @property
    def handler(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def source(self) -> str:
        """File and line; empty if unknown."""
    @property
    def place(self) -> str:
        """Function and offset; empty if unknown."""
    @property
    def count(self) -> int: ...

class Result:
    """The result of a run."""

    @property
    def packets(self) -> int:
        """Number of packets that entered the NIC."""
    @property
    def dropped(self) -> int:
        """Packets for handlers that the NIC dropped; `summary["drops"]` has the causes."""
    @property
    def replies(self) -> list[Frame]:
        """Frames that the NIC sent to the wire."""
    @property
    def to_host(self) -> list[Frame]:
        """Packets that matched no rule."""
    @property
    def faults(self) -> list[Fault]: ...
    @property
    def messages(self) -> str:
        """Output of the handlers and descriptions of faults."""
    @property
    def counters(self) -> dict[str, int]:
        """Hardware counters by name."""
    @property
    def summary(self) -> dict[str, Any]:
        """The output of `spinneret run --json`."""

class Session:
    """Handlers of an owner on a NIC, with their memory; contexts are numbered like rulesets."""

    def close(self) -> None:
        """Ends the handlers and frees their memory. Their packets go to the host again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: object) -> None: ...
    def set_share(
        self,
        *,
        weight: int = 1,
        budget: int = 1_000_000,
        slots: int = 0,
        egress_rate: int = 0,
        context: int = 0,
    ) -> None:
        """Sets the share of a context; other than `slots` only with `cluster="rtl"`.

        `weight` is 1 to 15, relative to other contexts. A handler is stopped after `budget` clocks; 0: never. `slots`
        bounds the packets inside, `egress_rate` the bytes to send in a clock, in units of 1/256; 0: no bound.
        """
    def usage(self, *, context: int = 0) -> dict[str, int]:
        """How a context has used the NIC, with `cluster="rtl"`.

        `handlers`, `clocks`, `budget_ends`, `failures`; bytes `host_written`, `host_read`, `sent`; `dropped_bound`.
        """
    def read_host(self, offset: int, size: int, *, context: int = 0) -> bytes:
        """Reads host memory of a context."""
    def write_host(self, offset: int, data: bytes, *, context: int = 0) -> None: ...
    @overload
    def variable(self, name: str, *, context: int = 0) -> bytes: ...
    @overload
    def variable(self, name: str, format: str, *, context: int = 0) -> Any:
        """Reads a global variable of the handlers, as bytes or with a format of the module `struct`.

        `variable("total", "I")` is a number, `variable("sizes", "4H")` a tuple. The default byte order is
        little-endian.
        """
    @overload
    def set_variable(self, name: str, value: bytes, *, context: int = 0) -> None: ...
    @overload
    def set_variable(self, name: str, value: object, format: str, *, context: int = 0) -> None:
        """Writes a global variable of the handlers: bytes, or a value or tuple with a format."""

class Nic(Session):
    """A simulated NIC with handlers, from a folder with a Makefile or an ELF file.

    Without handlers, sessions of several owners open programs of their own.
    """

    def __init__(
        self,
        handlers: Union[str, os.PathLike[str], None] = None,
        rules: Union[str, os.PathLike[str], None] = None,
        *,
        handler: Optional[str] = None,
        cluster: str = "model",
        clusters: int = 2,
        hpus: int = 8,
        cluster_mhz: Optional[float] = None,
        core_mhz: float = 250.0,
        host_latency_ns: int = 450,
        watchdog: int = 1_000_000,
    ) -> None: ...
    def open(
        self,
        handlers: Union[str, os.PathLike[str]],
        rules: Union[str, os.PathLike[str], None] = None,
        *,
        handler: Optional[str] = None,
    ) -> Session:
        """Opens handlers of another owner while others run; the NIC has to be one without handlers of its own."""
    def run(
        self,
        packets: Iterable[Packet],
        *,
        on_frame: Optional[Callable[[Frame], object]] = None,
        gbps: Optional[float] = None,
    ) -> Result:
        """Runs until the NIC has processed all packets.

        An exception in `packets` or `on_frame` ends the run and is raised here.

        Packets without a time arrive at `gbps`. Without `gbps` they arrive as fast as the NIC accepts them, and none is
        dropped. Warns with `DropWarning` if packets were dropped.
        """
    @property
    def now_ns(self) -> float:
        """Simulated time since the NIC was created."""

def set_data(folder: Union[str, os.PathLike[str]]) -> None: ...
def runtime() -> os.PathLike[str]: ...
