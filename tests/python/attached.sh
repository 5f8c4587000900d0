# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A program that runs, attach.py, and recorders that come to it. To be sourced behind tap.sh.

pid=
# $1 Python, $2 kind; set pid once it runs
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

# Return: it ended well, and was as before.
ended()
{
	: >stop
	for _ in $(seq 200); do
		[ -e /proc/$pid/exe ] && sleep 0.05 || break
	done
	[ ! -e /proc/$pid/exe ] || { echo "it hangs" >>err; kill -9 $pid; }
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
			break
		}
	done
	ended "$2" || { cat said err >>log; return 1; }
	[ ! -s log ]
}

# $1 Python, $2 kind, $3 how often: while it records, and at any moment of its start
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
	# It has seen that by now, and can be recorded again.
	for i in $(seq 50); do
		timeout 20 "$xsprof" record -q -p $pid -d 0.2 -o data >out 2>log && break
		sleep 0.1
	done
	ended "$2" || { cat said err >>log; return 1; }
	[ ! -s log ]
}
