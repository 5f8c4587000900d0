# SPDX-License-Identifier: LGPL-2.1-only
"""Traces on demand of a Python program that was started without LD_PRELOAD.

xsprof.pth imports this when Python starts, where XSPROF_ONDEMAND is set. The collector of
PyTorch's ops has to be in the process, for all to use (RTLD_GLOBAL), before PyTorch is loaded:
calls inside of PyTorch then find its functions first. It needs the C library only and does nothing
before that.

Whatever goes wrong here is said, and the program goes on without it.
"""
import os
import sys

NAME = "libxsprof-torch.so"


def load():
    """Load the collector, if the process serves requests and does not have it yet."""
    if os.environ.get("XSPROF_ONDEMAND", "0") in ("", "0"):
        return
    import ctypes

    from ._lib import find

    try:
        # By its name alone it is the one that was preloaded, from wherever.
        ctypes.CDLL(NAME, mode=os.RTLD_NOLOAD)
    except OSError:
        ctypes.CDLL(find(NAME), mode=os.RTLD_GLOBAL)


try:
    load()
except Exception as err:  # no program fails to start because of this
    sys.stderr.write("xsprof: XSPROF_ONDEMAND: {}: this process does not listen to xsprof ctl: "
                     "install the package anew, or unset the variable\n".format(err))
