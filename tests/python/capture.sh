#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof.open(): its tables against what xsprof report, dump and info say of the same captures: of
# markers of each kind, of a program that was killed, with lost records, of a PyTorch program and
# with events of the kernel. Usage: capture.sh. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/python/start.sh
python=/usr/bin/python3
frames=
# The readers have pandas.
package_readers && { readers=$venv/bin/python; frames=FRAMES; }

# holds NAME [PYTHON [FRAMES]]: what is in $dir/data
holds()
{
	"$xsprof" report --json --allow-lost data >report 2>>log &&
		"$dump" -q --allow-lost -f ndjson data >events 2>>log &&
		"$xsprof" info --json --allow-lost data >info 2>>log &&
		"${2:-$python}" "$here/capture.py" data report events info ${3:-} >compared 2>>log
	status=$?
	result "$1: $(tail -n 1 compared)" $status
}

cat >many.py <<'END'
import os, sys, xsprof
for i in range(int(sys.argv[1])):
    with xsprof.range("outer %d" % (i % 7), n=i):
        with xsprof.range("inner"):
            xsprof.counter("i", i)
xsprof.range("left open").__enter__()
if sys.argv[2:]:
    os.kill(os.getpid(), 9)
END
RECORDED=1 "$xsprof" record -o data -- "$python" "$here/markers.py" >log 2>&1
holds "each kind of marker"
if [ -n "$frames" ]; then
	holds "the same, with pandas" "$readers" FRAMES
else
	skipped "the same, with pandas" "$why"
fi
"$python" - >log 2>&1 <<'END'
import xsprof
try:
    xsprof.open("data").ops(as_frame=True)
    raise SystemExit(0 if __import__("pandas") else 1)
except ImportError as err:
    assert "pip install pandas" in str(err), err
END
result "without pandas: what to do" $?
rm -f data
"$xsprof" record -o data -- "$python" many.py 2000 killed >log 2>&1
holds "a program that was killed"
rm -f data
"$xsprof" record -b 16K -o data -- "$python" many.py 60000 >log 2>&1
if grep -q ', 0 lost' log; then
	skipped "lost records" "none were lost"
else
	holds "lost records"
fi
rm -f data
if "$python" -c 'import torch' 2>/dev/null; then
	"$xsprof" record --torch all -o data -- "$python" -W ignore "$here/model.py" >log 2>&1
	holds "a PyTorch program"
else
	skipped "a PyTorch program" "no PyTorch for $python"
fi
rm -f data
if "$xsprof" record -e sched -o data -- "$python" many.py 500 >log 2>&1 &&
	grep -q ' events of the kernel' log; then
	holds "events of the kernel"
else
	skipped "events of the kernel" "they are not to be had: $(tail -n 1 log)"
fi
finish
