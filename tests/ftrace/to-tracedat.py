#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# to-tracedat.py CAPTURE OUT: writes a capture's kernel events as a trace-cmd file (version 6), so
# that trace-cmd report reads the same sub-buffers: an independent reader to compare with, and to
# measure against. Written from format.rst and trace-cmd.dat(5); shares no code with the tools.
import struct
import sys

CHUNK = struct.Struct("<IHHIIIIQQQIIQ")
CHUNK_KERNEL, CHUNK_FTRACE = 12, 13
INFO, FORMAT, SYMBOLS, TASKS, PRINTK = 1, 2, 3, 4, 5


def chunks(data):
    off = struct.unpack_from("<I", data, 12)[0]
    while off + CHUNK.size <= len(data):
        head = CHUNK.unpack_from(data, off)
        if head[0] != 0x4b6e6843:
            sys.exit("to-tracedat: no chunk at %d" % off)
        body = off + CHUNK.size
        if head[2]:
            sys.exit("to-tracedat: record without --compress")
        yield head[1], head[6], data[body:body + head[3]]
        off = body + (head[3] + 7 & ~7)


def sections(raw):
    off = 0
    while off + 8 <= len(raw):
        kind, length = struct.unpack_from("<II", raw, off)
        yield kind, raw[off + 8:off + 8 + length]
        off += 8 + (length + 7 & ~7)


def sized(fmt, data):
    return struct.pack(fmt, len(data)) + data


def main():
    data = open(sys.argv[1], "rb").read()
    info, own, systems, symbols, printk, tasks, cpus = {}, [], {}, b"", b"", {}, {}
    for kind, ring, raw in chunks(data):
        if kind == CHUNK_FTRACE:
            cpus.setdefault(ring, []).append(raw)
        if kind != CHUNK_KERNEL:
            continue
        for section, text in sections(raw):
            if section == INFO:
                info.update(line.split("=", 1) for line in text.decode().splitlines())
            elif section == FORMAT:
                system, text = text.split(b"\n", 1)
                (own if system == b"ftrace" else systems.setdefault(system, [])).append(text)
            elif section == SYMBOLS:
                symbols += b"".join(line.replace(b" ", b" t ", 1) + b"\n"
                                    for line in text.splitlines())
            elif section == TASKS:
                for line in text.decode(errors="replace").splitlines():
                    tid, _, comm = line.split(" ", 2)
                    tasks[tid] = comm
            elif section == PRINTK:
                printk += text
    page, data_off = int(info["subbuf_size"]), int(info["data_offset"])
    out = bytearray(b"\x17\x08\x44tracing6\0" + bytes([0, int(info["long_size"])]))
    out += struct.pack("<I", page)
    out += b"header_page\0" + sized("<Q", (
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:%s;\tsize:%s;\tsigned:1;\n"
        "\tfield: int overwrite;\toffset:%s;\tsize:1;\tsigned:1;\n"
        "\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:0;\n" % (
            info["commit_offset"], info["long_size"], info["commit_offset"], data_off,
            page - data_off)).encode())
    out += b"header_event\0" + sized("<Q", (
        b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
        b"\tarray       :   32 bits\n\n\tpadding     : type == 29\n"
        b"\ttime_extend : type == 30\n\ttime_stamp : type == 31\n"
        b"\tdata max type_len  == 28\n"))
    out += struct.pack("<I", len(own)) + b"".join(sized("<Q", text) for text in own)
    out += struct.pack("<I", len(systems))
    for system, texts in systems.items():
        out += system + b"\0" + struct.pack("<I", len(texts))
        out += b"".join(sized("<Q", text) for text in texts)
    out += sized("<I", symbols) + sized("<I", printk)
    out += sized("<Q", "".join("%s %s\n" % t for t in tasks.items()).encode())
    nr = max(cpus) + 1
    out += struct.pack("<I", nr) + b"options  \0" + struct.pack("<H", 0) + b"flyrecord\0"
    place = len(out) + 16 * nr
    bodies, table = [], b""
    for cpu in range(nr):
        body = b"".join(cpus.get(cpu, []))
        place = (place + page - 1) // page * page
        table += struct.pack("<QQ", place, len(body))
        bodies.append((place, body))
        place += len(body)
    out += table
    with open(sys.argv[2], "wb") as file:
        file.write(out)
        for place, body in bodies:
            file.seek(place)
            file.write(body)


main()
