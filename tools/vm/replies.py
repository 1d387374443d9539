#!/usr/bin/env python3
"""replies.py FILE icmp|udp COUNT: checks that a capture (pcap, as `spinneret serve --out` writes it) has at least COUNT
replies, each with correct lengths and checksums."""

import struct
import sys

PROTOCOLS = {"icmp": 1, "udp": 17}
ETHERNET_BYTES = 14
ECHO_REPLY = 0


def frames(data):
    at = 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16 : at + 16 + length]
        at += 16 + length


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def wrong(frame, protocol):
    """Returns the error of a reply, or None."""
    ip = frame[ETHERNET_BYTES:]
    length = struct.unpack_from("!H", ip, 2)[0]
    header, body = ip[:20], ip[20:length]
    if header[0] != 0x45 or header[9] != PROTOCOLS[protocol]:
        return "another protocol"
    if len(ip) < length or checksum(header) != 0xFFFF:
        return "the IP header"
    if protocol == "icmp":
        return None if body[0] == ECHO_REPLY and checksum(body) == 0xFFFF else "the echo reply"
    return None if struct.unpack_from("!H", body, 4)[0] == len(body) else "the length of the datagram"


def main():
    path, protocol, count = sys.argv[1:]
    with open(path, "rb") as file:
        replies = list(frames(file.read()))
    for number, frame in enumerate(replies):
        problem = wrong(frame, protocol)
        if problem:
            sys.exit(f"replies: {path}: {problem} of reply {number} is wrong: {frame.hex()}")
    if len(replies) < int(count):
        sys.exit(f"replies: {path} has {len(replies)} replies, and {count} are wanted")
    print(f"{len(replies)} replies are right")


if __name__ == "__main__":
    main()
