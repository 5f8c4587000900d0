#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PyTorch in a C++ program that links libtorch, the one that PYTHON has.
# Usage: plain.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh

# How many aten::mm a program was recorded with
count()
{
	"$dump" -q data 2>>log | grep -cE ' begin: +aten::mm( |$)'
}

# Headers and library of the PyTorch that this Python has.
where=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>log)
abi=$("$python" -c 'import torch; print(int(torch.compiled_with_cxx11_abi()))' 2>>log)
if [ ! -e "$where/include/ATen/ATen.h" ]; then
	skip "no headers of PyTorch beside $where"
fi
g++ -std=c++17 -O0 -D_GLIBCXX_USE_CXX11_ABI="$abi" -o plain "$here/plain.cc" -I"$where/include" \
	-L"$where/lib" -Wl,-rpath,"$where/lib" -ltorch_cpu -lc10 -pthread 2>log
result "a C++ program that links libtorch is built" $?
for detail in names shapes all; do
	"$xsprof" record -q --torch $detail -o data -- ./plain >out 2>log && [ "$(count)" = 30 ] ||
		! echo "$(count) of 30" >>log
	result "each of its ops, --torch $detail" $?
	[ $detail = names ] && continue
	"$dump" -q -f ndjson data 2>>log | grep '"aten::mm"' | grep -c '\[ *2, *2 *\]' >out
	[ "$(cat out)" = 30 ] || ! "$dump" -q data | grep aten::mm | head -n 3 >>log
	result "with its inputs, --torch $detail" $?
	"$xsprof" report --by shape --json data 2>>log |
		grep -qF '"float[], float[4, 3], long int[4], None, -, -, float[]"'
	result "an undefined tensor is none, --torch $detail" $?
done
"$xsprof" report --by line data >out 2>log && grep -qxF "... no lines were recorded: $(
	)record --torch=all has those of ops that Python calls; $(
	)of a C++ program record --torch=cstack has stacks, for dump -f kineto" out
result "report --by line of it says why there are none" $?
finish
