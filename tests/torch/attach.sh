#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The collector in programs that load it themselves: after PyTorch, whose calls the loader has bound
# by then, with threads that make such calls meanwhile; before PyTorch; where it is switched off;
# and where a recorder preloads it. Usage: attach.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh

late() { "$python" -W ignore "$here/attach.py" "$1" "$BUILD/lib" >log 2>&1; }

late late
result "ops, memory, lines and modules, of a PyTorch that was there first" $?
late again
result "the same again and again, while other threads run ops" $?
late early
result "of one that is imported afterwards" $?
LD_BIND_NOW=1 late late
result "with all calls bound at the start" $?
XSPROF_TORCH=off late off
result "switched off: it says so, and nothing is recorded" $?
rm -f data
"$xsprof" record -o data -- "$python" -W ignore "$here/attach.py" late "$BUILD/lib" >log 2>&1 &&
	"$dump" -q -f text data 2>>log | grep -c 'begin: .*aten::linear' >count
# Three in the first run, then three sessions and three runs without one.
[ "$(cat count 2>/dev/null)" = 21 ] || ! echo "$(cat count) of 21" >>log
result "beside a recorder: each op is there once" $?
finish
