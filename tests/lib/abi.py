#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a ring file by the offsets that Documentation/format.rst and abi.h state, as plain numbers:
this finds a layout change even if the static assertions were changed with it."""
import struct
import sys

MAGIC = ~int.from_bytes(b"xsprofR1", "little") & 0xFFFFFFFFFFFFFFFF
tests = failures = 0


def result(ok, name):
    global tests, failures
    tests += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {tests} {name}")


def u16(at):
    return struct.unpack_from("<H", data, at)[0]


def u32(at):
    return struct.unpack_from("<I", data, at)[0]


def u64(at):
    return struct.unpack_from("<Q", data, at)[0]


data = open(sys.argv[1], "rb").read()
page, nr, nl = u32(76), u32(84), u32(88)
size, stride, rings, arena, arena_size, total = (u64(at) for at in range(96, 144, 8))
result(u64(64) == MAGIC, "magic at 64")
result((u16(72), u16(74)) == (1, 1), "version at 72")
result(total == len(data) and stride == 2 * page + size and rings == arena + arena_size
       and total == rings + (nr + nl) * stride and size == 65536, "geometry at 76 to 143")
result(u64(0) & 1 == 1 and u64(16) == u64(0), "enabled at 0, wanted at 16")
result(f".{u32(144)}.{u64(160)}." in sys.argv[1], "pid at 144, start time at 160")
result(u32(156) == 2, "state at 156: exited")

names, at = {}, arena + 64
facts = []
while at < arena + 64 + u64(arena):
    length, kind, text_len, ident = u32(at), u16(at + 4), u16(at + 6), u32(at + 8)
    text = data[at + 16:at + 16 + text_len].decode()
    if kind == 2:
        names[ident] = text
    elif kind == 4:
        facts.append(text)
    at += length
result("static constructor" in names.values() and "env.LOCAL_RANK=3" in facts,
       "names and facts in the arena")

seen, whole, count = [], True, 0
for k in range(nr + nl):
    ring = rings + k * stride
    if not u64(1024 + k // 64 * 8) >> (k % 64) & 1:
        continue
    head, pos, last = u64(ring), 0, 0
    whole &= u32(ring + 40) == (1 if k < nr else 2)
    whole &= u32(ring + 44) == (k if k < nr else 0xFFFFFFFF)
    while pos < head:
        slot = ring + 2 * page + pos * 32
        slots, ts = data[slot + 5] & 15, u64(slot + 8)
        whole &= 1 <= slots <= 8 and pos % 128 + slots <= 128 and ts >= last
        seen.append((ts, data[slot + 4], names.get(u32(slot + 16), "")))
        last = ts
        pos += max(slots, 1)
        count += 1
seen.sort()
result(whole and count > 30, f"{count} records, each whole")
result(seen[0][1:] == (4, "static constructor") and seen[-1][1:] == (4, "static destructor"),
       "the first and the last of them")
result(sum(1 for s in seen if s[1] == 1 and s[2] == "thrower") == 10 and
       sum(1 for s in seen if s[1] == 2 and s[2] == "thrower") == 10, "10 ranges, begun and ended")
print(f"1..{tests}")
sys.exit(failures != 0)
