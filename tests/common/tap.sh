# SPDX-License-Identifier: GPL-2.0-only
#
# TAP for a shell test: one line per result, and their number at the end. Sourced, by any sh. A
# script that runs programs with TAP of their own sets tap_failed to 1 if one of them fails.
tap_n=0
tap_failed=0
tap_log=

tap_line() # $1 0 if it holds, $2 name, $3 error text
{
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n $2"
	else
		[ -z "$3" ] || printf '%s\n' "$3" | sed 's/^/# /'
		echo "not ok $tap_n $2"
		tap_failed=1
	fi
}

# The file $tap_log, if the script sets it, has the diagnostics of a failure; it is removed.
result() # $1 name, $2 0 if it holds
{
	tap_line "$2" "$1" "$([ ! -f "$tap_log" ] || tail -n 40 "$tap_log")"
	[ -z "$tap_log" ] || rm -f "$tap_log"
}

correct() # $1 name, $2 error text; holds if that is empty
{
	tap_line "$([ -z "$2" ]; echo $?)" "$1" "$2"
}

skipped() # $1 name, $2 why
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n $1 # SKIP $2"
}

skip() # $* why: the whole program is skipped
{
	echo "1..0 # SKIP $*"
	exit 77
}

finish()
{
	echo "1..$tap_n"
	exit "$tap_failed"
}
