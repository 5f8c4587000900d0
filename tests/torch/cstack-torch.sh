#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Native stacks of PyTorch's ops: in Python, in threads of the autograd engine, in a C++ program.
# Usage: cstack-torch.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
ldd "$xsprof" 2>/dev/null | grep -q libdw || skip "built without elfutils: functions have no names"

record() # OPTIONS... -- COMMAND...: records to $dir/data; writes its ops as JSON to $dir/ours
{
	rm -f data
	"$xsprof" record -q --no-python -o data "$@" >out 2>log && ! grep '^xsprof: PyTorch' log &&
		"$dump" -q -f kineto -o ours data 2>>log
}

cat >stacks.py <<'END'
import json, re
def function(frame):
    return re.sub(r"^[^ ]*\(\d+\): ", "", frame)
ops = [e for e in json.load(open("ours"))["traceEvents"]
       if e.get("cat") in ("cpu_op", "user_annotation") and e["ph"] == "X"]
for e in ops:
    e["stack"] = e["args"].get("Call stack", "").split(";")
    e["calls"] = [function(f) for f in e["stack"]]
def called(name, some):
    got = [e for e in some if e["name"] == name]
    assert got, (name, {e["name"] for e in some})
    return got
END
record --torch cstack -- "$python" -W ignore "$here/cstack-jobs.py" && python3 - 2>>log <<'END'
exec(open("stacks.py").read())
assert all(e["stack"][0] for e in ops), [e["name"] for e in ops if not e["stack"][0]][:9]
assert not any("[no unwind information]" in e["stack"] for e in ops), \
    next(e for e in ops if "[no unwind information]" in e["stack"])
mm = called("aten::mm", ops)[-1]
at = [i for i, f in enumerate(mm["calls"]) if re.search("THPVariable_mm|/libtorch_python[.]so", f)]
assert at and any("at::_ops::mm::" in f for f in mm["calls"][:at[0]]), mm
END
result "--torch cstack: each op of Python has a stack" $?
python3 - 2>>log <<'END'
exec(open("stacks.py").read())
engine = [e for e in ops if e["tid"] != e["pid"]]
assert engine, {e["tid"] for e in ops}
for e in engine:
    assert any("torch::autograd::" in f and "Engine::" in f for f in e["calls"]), e
first = called("autograd::engine::evaluate_function: SumBackward0", engine)[0]
assert re.search("clone|start_thread", first["stack"][-1]), first
END
result "ops in a thread of the autograd engine: its functions" $?
record --torch all,cstack -- "$python" -W ignore "$here/cstack-jobs.py" && python3 - 2>>log <<'END'
exec(open("stacks.py").read())
mm = called("aten::mm", ops)[-1]
own = [i for i, f in enumerate(mm["stack"]) if re.search(r"cstack-jobs\.py\(\d+\): <module>", f)]
inner = [i for i, f in enumerate(mm["calls"])
         if re.search("THPVariable_mm|/libtorch_python[.]so", f)]
# Native frames, Python's, and what called Python; of the interpreter itself there are none.
assert len(own) == 1 and inner == [own[0] - 1], mm
assert not any("PyEval" in f for e in ops for f in e["calls"])
assert any("libc_start" in f for f in mm["calls"][own[0] + 1:]), mm
engine = [e for e in ops if e["tid"] != e["pid"] and any("Engine::" in f for f in e["calls"]) and
          any(re.search(r"cstack-jobs\.py\(\d+\): (Nested\.)?backward", f) for f in e["stack"])]
assert engine
END
result "--torch all,cstack: native frames around Python's" $?
"$xsprof" report --by line --json data >rows 2>>log && grep -q 'cstack-jobs.py([0-9]*): calls' rows
result "and lines are as without" $?

where=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>log)
abi=$("$python" -c 'import torch; print(int(torch.compiled_with_cxx11_abi()))' 2>>log)
if [ ! -e "$where/include/ATen/ATen.h" ]; then
	skipped "a C++ program that links libtorch" "no headers of PyTorch beside $where"
	finish
fi
g++ -std=c++17 -O2 -g -w -D_GLIBCXX_USE_CXX11_ABI="$abi" -o calls "$here/cstack.cc" \
	-I"$where/include" -L"$where/lib" -Wl,-rpath,"$where/lib" -ltorch_cpu -ltorch -lc10 \
	-pthread 2>log
result "a C++ program that links libtorch is built" $?
export SOURCE=$here/cstack.cc
record --torch cstack -- ./calls && python3 - 2>>log <<'END'
exec(open("stacks.py").read())
mm = called("aten::mm", ops)
f, g, h = ("calls::%s(at::Tensor const&)" % n for n in "fgh")
main = [e for e in mm if f in e["calls"]]
thread = [e for e in mm if e["tid"] != e["pid"]]
assert len(mm) == 4 and len(main) == 1 and len(thread) == 1, mm
at = main[0]["calls"].index(h)
assert main[0]["calls"][at:at + 4] == [h, g, f, "main"], main
lines = [int(re.match(r"cstack\.cc\((\d+)\): ", s)[1]) for s in main[0]["stack"][at:at + 4]]
source = open(__import__("os").environ["SOURCE"]).read().split("\n")
assert [source[n - 1].split(";")[0].strip() for n in lines] == [
    "at::Tensor y = at::mm(x, x)", "at::Tensor y = h(x)", "at::Tensor y = g(x)",
    "calls::f(x).sum().backward()"], lines
at = thread[0]["calls"].index(h)
assert thread[0]["calls"][at + 1] == g and f not in thread[0]["calls"], thread
backward = [e for e in mm if e not in main + thread]
assert all(any("Engine::evaluate_function" in c for c in e["calls"]) and "main" in e["calls"]
           for e in backward), backward
END
result "its functions and lines, in both threads and in the backward pass" $?
finish
