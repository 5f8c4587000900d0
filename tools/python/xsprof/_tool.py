# SPDX-License-Identifier: LGPL-2.1-only
"""The tool, which is a program of its own beside the libraries: the package asks it for reports."""
import json
import os
import shutil
import subprocess
import tempfile
from typing import IO, Any, Dict, Iterator, cast

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "xsprof")
#: The tool's exit status where the capture is damaged or cut, and was read as far as it goes.
_CUT = 3


def find() -> str:
    """The tool: the package's own, else that beside XSPROF_LIBDIR, else that in PATH."""
    libraries = os.environ.get("XSPROF_LIBDIR")
    if os.path.exists(_OWN):
        return _OWN
    if libraries:
        beside = os.path.join(libraries, os.pardir, "bin", "xsprof")
        if os.path.exists(beside):
            return beside
    return shutil.which("xsprof") or _OWN


def _run(*arguments: str) -> Iterator[bytes]:
    """The lines that the tool writes."""
    command = [find(), *arguments]
    with tempfile.TemporaryFile() as said:
        try:
            tool = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=said)
        except OSError as err:
            raise RuntimeError("xsprof: {}: {}: reinstall the package, or put xsprof into "
                               "PATH".format(command[0], err.strerror)) from None
        with tool:
            yield from cast(IO[bytes], tool.stdout)
        if tool.returncode not in (0, _CUT):
            said.seek(0)
            raise RuntimeError(said.read().decode(errors="replace").strip() or
                               "xsprof: {}: exit status {}".format(arguments[0], tool.returncode))


def report(path: str, *options: str) -> Any:
    """What xsprof report --json says of a capture."""
    said = _run("report", "-q", "--json", "--allow-lost", *options, "--", path)
    return json.loads(b"".join(said))


def events(path: str, *options: str) -> Iterator[Dict[str, Any]]:
    """What xsprof dump -f ndjson says of a capture, line by line."""
    for line in _run("dump", "-q", "-f", "ndjson", "--allow-lost", *options, "--", path):
        yield json.loads(line)
