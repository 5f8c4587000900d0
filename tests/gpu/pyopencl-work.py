# SPDX-License-Identifier: GPL-2.0-only
#
# A PyOpenCL program on the platform whose name begins with PLATFORM: kernels with arrays, copies,
# fills, two queues and a thread. It prints what it did as JSON, with CLOCK_MONOTONIC around each
# phase and the runtime's times of kernels. Usage: pyopencl-work.py PLATFORM

import json
import sys
import threading
import time

import numpy as np
import pyopencl as cl
import pyopencl.array

N = 4096
SOURCE = """
__kernel void add(__global float *a, __global const float *b)
{
    int i = get_global_id(0);
    a[i] += b[i];
}
__kernel void scale(__global float *a, float by)
{
    a[get_global_id(0)] *= by;
}
"""


def main():
    platform = next(p for p in cl.get_platforms() if p.name.startswith(sys.argv[1]))
    device = platform.get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    timed = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    program = cl.Program(context, SOURCE).build()
    add, scale = program.add, program.scale
    host = np.arange(N, dtype=np.float32)
    a = cl.Buffer(context, cl.mem_flags.READ_WRITE, host.nbytes)
    b = cl.Buffer(context, cl.mem_flags.READ_WRITE, host.nbytes)
    phases = []

    def phase(name, commands, does):
        first = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        does()
        queue.finish()
        timed.finish()
        phases.append([name, commands, first, time.clock_gettime_ns(time.CLOCK_MONOTONIC)])

    def copies():
        cl.enqueue_copy(queue, a, host)
        cl.enqueue_copy(queue, b, a)
        cl.enqueue_fill_buffer(queue, b, np.float32(1), 0, host.nbytes // 2)

    def adds():
        for _ in range(100):
            add(queue, (N,), (64,), a, b)

    def scales():
        events.extend(scale(timed, (N,), None, a, np.float32(1)) for _ in range(50))

    def of_a_thread():
        thread = threading.Thread(target=adds)
        thread.start()
        thread.join()

    events = []
    phase("copies", 3, copies)
    phase("adds", 100, adds)
    phase("scales", 50, scales)
    phase("thread", 100, of_a_thread)
    got = np.empty_like(host)
    cl.enqueue_copy(queue, got, a)
    # As programs do: arrays, whose operations the package compiles to kernels.
    array = cl.array.to_device(queue, host)
    twice = (array + array).get()
    json.dump({
        "right": bool((twice == 2 * host).all()) and float(got[0]) == 200.0,
        "device": device.name, "queues": 2, "phases": phases,
        "kernels": {"add": 200, "scale": 50},
        "scale_ns": sum(e.profile.end - e.profile.start for e in events),
        # Including arrays: one to the device, one back.
        "bytes": {"Memcpy HtoD (WriteBuffer)": [2, 2 * host.nbytes],
                  "Memcpy DtoH (ReadBuffer)": [2, 2 * host.nbytes],
                  "Memcpy DtoD (CopyBuffer)": [1, host.nbytes],
                  "Memset (FillBuffer)": [1, host.nbytes // 2]},
    }, sys.stdout)


main()
