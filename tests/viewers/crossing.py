# SPDX-License-Identifier: GPL-2.0-only
"""Waits for a thread from within a garbage collection until after it: the wait's span does not nest
in the collection's range, and goes to another track of the same thread."""
import gc
import sys
import threading
import time

import torch  # noqa: F401  # readers of Kineto's files expect PyTorch


def wait():
    began.set()
    time.sleep(0.01)


gc.disable()
many = [[] for _ in range(3000000)]
sys.setswitchinterval(1000)
began, waiter = threading.Event(), threading.Thread(target=wait)
waiter.start()
began.wait()
gc.collect()
end = time.thread_time() + 0.1
while time.thread_time() < end:
    pass
waiter.join()
