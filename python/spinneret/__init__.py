"""A simulated sPIN NIC that runs handlers on packets.

>>> import spinneret
>>> nic = spinneret.Nic("hello")                    # a folder from `spinneret new hello`
>>> result = nic.run([packet, packet])              # bytes, or scapy packets
>>> result
<Result of 2 packets: 2 replies>
>>> result.replies[0].time_ns, bytes(result.replies[0])
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Iterable, Optional, Union

from . import _spinneret
from ._packet import Packet
from ._spinneret import DropWarning, Error, Fault, Frame, Nic, Result, Session, __version__

__all__ = [
    "DropWarning",
    "Error",
    "Fault",
    "Frame",
    "HandlerFault",
    "Nic",
    "Packet",
    "Result",
    "Session",
    "__version__",
    "example",
    "run",
]

_DATA = Path(__file__).parent / "data"
_spinneret.set_data(_DATA)


class HandlerFault(Error):
    """Handlers failed. `result` is the complete result of the run."""

    result: Result

    def __init__(self, result: Result) -> None:
        super().__init__("\n".join(str(fault) for fault in result.faults))
        self.result = result


def run(
    handlers: Union[str, os.PathLike[str]],
    packets: Iterable[Packet],
    rules: Union[str, os.PathLike[str], None] = None,
    *,
    handler: Optional[str] = None,
    cluster: str = "model",
    clusters: int = 2,
    hpus: int = 8,
    on_frame: Optional[Callable[[Frame], object]] = None,
    gbps: Optional[float] = None,
    check: bool = False,
) -> Result:
    """Runs handlers on packets, on a new NIC. With `check`, a failed handler raises `HandlerFault`."""
    nic = Nic(handlers, rules, handler=handler, cluster=cluster, clusters=clusters, hpus=hpus)
    result = nic.run(packets, on_frame=on_frame, gbps=gbps)
    if check and result.faults:
        raise HandlerFault(result)
    return result


def example(name: str) -> Path:
    """Returns the folder of an example, such as `icmp_ping`."""
    folder = Path(_spinneret.runtime()) / "examples" / name
    if not folder.is_dir():
        names = ", ".join(sorted(path.name for path in folder.parent.iterdir() if path.is_dir()))
        raise Error(f"there is no example `{name}`; there are {names}")
    return folder
