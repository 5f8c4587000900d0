# SPDX-License-Identifier: GPL-2.0-only
#
# What the scripts in this folder share: TAP lines, a folder for their files, and the tools.
# To be sourced in the top folder of the repository.
BUILD=$(realpath "${BUILD:-build}") || exit 1
dump=$BUILD/bin/xsprof-dump
xsprof=$BUILD/bin/xsprof
make_capture=$BUILD/tests/tools/make-capture
here=$PWD/tests/tools
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-tools.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

result() # $1 name, $2 0 when it holds; what is in $dir/log tells why it does not
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n $1"
	else
		[ -f "$dir/log" ] && head -n 40 "$dir/log" | sed 's/^/# /'
		echo "not ok $n $1"
		failed=1
	fi
	rm -f "$dir/log"
}

status() # $1 expected exit status, then a command; its output goes to $dir/out and $dir/log
{
	local want=$1 got

	shift
	"$@" >"$dir/out" 2>"$dir/log"
	got=$?
	[ "$got" = "$want" ] && return
	echo "$* : exit status $got, not $want" >>"$dir/log"
	return 1
}

finish()
{
	echo "1..$n"
	exit "$failed"
}
