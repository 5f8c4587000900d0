#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# The size of a capture's records on disk: bytes for two records, a begin and an end, once counting
# the chunks with records (with headers and padding), once the whole file. Walks the chunks itself,
# by the format's description. Usage: disk.py FILE...   (prints their sum)

import struct
import sys

HEADER = struct.Struct("<QHHI")
CHUNK = struct.Struct("<IHHIIIIQQQIIQ")
MAGIC = 0x0a31706143707358
CHUNK_MAGIC = 0x4b6e6843
RING = 5
SLOT = 32


def walk(path):
    """Bytes of the file, bytes of its ring chunks, slots in them."""
    with open(path, "rb") as f:
        data = f.read()
    magic, major, _, at = HEADER.unpack_from(data)
    if magic != MAGIC or major != 1:
        sys.exit(f"disk.py: {path}: not a capture of version 1")
    ring = slots = 0
    while at + CHUNK.size <= len(data):
        head = CHUNK.unpack_from(data, at)
        if head[0] != CHUNK_MAGIC:
            sys.exit(f"disk.py: {path}: no chunk at byte {at}")
        size = CHUNK.size + (head[3] + 7) // 8 * 8
        if head[1] == RING:
            ring += size
            slots += head[4] // SLOT
        at += size
    return len(data), ring, slots


def main():
    files = [walk(path) for path in sys.argv[1:]]
    whole, ring, slots = (sum(column) for column in zip(*files))
    if not slots:
        sys.exit("disk.py: no records")
    print(f"{2 * ring / slots:.4f}\t{2 * whole / slots:.4f}\t{slots}")


if __name__ == "__main__":
    main()
