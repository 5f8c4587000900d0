#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The collector of PyTorch ops on arm64, as far as user emulation allows: Debian's PyTorch for
# arm64, in an unpacked root outside the tree, runs under qemu-aarch64 and records itself.
# process_vm_readv() does not work there. As root. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
here=$PWD/tests/torch
build=$BUILD/arm64-torch
export XSPROF_SHM_DIR=$dir/shm
mkdir "$dir/shm"
unset XSPROF_TORCH LD_PRELOAD

# Makes the two links that the packages' scripts would make.
arm64_fetch()
{
	debian_fetch arm64 bookworm python3-torch,libtorch1.13 &&
		ln -s blas/libblas.so.3 lapack/liblapack.so.3 "$new/usr/lib/aarch64-linux-gnu"
}

[ "$(uname -m)" != aarch64 ] || skip "not emulated: torch/ops is it"
[ "$(id -u)" = 0 ] || skip "not root: no root file system of another machine"
fetch torch-arm64 arm64_fetch || skip "$why"
root=$viewers/torch-arm64
make -s CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar BUILD="$build" user \
	"$build/lib/libxsprof-torch.so" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
library=$(readlink -f "$build/lib/libxsprof-torch.so")
cd "$dir" || exit 1

# emulated DETAIL SCRIPT [ARG...]: records the script into data
emulated()
{
	local detail=$1

	shift
	rm -f data
	qemu-aarch64 -L "$root" -E PYTHONPATH="$root/usr/lib/python3/dist-packages" \
		-E LD_PRELOAD="$library" -E XSPROF_RECORD="$dir/data" -E XSPROF_TORCH="$detail" \
		-E OMP_NUM_THREADS=1 "$root/usr/bin/python3" -W ignore "$@" >out 2>log
}

for detail in names shapes all; do
	shapes='' strings=''
	[ $detail = names ] || shapes=shapes strings='ij,jk->ik tanh'
	# shellcheck disable=SC2086 # split into words on purpose
	emulated $detail "$here/work.py" theirs $shapes &&
		"$dump" -q -f kineto data -o ours 2>>log &&
		"$dump" -q -f ndjson data -o ndjson 2>>log &&
		"$xsprof" info --json data >info 2>>log &&
		python3 "$here/compare.py" theirs ours ndjson info $shapes $strings >>log 2>&1
	status=$?
	result "$detail: the ops that torch.profiler has, $(tail -n 1 log)" $status
done
for kind in script nested subclass symbolic kinds; do
	emulated shapes "$here/inputs.py" $kind && ! grep -q PyTorch: log &&
		"$xsprof" report --by shape --json data >rows 2>>log && python3 - <<-'END' 2>>log
		import json
		rows = json.load(open("rows"))["ranges"]
		rows = {(r["name"], r.get("inputs")): r["count"] for r in rows}
		assert rows["aten::mm", "float[7, 3], float[3, 9]"] == 100, rows
		assert rows["aten::stack", "[float[5], float[5]], -"] == 100, rows
	END
	result "inputs: $kind" $?
done
emulated all "$here/places.py" && "$xsprof" report --by module --json data >rows 2>>log &&
	"$xsprof" report --by line --json data >lines 2>>log && python3 - <<-'END' 2>>log
	import json
	rows = {r.get("module"): r["count"] for r in json.load(open("rows"))["ranges"]}
	lines = {r.get("line"): r["count"] for r in json.load(open("lines"))["ranges"]}
	for root, steps in ("Net", 3), ("Net#2", 2):
	    for name in "stem", "blocks.1.conv", "head.1":
	        for back in "", " (backward)":
	            assert rows["%s.%s%s" % (root, name, back)] >= steps, rows
	first = json.load(open("places"))["Net"][0]
	assert any("places.py(%d): Net.forward" % (first + 1) in str(n) or
	           "places.py(%d): forward" % (first + 1) in str(n) for n in lines), lines
	END
result "lines and modules of ops" $?
"$dump" -q -f kineto data -o ours 2>log && [ "$(grep -c '"\[memory\]"' ours)" -gt 100 ]
result "allocations" $?
finish
