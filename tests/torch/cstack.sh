#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Native stacks of ops, with the stand-in for libtorch and a program whose calls are known: names
# and order, threads, children, libraries that come and go, code without unwind information. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
program=$BUILD/tests/torch/cstack-calls
here=$PWD/tests/torch
[ -e "$program" ] || skip "libxsprof-torch is not built for this machine"
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm STAND_IN="good 1"
unset XSPROF_TORCH LD_PRELOAD
cd "$dir" || exit 1

library() # NAME FUNCTION OPTION...
{
	local name=$1 function=$2

	shift 2
	gcc -O2 -g -fPIC -shared -fvisibility=hidden -DINSIDE="$function" "$@" -o "$name" \
		"$here/cstack-library.c" 2>>log
}

library first.so first_one && library other.so other_one && library whole.so inside_it &&
	library none.so without_any -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-fno-exceptions &&
	strip -s -o stripped.so whole.so 2>>log
result "libraries are built" $?
"$xsprof" record -q --torch cstack -o data -- "$program" ./first.so ./other.so ./stripped.so \
	./none.so >places 2>log && ! grep '^xsprof: PyTorch' log &&
	"$dump" -q -f kineto -o ours data 2>>log
result "a program is recorded with --torch cstack" $?
if ! ldd "$xsprof" 2>/dev/null | grep -q libdw; then
	skipped "names of functions" "built without elfutils"
	finish
fi
nm -S whole.so >symbols
cat places >>log
for what in calls thread deep reloaded stripped unknown child fibre; do
	case $what in
	calls) name="functions and their callers, innermost first: frames of all kinds" ;;
	thread) name="a thread's stack begins where the thread does" ;;
	deep) name="32 frames of a deeper stack, and a note that there are more" ;;
	reloaded) name="a library in the place of another has its own functions" ;;
	stripped) name="code without symbols is its file and the place in it" ;;
	unknown) name="a stack ends with a note at code without unwind information" ;;
	child) name="the child of a fork" ;;
	fibre) name="ops on another stack than the thread's have none" ;;
	esac
	python3 "$here/cstack.py" $what ours >>log 2>&1
	result "$name" $?
done
# The file on disk is not the one that ran: nothing in it may be used.
library first.so another_first -O0 && "$dump" -q -f kineto -o ours data 2>>log &&
	python3 "$here/cstack.py" replaced ours >>log 2>&1
result "names of a file that was replaced are not used" $?
"$xsprof" record -q --torch shapes,cstack -o data -- "$program" >places 2>log &&
	"$dump" -q -f kineto -o ours data 2>>log &&
	python3 "$here/cstack.py" calls ours >>log 2>&1 &&
	grep -q '"Input Dims":\[\[7' ours
result "--torch shapes,cstack: both" $?
# Ten at a time; a program that does not unwind runs well with them.
python3 "$here/cstack-damage.py" whole.so 200 >>log 2>&1 && [ -e damaged.199.so ]
damaged=$?
for ((i = 0; damaged == 0 && i < 200; i += 10)); do
	"$xsprof" record -q --torch cstack -o data -- "$program" \
		$(seq -f ./damaged.%g.so $i $((i + 9))) >>log 2>&1 || damaged=1
done
[ $damaged = 0 ]
result "a program with nonsense for unwind information runs as it does unrecorded" $?
for wrong in cstack,cstack all,shapes off,cstack all, cstack,none; do
	"$xsprof" record -q --torch $wrong -o data -- true 2>log && echo "$wrong: no error" >>log &&
		break
	grep -q -- "--torch: '$wrong': " log || break
	wrong=
done
[ -z "$wrong" ]
result "--torch refuses what is none of its words" $?
finish
