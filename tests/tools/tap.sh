# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the scripts in this folder: TAP lines, a folder for their files, and the tools. Source
# this in the top folder of the repository.
BUILD=$(realpath "${BUILD:-build}") || exit 1
dump=$BUILD/bin/xsprof-dump
xsprof=$BUILD/bin/xsprof
make_capture=$BUILD/tests/tools/make-capture
here=$PWD/tests/tools
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-tools.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/common/tap.sh
tap_log=$dir/log

# The seed of random damage: fixed in quick runs, so that only changes of the code matter; new in
# each full run, and always printed. XSPROF_SEED=N repeats one.
seed=1
[ "${XSPROF_TIER:-quick}" = full ] && seed=$RANDOM$RANDOM
seed=${XSPROF_SEED:-$seed}

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

# A result: the command succeeds and uses less than 64 MiB. The kernel measures the child's largest
# resident size; a sanitizer's own memory would distort it.
small() # $1 name, then a command whose output goes nowhere
{
	local name=$1 kib

	shift
	kib=$(python3 - "$@" 2>"$dir/log" <<-'END'
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	END
	)
	[ -n "$kib" ] &&
		{ [ "$kib" -lt 65536 ] || nm "$dump" 2>/dev/null | grep -q '__[at]san_init'; }
	result "$name: ${kib:-no} KiB" $?
}
