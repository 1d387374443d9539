#!/usr/bin/env python3
"""between.py LISTEN CONNECT spoil|remove: stands between a virtual machine and a PCI device of vfio-user.

spoil: after the first reads of the application BAR, one of some answers is all ones, any number, an error, or late, in turn.
remove: SIGUSR1 removes the device: it gets no more requests, reads are all ones, writes are lost. A device that ends cannot
test this, because QEMU 11.1 then ends with a failed assertion.
"""

import array
import random
import signal
import socket
import struct
import sys
import threading
import time

HEADER = struct.Struct("=HHIII")
REGION_READ = 9
REGION_WRITE = 10
IS_REPLY = 1
NO_REPLY = 1 << 4
IS_ERROR = 1 << 5
EIO = 5
# Header of an access to a region: offset, region, count.
ACCESS = struct.Struct("=QII")
APPLICATION_BAR = 0
# Number of reads with correct answers, so that the driver starts; then one of ONE_OF has a wrong answer.
HONEST = 1500
ONE_OF = 50
LATE_S = 0.3
MOST_FILES = 16
# Requests before the removal are answered within this time.
DRAIN_S = 0.2


def receive(end, count):
    """Returns that many bytes and the files received with them; None when the other side has disconnected."""
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


def answer_of_nobody(message):
    """Returns the answer for a missing device; nothing if no answer is expected."""
    identity, command, _, flags, _ = HEADER.unpack_from(message)
    body = b""
    if command in (REGION_READ, REGION_WRITE):
        body = message[HEADER.size : HEADER.size + ACCESS.size]
    if command == REGION_READ:
        body += b"\xff" * ACCESS.unpack(body)[2]
    header = HEADER.pack(identity, command, HEADER.size + len(body), IS_REPLY, 0)
    return None if flags & NO_REPLY else header + body


def messages(source):
    """Yields whole messages and their files, until the other side disconnects."""
    while (received := receive(source, HEADER.size)) is not None:
        header, files = received
        size = HEADER.unpack(header)[2]
        received = receive(source, size - HEADER.size) if size > HEADER.size else (b"", [])
        if received is None:
            return
        yield header + received[0], files + received[1]


def send(target, message, files):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
    sent = target.sendmsg([message], rights)
    target.sendall(message[sent:])
    for file in files:
        socket.close(file)


def back(device, machine, spoiler, gone):
    """Forwards answers until the device disconnects. If that was not requested, the machine is disconnected as well."""
    for message, files in messages(device):
        send(machine, spoiler.spoil(message) if spoiler else message, files)
    if not gone.is_set():
        machine.shutdown(socket.SHUT_RDWR)


def main():
    listen, connect, kind = sys.argv[1:]
    gone = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: gone.set())
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(listen)
    listener.listen(1)
    machine, _ = listener.accept()
    device = socket.socket(socket.AF_UNIX)
    device.connect(connect)
    spoiler = Spoiler() if kind == "spoil" else None
    threading.Thread(target=back, args=(device, machine, spoiler, gone), daemon=True).start()
    left_alone = False
    for message, files in messages(machine):
        if not gone.is_set():
            send(device, message, files)
            continue
        if not left_alone:
            left_alone = True
            time.sleep(DRAIN_S)
            device.shutdown(socket.SHUT_RDWR)
        if (answer := answer_of_nobody(message)) is not None:
            machine.sendall(answer)
    if spoiler:
        print(f"{spoiler.spoilt} of {spoiler.reads} answers were spoilt", flush=True)


if __name__ == "__main__":
    main()
