#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A child with LD_PRELOAD cleared: the Python package still loads the collector into it. Usage:
# unreached.sh PYTHON, the system's. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
tools=$PWD/tools/python
. tests/tools/tap.sh
. tests/torch/start.sh
unset XSPROF_ONDEMAND
export XSPROF_LIBDIR=$BUILD/lib

# The package, installed for one user.
export PYTHONUSERBASE=$dir/user
site=$("$python" -c 'import site; print(site.getusersitepackages())')
mkdir -p "$site"
ln -s "$tools/xsprof" "$tools/xsprof.pth" "$site"

cat >job.py <<-'END'
	import torch
	a = torch.ones(2, 2)
	for _ in range(10):
	    a.mm(a)
	print(sum("libxsprof-torch" in line for line in open("/proc/self/maps")) > 0)
END

# recorded NAME OPS MAPPED OPTION... -- COMMAND...: OPS aten::mm, and whether the library is mapped
recorded()
{
	local name=$1 ops=$2 mapped=$3 got

	shift 3
	rm -f data
	"$xsprof" record -q -o data "$@" >out 2>log
	got=$("$dump" -q data 2>>log | grep -cE ' begin: +aten::mm( |$)')
	[ "$got" = "$ops" ] && [ "$(cat out)" = "$mapped" ] || ! { cat out; echo "$got ops"; } >>log
	result "$name" $?
}

run=("$python" -W ignore job.py)
recorded "LD_PRELOAD as record set it" 10 True -- "${run[@]}"
recorded "a child without LD_PRELOAD" 10 True -- env -u LD_PRELOAD "${run[@]}"
recorded "a child with another LD_PRELOAD" 10 True --torch all -- \
	env LD_PRELOAD=libm.so.6 "${run[@]}"
recorded "--no-torch: it stays out" 0 False --no-torch -- env -u LD_PRELOAD "${run[@]}"
"${run[@]}" >out 2>log && [ "$(cat out)" = False ]
result "without a recorder it stays out" $?
"$xsprof" record -q -o data -- env -u LD_PRELOAD XSPROF_LIBDIR=/nowhere "${run[@]}" >out 2>log
[ "$(cat out)" = False ] && grep -q "^xsprof: XSPROF_TORCH: .*: PyTorch's ops are not recorded in $(
	)this process: " log
result "where the library is not found it says so, and the program runs" $?
finish
