# SPDX-License-Identifier: LGPL-2.1-only
"""The command xsprof of a wheel: executes the tool, which is a program of its own.

Only the command may import this: Ctrl-C ends the process from here on, without a traceback. So this
comes before all else, and imports little.
"""
import signal

# A shell starts a job in the background with SIGINT ignored: the tool is to inherit that.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# pylint: disable=wrong-import-position
import os   # noqa: E402
import sys  # noqa: E402

_TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "xsprof")


def main() -> None:
    """Become the tool."""
    # The tool acts by the name that it is called by.
    name = os.path.basename(sys.argv[0])
    # Python ignores these, and what is executed would inherit it.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(_TOOL, [name if name == "xsprof-dump" else "xsprof"] + sys.argv[1:])
    except OSError as err:
        sys.exit("xsprof: {}: {}: install the package anew".format(_TOOL, err.strerror))
