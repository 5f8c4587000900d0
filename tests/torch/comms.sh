#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Collectives that an extension, made with PyTorch's own headers, reports as process groups of GPUs
# do: they must have the same arguments as in torch.profiler. Usage: comms.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
python=${1:-/usr/bin/python3}
here=$PWD/tests/torch
unset XSPROF_TORCH LD_PRELOAD
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
cd "$dir" || exit 1
mkdir shm
export XSPROF_SHM_DIR=$dir/shm

[ -e "$BUILD/lib/libxsprof-torch.so" ] || skip "libxsprof-torch is for x86-64"
top=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>/dev/null) ||
	skip "no PyTorch for $python"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
[ -e "$include/Python.h" ] || skip "no headers of Python for $python"
# -O0: compile fast.
g++ -std=c++20 -O0 -w -fPIC -shared -DTORCH_EXTENSION_NAME=comms -I"$top/include" \
	-I"$top/include/torch/csrc/api/include" -I"$include" -o comms.so "$here/comms.cc" \
	-L"$top/lib" -lc10 -ltorch_cpu -ltorch_python 2>log || { cat log; exit 1; }

"$xsprof" record -o data -- "$python" -W ignore "$here/jobs/collectives.py" theirs.json . \
	theirs.et >out 2>log && ! grep '^xsprof: PyTorch' log &&
	"$dump" -q -f kineto -o ours.json data 2>>log && python3 - <<-'END' 2>>log
	import json
	def args(path):
	    events = [e for e in json.load(open(path))["traceEvents"]
	              if e.get("ph") == "X" and e["name"] == "record_param_comms"]
	    return [e["args"] for e in sorted(events, key=lambda e: e["ts"])]
	def plain(value):
	    # What a double does not hold is a text here; so are lists.
	    return json.dumps(value) if isinstance(value, list) else str(value)
	# Of each event, and not of what a collective is.
	own = {"External id", "Ev Idx", "Record function id", "Concrete Inputs", "Input Dims",
	       "Input type", "Input Strides"}
	theirs, ours = args("theirs.json"), args("ours.json")
	assert len(theirs) == len(ours) == 40, (len(theirs), len(ours))
	for t, o in zip(theirs, ours):
	    t = {k: plain(v) for k, v in t.items() if k not in own}
	    o = {k: plain(v) for k, v in o.items() if k not in own}
	    assert t == o, (t, o)
	    assert {"Collective name", "Seq", "Process Group Name", "Group size"} <= set(o), o
	END
result "record_param_comms: what it is of, its group, and its sequence number" $?
"$dump" -q -f execution-trace -o ours.et data 2>log && python3 - <<-'END' 2>>log
	import json
	def attrs(path):
	    nodes = [n for n in json.load(open(path))["nodes"] if n["name"] == "record_param_comms"]
	    return [{a["name"]: (a["type"], a["value"]) for a in n["attrs"]}
	            for n in sorted(nodes, key=lambda n: n["id"])]
	theirs, ours = attrs("theirs.et"), attrs("ours.et")
	assert len(theirs) == len(ours) == 40, (len(theirs), len(ours))
	own = {"rf_id", "fw_parent", "tid", "op_schema", "tensor_range"}
	for t, o in zip(theirs, ours):
	    wrong = {k: (v, o.get(k)) for k, v in t.items() if k not in own and v != o.get(k)}
	    assert not wrong, wrong
	    assert {"collective_name", "in_msg_nelems", "pg_name", "pg_size"} <= set(t), t
	END
result "its execution trace has the same of it as PyTorch's" $?
if "$python" -c 'import torch.profiler._trace_validator' 2>/dev/null; then
	"$python" -W ignore - >log 2>&1 <<-'END'
	from torch.profiler._trace_validator import validate_trace
	good, wrong = validate_trace("ours.json")
	assert good, [str(w) for w in wrong]
	END
	result "PyTorch's own rules for traces" $?
else
	skipped "PyTorch's own rules for traces" "this version has none"
fi
finish
