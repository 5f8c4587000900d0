# SPDX-License-Identifier: GPL-2.0-only
#
# A SYCL program, by dpctl, on OpenCL's device: a kernel in an in-order and in an out-of-order
# queue, copies and sets of unified shared memory. It prints what it did as JSON, with
# CLOCK_MONOTONIC around each phase. Usage: sycl-work.py

import json
import sys
import time

import dpctl
import dpctl.memory
import dpctl.program
import numpy as np

N = 4096
SOURCE = "__kernel void twice(__global int *a) { a[get_global_id(0)] *= 2; }"


def main():
    queue = dpctl.SyclQueue("opencl:cpu", property="in_order")
    other = dpctl.SyclQueue(queue.sycl_context, queue.sycl_device)
    device, shared = (kind(N * 4, queue=queue) for kind in
                      (dpctl.memory.MemoryUSMDevice, dpctl.memory.MemoryUSMShared))
    host = np.arange(N, dtype=np.int32)
    source = dpctl.program.create_program_from_source(queue, SOURCE)
    kernel = source.get_sycl_kernel("twice")
    phases = []

    def phase(name, commands, does):
        first = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        does()
        queue.wait()
        other.wait()
        phases.append([name, commands, first, time.clock_gettime_ns(time.CLOCK_MONOTONIC)])

    def copies():
        device.copy_from_host(host.view("u1"))
        queue.memcpy(shared, device, N * 4)

    def kernels():
        for _ in range(20):
            queue.submit(kernel, [shared], [N])

    def others():
        for _ in range(3):
            other.submit(kernel, [shared], [N]).wait()

    phase("copies", 2, copies)
    phase("kernels", 20, kernels)
    phase("others", 3, others)
    got = shared.copy_to_host().view(np.int32)
    phase("sets", 1, lambda: device.memset(7))
    json.dump({
        "right": bool((got == host << np.int32(23)).all()),
        "device": queue.sycl_device.name, "queues": 2, "phases": phases,
        "kernels": {"twice": 23},
        "bytes": {"Memcpy (USM)": [3, 3 * N * 4], "Memset (USM)": [1, N * 4]},
    }, sys.stdout)


main()
