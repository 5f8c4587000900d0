# SPDX-License-Identifier: LGPL-2.1-only
"""The collector of PyTorch's ops in a Python program that was started without LD_PRELOAD.

xsprof.pth imports this when Python starts, where XSPROF_ONDEMAND is set, for traces on demand, or
where xsprof record has a session: a program may clear LD_PRELOAD for its children. The collector of
PyTorch's ops has to be in the process, for all to use (RTLD_GLOBAL), before PyTorch is loaded:
calls inside of PyTorch then find its functions first. It needs the C library only and does nothing
before that.

Whatever goes wrong here is said, and the program goes on without it.
"""
import os
import sys

NAME = "libxsprof-torch.so"


def listens() -> bool:
    return os.environ.get("XSPROF_ONDEMAND", "0") not in ("", "0")


def recorded() -> bool:
    """Does xsprof record want ops? What has its LD_PRELOAD does not come here."""
    return bool(os.environ.get("XSPROF_SESSION")) and \
        os.environ.get("XSPROF_TORCH", "off") not in ("", "off")


def load() -> None:
    """Load the collector, where a recorder or a request wants it and it is not there yet."""
    if not listens() and not recorded():
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
    variable, lost = ("XSPROF_ONDEMAND", "this process does not listen to xsprof ctl") \
        if listens() else ("XSPROF_TORCH", "PyTorch's ops are not recorded in this process")
    sys.stderr.write("xsprof: {}: {}: {}: reinstall the package, or unset the variable\n".format(
        variable, err, lost))
