#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Markers of the Python package, with each installed Python: recorded by xsprof record, with exact
# counts, and with no recorder. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

# The libraries are built for this machine's glibc, so use only its Pythons.
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 6))' || continue
	"$python" "$here/markers.py" >log 2>&1
	result "$version: a program that nobody records" $?
	rm -f data
	RECORDED=1 "$xsprof" record --no-python -o data -- "$python" "$here/markers.py" >log 2>&1 &&
		"$xsprof" report --json data >report 2>>log &&
		"$dump" -q -f ndjson data >events 2>>log &&
		"$python" "$here/markers.py" check report events >>log 2>&1
	result "$version: each range, instant, counter and flow is in the trace" $?
done < <(pythons)

/usr/bin/python3 - >log 2>&1 <<'END'
import ctypes, os, pydoc, re, sys
import xsprof
assert "ctypes" not in dir(xsprof) and "xsprof._user" not in sys.modules, "import loads libraries"
assert set(xsprof.__all__) == set(xsprof._WHERE) | {"capture", "profiler"}, xsprof.__all__
for name in xsprof.__all__:
    assert getattr(xsprof, name).__doc__, name + " has no docstring"
text = pydoc.plain(pydoc.render_doc(xsprof))
for name in ("class range", "def counter", "def open", "class profile"):
    assert re.search(r"^ +" + name.split()[-1] + r"|" + name.split()[-1] + r"\(", text, re.M), name
try:
    xsprof.nothing
    raise SystemExit("a name that is not there")
except AttributeError:
    pass
END
result "importing it loads nothing; each name has a text for help()" $?

/usr/bin/python3 - >log 2>&1 <<'END'
import xsprof
from xsprof import _marker
assert not xsprof.enabled()

class Nothing:
    def __getattr__(self, name):
        raise AssertionError("a marker that nobody records calls " + name)

_marker._calls = Nothing()
for name in ("_emit", "_emit_begin", "_emit_end_of", "_intern", "_id"):
    setattr(_marker, name, Nothing())
with xsprof.range("a", category="b", n=1):
    xsprof.instant("a", n=1)
    xsprof.counter("a", 1)
    xsprof.flow_begin("a", 1)
    xsprof.args(n=1)
    xsprof.step(1)
assert xsprof.annotate(lambda: 5)() == 5
END
result "a marker that nobody records calls nothing of the library" $?

# The wheel's script imports this before it executes the tool.
/usr/bin/python3 - >log 2>&1 <<'END'
import signal, subprocess, sys
SIGINT = signal.SIGINT
PROGRAM = """
import os, signal, sys, xsprof._command
assert "subprocess" not in sys.modules and "xsprof._lib" not in sys.modules
os.kill(os.getpid(), signal.SIGINT)
"""
for before, status in (signal.SIG_DFL, -SIGINT), (signal.SIG_IGN, 0):
    done = subprocess.run([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(SIGINT, before))
    assert (done.returncode, done.stderr) == (status, b""), done
END
result "the command: Ctrl-C before the tool runs ends it without a traceback" $?

mkdir -p there/xsprof other
cp -r "${PYTHONPATH:?}/xsprof/." there/xsprof/
mkdir there/xsprof/lib
touch there/xsprof/lib/one.so other/one.so other/two.so
PYTHONPATH=there XSPROF_LIBDIR=other /usr/bin/python3 - >log 2>&1 <<'END'
import os
from xsprof._lib import find
assert find("one.so") == os.path.abspath("there/xsprof/lib/one.so"), find("one.so")
assert (find("two.so"), find("three.so")) == ("other/two.so", "three.so"), find("two.so")
END
result "libraries: the package's own folder, then XSPROF_LIBDIR, then the loader's" $?

# Without a library it says what to do.
XSPROF_LIBDIR=$dir /usr/bin/python3 - >log 2>&1 <<'END'
try:
    from xsprof import range
    raise SystemExit("found one")
except ImportError as err:
    assert "make install" in str(err) and "XSPROF_LIBDIR" in str(err), err
END
status=$?
if ldconfig -p 2>/dev/null | grep -q 'libxsprof-user\.so\.0'; then
	skipped "without libraries: what to do" "they are installed on this machine"
else
	result "without libraries: what to do" $status
fi
finish
