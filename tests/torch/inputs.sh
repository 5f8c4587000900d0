#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inputs of ops that libtorch does not keep as it mostly does: a shape is right or it is not there,
# and what follows them has its own. Usage: inputs.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
python=${1:-/usr/bin/python3}
program=$PWD/tests/torch/inputs.py
export OMP_NUM_THREADS=1
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
unset XSPROF_TORCH LD_PRELOAD

if ! "$python" -c 'import torch' 2>/dev/null; then
	echo "1..0 # SKIP no PyTorch for $python"
	exit 77
fi
if [ ! -e "$BUILD/lib/libxsprof-torch.so" ]; then
	echo "1..0 # SKIP libxsprof-torch is not built for this machine"
	exit 77
fi
cd "$dir" || exit 1

# kind KIND NAME CONDITION: of rows, {(name, inputs): count}
kind()
{
	"$xsprof" record -q --torch shapes -o data -- "$python" -W ignore "$program" "$1" \
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
	"of('aten::sum').get('float[2, 0], None') == 2"
finish
