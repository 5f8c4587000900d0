#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Changes bytes inside the chunks of a capture, corrects the checksums, and runs every tool on the
result: none may crash or hang, and JSON must stay valid for viewers.

usage: fuzz.py FILE.data XSPROF CHECK_CHROME CHECK_PERFETTO ROUNDS [SEED]

Leaves the first failing capture as fuzz-failed.data. Prints TAP.
"""
import json
import random
import struct
import subprocess
import sys

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)

RING, KERNEL, FTRACE, HEADER, CHUNK = 5, 12, 13, 64, 64


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def chunks(data):
    at = HEADER
    while at + CHUNK <= len(data):
        kind, = struct.unpack_from("<H", data, at + 4)
        stored, = struct.unpack_from("<I", data, at + 8)
        yield at, kind, stored
        at += CHUNK + (stored + 7 & ~7)


def damage(data, rng):
    for at, kind, stored in list(chunks(data)):
        # Mostly records; sometimes a clock, a name, a process.
        if not stored or rng.random() > (0.9 if kind in (RING, FTRACE) else 0.1):
            continue
        for _ in range(rng.randint(1, 12)):
            where = at + CHUNK + rng.randrange(stored)
            data[where] = rng.choice((0, 1, 2, 3, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        struct.pack_into("<I", data, at + 48, crc32c(data[at + CHUNK:at + CHUNK + stored]))
        struct.pack_into("<I", data, at + 52, crc32c(data[at:at + 52]))


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=60)
    if done.returncode not in (0, 1, 3, 4) or b"Sanitizer" in done.stderr:
        raise AssertionError("%s: exit status %d: %s" % (
            command, done.returncode, done.stderr[-2000:].decode("utf-8", "replace")))
    return done


def no_constant(text):
    raise AssertionError("not JSON: " + text)


def block(size):
    """A damaged record may have any size; the sign depends on its type."""
    return min(size, (1 << 64) - size, (1 << 63) - 1)


def try_all(path, xsprof, check, check_perfetto):
    text = run(xsprof, "dump", path)
    if text.returncode == 1:
        return 0
    lines = text.stdout.count(b"\n")
    text.stdout.decode("utf-8")
    for byte in text.stdout:
        if byte < 32 and byte != 10 or byte == 127:
            raise AssertionError("a control character in the text")
    nd = run(xsprof, "dump", "-f", "ndjson", path).stdout.decode("utf-8").splitlines()
    events = [json.loads(line, parse_constant=no_constant) for line in nd]
    if len(nd) != lines:
        raise AssertionError("%d lines of text, %d of ndjson" % (lines, len(nd)))
    # Ranges that were open when a process ended are no events.
    lines -= sum(e["type"] == "open" for e in events)
    run(xsprof, "dump", "-f", "chrome", "-o", path + ".json", path)
    run(sys.executable, check, path + ".json", str(lines))
    done = subprocess.run([sys.executable, check, path + ".json", str(lines)],
                          capture_output=True)
    if done.returncode:
        raise AssertionError(done.stdout.decode())
    kineto = run(xsprof, "dump", "-f", "kineto", path).stdout
    json.loads(kineto.decode("utf-8"), parse_constant=no_constant)
    run(xsprof, "dump", "-f", "perfetto", "-o", path + ".pf", path)
    done = subprocess.run([sys.executable, check_perfetto, path + ".pf", str(lines)],
                          capture_output=True)
    if done.returncode:
        raise AssertionError((done.stdout + done.stderr).decode())
    used = sum(block(e["bytes"]) * (1 if e["type"] == "alloc" else -1)
               for e in events if e["type"] in ("alloc", "free") and "bytes" in e)
    for verb in "report", "info":
        run(xsprof, verb, path)
        out = run(xsprof, verb, "--json", path).stdout
        said = json.loads(out.decode("utf-8"), parse_constant=no_constant)
        for row in said.get("ranges", []):
            ns = row.get("cause", {"wall_ns": 0})
            parts = sum(v for k, v in ns.items() if k not in ("wall_ns", "faults"))
            # Sums of invalid times are modulo 2^64.
            if (parts - ns["wall_ns"]) % (1 << 64):
                raise AssertionError("the time of a row does not add up: %s" % row)
        if verb == "report" and "memory" in said:
            memory = said["memory"]
            parts = sum(row["self_cpu_bytes"] + row["self_device_bytes"]
                        for row in said["ranges"]) if memory["records"] else 0
            for key in "in_no_range", "without_times":
                parts += memory[key]["cpu_bytes"] + memory[key]["device_bytes"]
            if (parts - used) % (1 << 64) and not memory["left_out"]:
                raise AssertionError("%d bytes are not %d" % (parts, used))
    run(xsprof, "report", "--by", "name,thread,process,category,shape", path)
    run(xsprof, "report", "--by", "module", path)
    run(xsprof, "report", "--by", "line,name", path)
    for steps in "--steps", "--steps=*":
        run(xsprof, "report", steps, path)
        out = run(xsprof, "report", steps, "--json", path).stdout
        said = json.loads(out.decode("utf-8"), parse_constant=no_constant)
        for step in said["steps"]:
            parts = sum(v for k, v in step.items() if k.endswith("_ns") and
                        k not in ("begin_ns", "end_ns", "wall_ns"))
            if parts != step["wall_ns"]:
                raise AssertionError("the time of a step does not add up: %s" % step)
    for what in ["--why", "*"], ["--gaps"]:
        run(xsprof, "report", *what, path)
        done = run(xsprof, "report", "--json", "-n", "20", *what, path)
        if done.returncode != 1:
            why = json.loads(done.stdout.decode("utf-8"), parse_constant=no_constant)
            for w in why.get("ranges") or why.get("gaps"):
                if sum(c["ns"] for c in w["causes"]) != w["wall_ns"]:
                    raise AssertionError("causes do not add up: %s" % w)
    return lines


def main():
    source, xsprof, check, check_perfetto, rounds = sys.argv[1:6]
    seed = int(sys.argv[6]) if len(sys.argv) > 6 else random.randrange(1 << 32)
    rng = random.Random(seed)
    whole = open(source, "rb").read()
    good = lines = 0
    for n in range(int(rounds)):
        data = bytearray(whole)
        damage(data, rng)
        path = source + ".fuzz"
        with open(path, "wb") as f:
            f.write(data)
        try:
            shown = try_all(path, xsprof, check, check_perfetto)
        except (AssertionError, subprocess.TimeoutExpired, UnicodeDecodeError, ValueError) as why:
            with open("fuzz-failed.data", "wb") as f:
                f.write(data)
            print("1..1\n# round %d of seed %d: %s" % (n, seed, str(why).replace("\n", "\n# ")))
            print("not ok 1 damaged captures")
            sys.exit(1)
        good += shown > 0
        lines += shown
    # A fuzzer whose files are all refused tests nothing.
    print("1..1\n%s 1 %d damaged captures, seed %d: %d were read, %d events" % (
        "ok" if good > int(rounds) // 2 else "not ok", int(rounds), seed, good, lines))
    sys.exit(good <= int(rounds) // 2)


if __name__ == "__main__":
    main()
