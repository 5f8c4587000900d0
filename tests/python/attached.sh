# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Starts attach.py and attaches recorders to it. Source this after tap.sh, and for attachable()
# after tests/torch/pythons.sh.

# Ends the test where a recorder cannot attach without the module.
need_attach()
{
	[ "$(uname -m)" = x86_64 ] || { skipped "attaching" "x86-64 only"; finish; }
	[ ! -e /dev/xsprof ] || { skipped "attaching" "the module is loaded"; finish; }
}

# Prints the Pythons that a recorder can attach to, in pythons()'s format.
attachable()
{
	local version python

	while read -r version python; do
		"$python" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info < (3, 15))' &&
			echo "$version $python"
	done < <(pythons)
}

# $1 a pattern for the reason, $2 the process
refused()
{
	timeout -k 1 20 "$xsprof" record -q -p "$2" -d 0.1 -o none >out 2>log
	[ $? = 2 ] && grep -qE "^xsprof: process $2: .*$1" log && [ ! -e none ]
}

pid=
# $1 Python, $2 kind; sets pid once it runs
begin()
{
	rm -f stop stop.begun stop.back
	"$1" -W ignore::DeprecationWarning "$here/attach.py" "$2" stop >said 2>err &
	pid=$!
	for _ in $(seq 400); do
		[ -e stop.begun ] || [ ! -e /proc/$pid/exe ] && break
		sleep 0.05
	done
}

# Returns 0 if the program ended well, in the same state as before.
ended()
{
	: >stop
	for _ in $(seq 200); do
		[ -e /proc/$pid/exe ] && sleep 0.05 || break
	done
	[ ! -e /proc/$pid/exe ] || {
		local processes
		processes="$pid $(cat /proc/$pid/task/*/children 2>/dev/null)"
		echo "it hangs" >>err
		for process in $processes; do
			gdb -p "$process" -batch -ex 'thread apply all bt 12' 2>&1 |
				grep -E '^(Thread|#)' >>err
		done
		# shellcheck disable=SC2086 # several
		kill -9 $processes
	}
	wait $pid && [ "$(cat said)" = "ok $1 True" ] && [ ! -s err ]
}

# $1 Python, $2 kind, $3 how often
attach_often()
{
	local i

	begin "$1" "$2"
	for i in $(seq "$3"); do
		timeout -k 1 20 "$xsprof" record -q -p $pid -d 0.02 -o data >out 2>log &&
			[ ! -s log ] || {
			echo "attach $i of $3 to $2 failed" >>log
			# The capture has the reasons too.
			"$xsprof" info data >>log 2>&1
			gdb -p $pid -batch -ex 'thread apply all bt 12' 2>&1 |
				grep -E '^(Thread|#)' >>log
			break
		}
	done
	ended "$2" || { cat said err >>log; return 1; }
	[ ! -s log ]
}

# $1 Python, $2 kind, $3 how often: kills the recorder while it starts or records
kill_often()
{
	local i recorder

	begin "$1" "$2"
	for i in $(seq "$3"); do
		"$xsprof" record -q -p $pid -d 20 -o data >out 2>&1 &
		recorder=$!
		sleep "0.$(printf %03d $((RANDOM % 100)))"
		kill -9 $recorder
		wait $recorder 2>/dev/null
	done
	# The process has noticed by now, and can be recorded again.
	for i in $(seq 50); do
		timeout 20 "$xsprof" record -q -p $pid -d 0.2 -o data >out 2>log && break
		sleep 0.1
	done
	ended "$2" || { cat said err >>log; return 1; }
	[ ! -s log ]
}
