# SPDX-License-Identifier: LGPL-2.1-only
"""The command xsprof: it becomes the tool, which is a program of its own beside the libraries."""
import os
import signal
import sys


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "xsprof")
    # The tool acts by the name that it is called by.
    name = os.path.basename(sys.argv[0])
    # Python ignores these, and what is executed would inherit it.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(path, [name if name == "xsprof-dump" else "xsprof"] + sys.argv[1:])
    except OSError as err:
        sys.exit("xsprof: {}: {}: install the package anew".format(path, err.strerror))


if __name__ == "__main__":
    main()
