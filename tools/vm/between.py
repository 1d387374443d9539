#!/usr/bin/env python3
"""between.py LISTEN CONNECT: stands between a virtual machine and a PCI device of vfio-user, and spoils answers.

After the first reads of the application BAR, one of some answers is all ones, any number, an error, or late, in turn.
"""

import array
import random
import socket
import struct
import sys
import threading
import time

HEADER = struct.Struct("=HHIII")
REGION_READ = 9
IS_ERROR = 1 << 5
EIO = 5
# What stands before the bytes of a region: offset, region, count.
ACCESS = struct.Struct("=QII")
APPLICATION_BAR = 0
# So many reads are answered as they should be, so that the driver begins; then one of so many is not.
HONEST = 1500
ONE_OF = 50
LATE_S = 0.3
MOST_FILES = 16


def receive(end, count):
    """That many bytes and the files that came with them; None when the other side is gone."""
    data, files = b"", []
    while len(data) < count:
        part, control, _, _ = end.recvmsg(count - len(data), socket.CMSG_SPACE(4 * MOST_FILES))
        if not part:
            return None
        data += part
        for level, kind, content in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                files += array.array("i", content[: len(content) - len(content) % 4])
    return data, files


class Spoiler:
    """Counts answers to reads, and makes something else of some."""

    def __init__(self):
        self.random = random.Random(1)
        self.reads = 0
        self.spoilt = 0

    def spoil(self, message):
        identity, command, _, flags, _ = HEADER.unpack_from(message)
        if command != REGION_READ or len(message) < HEADER.size + ACCESS.size:
            return message
        _, region, count = ACCESS.unpack_from(message, HEADER.size)
        if region != APPLICATION_BAR:
            return message
        self.reads += 1
        if self.reads < HONEST or self.random.randrange(ONE_OF):
            return message
        self.spoilt += 1
        before = message[: HEADER.size + ACCESS.size]
        if self.spoilt % 4 == 0:
            return before + b"\xff" * count
        if self.spoilt % 4 == 1:
            return before + self.random.randbytes(count)
        if self.spoilt % 4 == 2:
            return HEADER.pack(identity, command, HEADER.size, flags | IS_ERROR, EIO)
        time.sleep(LATE_S)
        return message


def forward(source, target, change):
    """Passes messages on until one side is gone."""
    while (received := receive(source, HEADER.size)) is not None:
        header, files = received
        size = HEADER.unpack(header)[2]
        received = receive(source, size - HEADER.size) if size > HEADER.size else (b"", [])
        if received is None:
            break
        files += received[1]
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        message = change(header + received[0])
        sent = target.sendmsg([message], rights)
        target.sendall(message[sent:])
        for file in files:
            socket.close(file)
    for end in (source, target):
        end.shutdown(socket.SHUT_RDWR)


def main():
    listen, connect = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(listen)
    listener.listen(1)
    machine, _ = listener.accept()
    device = socket.socket(socket.AF_UNIX)
    device.connect(connect)
    spoiler = Spoiler()
    back = threading.Thread(target=forward, args=(device, machine, spoiler.spoil), daemon=True)
    back.start()
    forward(machine, device, lambda message: message)
    print(f"{spoiler.spoilt} of {spoiler.reads} answers were spoilt", flush=True)


if __name__ == "__main__":
    main()
