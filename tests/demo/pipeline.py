#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# The demo's NVTX program: threads pack and parse batches of JSON for a consumer, with a queue
# between them. It marks its work with NVIDIA's package nvtx only, and does not use xsprof: ranges
# with payloads and categories, a batch's life from one thread to another, and the number of waiting
# batches. Usage: pipeline.py [BATCHES]

import json
import queue
import sys
import threading
import zlib

import nvtx

LOADERS = 2


def load(number, batches, ready, depth):
    """Handles every LOADERS-th batch: make, pack, unpack, parse."""
    nvtx.push_range(f"loader {number}", domain="pipeline")
    for i in range(number, batches, LOADERS):
        life = nvtx.start_range("batch", domain="pipeline", payload=i)
        with nvtx.annotate("pack", domain="pipeline", category="zlib", payload=i):
            rows = [{"id": i * 1000 + k, "text": f"row {k} of batch {i}"} for k in range(1000)]
            packed = zlib.compress(json.dumps(rows).encode(), 6)
        with nvtx.annotate("unpack", domain="pipeline", category="zlib", payload=len(packed)):
            text = zlib.decompress(packed)
        with nvtx.annotate("parse", domain="pipeline", category="json", color="blue"):
            rows = json.loads(text)
        with nvtx.annotate("wait for room", domain="pipeline"):
            ready.put((i, life, rows))
        depth.sample(ready.qsize())
    nvtx.pop_range(domain="pipeline")


@nvtx.annotate("consume", domain="pipeline", color="green")
def consume(rows):
    return sum(row["id"] for row in rows)


def main():
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    ready = queue.Queue(maxsize=4)
    depth = nvtx.get_domain("pipeline").get_counter("batches ready", int)
    threads = [threading.Thread(target=load, args=(n, batches, ready, depth))
               for n in range(LOADERS)]
    for thread in threads:
        thread.start()
    total = 0
    for _ in range(batches):
        with nvtx.annotate("wait for a batch", domain="pipeline"):
            i, life, rows = ready.get()
        total += consume(rows)
        nvtx.end_range(life)
        if i % 50 == 0:
            nvtx.mark("checkpoint", domain="pipeline", payload=total)
    for thread in threads:
        thread.join()
    print(f"pipeline: {batches} batches, the sum of their ids is {total}", flush=True)


if __name__ == "__main__":
    main()
