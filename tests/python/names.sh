#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Threads have the names that Python's module threading gives them, with each installed Python:
# however they were started, in a forked child, and in a process that a recorder attached to. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/attached.sh
. tests/python/start.sh

check()
{
	"$dump" -q -f ndjson data >events 2>>log &&
		"$xsprof" info --json data >info 2>>log &&
		"$1" "$here/names.py" check events info <said 2>>log
}

# Waits for a line of the program.
said()
{
	for _ in $(seq 400); do
		grep -qx "$1" said && return
		sleep 0.05
	done
}

late=$(attachable)
[ "$(uname -m)" = x86_64 ] && [ ! -e /dev/xsprof ] || late=
while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	rm -f data
	"$xsprof" record -q -o data -- \
		"$python" -W ignore::DeprecationWarning "$here/names.py" run >said 2>log
	[ $? = 0 ] && [ "$(grep -c . said)" -ge 15 ] && check "$python"
	result "$version: threads have Python's names" $?

	grep -qxF "$version $python" <<<"$late" || continue
	rm -f data in
	mkfifo in
	"$python" "$here/names.py" late <in >said 2>log &
	exec 4>in
	pid=$!
	said ready
	# The shell's commands in the background would ignore SIGINT.
	env --default-signal=INT "$xsprof" record -q --python=200 -p $pid -o data 2>>log 4>&- &
	recorder=$!
	said "done"
	kill -INT $recorder
	wait $recorder
	status=$?
	exec 4>&-
	wait $pid && [ $status = 0 ] && sed -i '/^[rd]/d' said && [ "$(grep -c . said)" = 4 ] &&
		check "$python"
	result "$version: record -p: also those that were there before, and that come later" $?
done < <(pythons)
finish
