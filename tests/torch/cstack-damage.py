# SPDX-License-Identifier: GPL-2.0-only
"""cstack-damage.py LIBRARY N: makes N copies of the library, damaged.0.so and so on, with broken
unwind information: in its numbers, in the table that finds it, or in the data that these point to;
or the mapped part is no longer in the file."""
import random
import struct
import sys

good = open(sys.argv[1], "rb").read()
table, names = struct.unpack_from("<Q", good, 40)[0], struct.unpack_from("<H", good, 62)[0]
heads = [struct.unpack_from("<IIQQQQIIQQ", good, table + 64 * i)
         for i in range(struct.unpack_from("<H", good, 60)[0])]
sections = {}
for head in heads:
    at = heads[names][4] + head[0]
    sections[good[at:good.index(b"\0", at)]] = head[4:6]
(frames, frames_size), (index, index_size) = sections[b".eh_frame"], sections[b".eh_frame_hdr"]


def entries():
    at = frames
    while at < frames + frames_size and (size := struct.unpack_from("<I", good, at)[0]):
        yield at
        at += 4 + size


def lies():
    """Returns (offset, number) of fields that are sizes or offsets."""
    headers, nr = struct.unpack_from("<Q", good, 32)[0], struct.unpack_from("<H", good, 56)[0]
    for at in range(headers, headers + 56 * nr, 56):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", good, at)
        if kind == 1 and offset <= frames < offset + size:
            yield at + 8, 0x10000000 | offset & 0xfff
    for number in 0x7fffffff, 0x10000:
        yield index + 8, number
    for at in entries():
        yield at, 0xfffffffe
        yield at, 0x00fffff0
        if struct.unpack_from("<I", good, at + 4)[0]:
            yield at + 4, 0x0ffffff0
            yield at + 4, 0xffffff00
    for at in range(index + 12, index + index_size - 3, 4):
        yield at, 0x0f000000
        yield at, 0x8f000000


dice = random.Random(1)
plain = [(place, struct.pack("<I", number)) for place, number in lies()]
for i in range(int(sys.argv[2])):
    bad = bytearray(good)
    if i < len(plain):
        place, number = plain[i]
        bad[place:place + 4] = number
    else:
        start, size = (frames, frames_size) if i % 2 else (index + 4, index_size - 4)
        for _ in range(dice.randint(1, 6)):
            bad[start + dice.randrange(size)] = dice.choice((0, 1, 0x7f, 0x80, 0xff,
                                                             dice.randrange(256)))
    with open("damaged.%d.so" % i, "wb") as file:
        file.write(bad)
print(len(plain), "numbers that lie")
