#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PyTorch in a program that has Python inside, with a second interpreter too.
# Usage: embed.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
here=$PWD/tests/torch
python=${1:-/usr/bin/python3}
export OMP_NUM_THREADS=1
unset XSPROF_TORCH LD_PRELOAD
cd "$dir" || exit 1

# How many aten::mm a program was recorded with
count()
{
	"$dump" -q data 2>>log | grep -cE ' begin: +aten::mm( |$)'
}

config=$("$python" -c 'import sysconfig
v = sysconfig.get_config_var
print("-I" + v("INCLUDEPY"), "-L" + v("LIBPL"), "-L" + v("LIBDIR"), "-Wl,-rpath," + v("LIBDIR"),
      "-lpython" + v("LDVERSION"), v("LIBS") or "", v("SYSLIBS") or "", v("LINKFORSHARED") or "")')
# Of a virtual environment Python as it is started alone knows.
packages=$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
# shellcheck disable=SC2086 # words on purpose
if gcc -o embed "$here/embed.c" $config 2>log; then
	for detail in names all; do
		"$xsprof" record -q --torch $detail -o data -- \
			env PYTHONPATH="$packages" ./embed >out 2>log &&
			[ "$(count)" = 7 ] || ! echo "$(count) of 7" >>log
		result "a program with Python inside, --torch $detail" $?
		"$xsprof" record -q --torch $detail -o data -- \
			env PYTHONPATH="$packages" ./embed second >out 2>log
		status=$?
		want=$(cat out)
		[ "${want%%:*}" = none ] && want=7
		[ $status = 0 ] && [ "$(count)" = "$want" ] ||
			! { cat out; echo "$(count) of $want"; } >>log
		status=$?
		result "and with a second interpreter, --torch $detail: $(cat out)" $status
	done
else
	skipped "a program with Python inside" "gcc: $(grep -m 1 error log)"
fi
finish
