#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inputs of ops that libtorch stores in an unusual way: a shape is right or missing, and the
# following ops have their own. Usage: inputs.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh

# kind KIND NAME CONDITION: the condition is on rows, {(name, inputs): count}
kind()
{
	"$xsprof" record -q --torch all -o data -- "$python" -W ignore "$here/inputs.py" "$1" \
		>out 2>log && [ "$(cat out)" = "done" ] && ! grep -q PyTorch: log &&
		"$xsprof" report --by shape --json data >rows 2>>log &&
		python3 - "$3" <<-'END' 2>>log
		import json, sys
		rows = json.load(open("rows"))["ranges"]
		rows = {(r["name"], r.get("inputs")): r["count"] for r in rows}
		def of(name):
		    return {i: n for (at, i), n in rows.items() if at == name}
		assert of("aten::mm").get("float[7, 3], float[3, 9]") == 100, of("aten::mm")
		assert of("aten::stack").get("[float[5], float[5]], -") == 100, of("aten::stack")
		assert eval("(" + sys.argv[1] + ")"), [r for r in rows if r[0] in sys.argv[1]]
	END
	result "$2" $?
}

pair="'float[2, 3], float[2, 3], -'"
kind script "TorchScript: the inputs of each op, of all that is on the stack" \
	"of('aten::add') == {$pair: 120} and of('aten::relu') == {'float[2, 3]': 120} and
	of('aten::stack').get('[float[2, 3], float[2, 3]], -') == 40"
kind nested "nested tensors have no shape" \
	"set(of('aten::relu')) == {None, 'float[18]', 'float'} and
	not any('[float[]' in str(i) for n, i in rows)"
kind subclass "tensors whose own code says their sizes have none" \
	"of('aten::add') == {None: 20, 'float, float, -': 20, 'float[3, 5], float[3, 5], -': 40} and
	not any('17' in str(i) for n, i in rows)"
kind symbolic "symbolic sizes are none" \
	"set(of('aten::relu')) >= {None, 'float'} and
	not any('[float[]' in str(i) for n, i in rows)"
kind kinds "sparse, quantized and empty tensors, those without memory, long lists" \
	"of('aten::sum').get('float[2, 0], None') == 2 and
	of('aten::add').get('float[3, 3], float[3, 3], -', 0) >= 2 and
	'float, float, -' not in of('aten::add')"
kind kinds "an undefined tensor is none" \
	"of('aten::nll_loss_forward').get('float[4, 3], long int[4], None, -, -') == 2 and
	of('aten::nll_loss_backward').get(
		'float[], float[4, 3], long int[4], None, -, -, float[]') == 2"

# Short and long keyword values; only with a profiler PyTorch begins such a range.
cat >keywords.py <<'END'
import torch
from torch.profiler import profile
fast = torch._C._profiler._RecordFunctionFast
with profile(record_shapes=True):
    for i in range(40):
        with fast("a kernel", [torch.ones(2, 3)], {"stream": i, "grid": "grid(6,)", "f": 0.5,
                  "a keyword that is no short string": "/a/path/to/a/file/that/is/long.py"}):
            pass
    with fast("one without"):
        pass
    with fast("many", [], {f"key {i}": i for i in range(20)}):
        pass
END
if "$python" -W ignore keywords.py >out 2>log; then
	"$xsprof" record -q --torch shapes -o data -- "$python" -W ignore keywords.py >out 2>log
	"$dump" -q -f kineto data 2>>log | python3 -c '
import json, sys
events = [e for e in json.load(sys.stdin)["traceEvents"] if e["ph"] == "X"]
said = [e["args"] for e in events if e["name"] == "a kernel"]
key = "a keyword that is no short string"
want = [(i, "grid(6,)", 0.5, "/a/path/to/a/file/that/is/long.py") for i in range(40)]
assert [tuple(a.get(k) for k in ("stream", "grid", "f", key)) for a in said] == want, said
assert all(a["Input Dims"] == [[2, 3]] for a in said), said
plain = [e["args"] for e in events if e["name"] == "one without"]
assert len(plain) == 1 and "stream" not in plain[0], plain
many = [e["args"] for e in events if e["name"] == "many"]
assert sum(k.startswith("key ") for k in many[0]) == 16, many' 2>>log
	result "keyword values" $?
else
	skipped "keyword values" "this version of PyTorch has none: $(tail -n 1 log)"
fi

# More names than fit.
XSPROF_ARENA_SIZE=64k "$xsprof" record -o data -- "$python" -W ignore - >out 2>log <<-'END'
	import torch
	for i in range(3000):
	    with torch.autograd.profiler.record_function(f"a range with a name that is {i}"):
	        pass
	torch.ones(2).sinh()
END
"$dump" -q -f ndjson data 2>>log | python3 -c '
import json, sys
begins = [e for e in map(json.loads, sys.stdin) if e["type"] == "begin"]
# One that found room has its name, one that found none has it as argument.
told = [e["name"] if e["name"] != "?" else e["args"][0]["value"] for e in begins]
assert told.count("aten::sinh") == 1, told[-9:]
for i in range(3000):
    assert told.count(f"a range with a name that is {i}") == 1, i
assert all(e["args"][0]["key"] == "name" for e in begins if e["name"] == "?")
# Ops have room that ranges of the program do not take.
assert sum(e["name"] == "aten::sinh" for e in begins) == 1, begins[-9:]
assert sum(e["name"] == "?" for e in begins) > 1000' 2>>log
result "with the room for names full, a range's text is an argument, and an op has its name" $?
finish
