# SPDX-License-Identifier: GPL-2.0-only
#
# TAP for shell tests of the recorder, and their common functions. Sourced.

BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
xsprof=$BUILD/bin/xsprof
actor=$BUILD/tests/record/actor
marker=$BUILD/tests/record/marker
closer=$BUILD/tests/record/closer
steady=$BUILD/tests/record/steady
inspect=$BUILD/tests/record/inspect

# A tmpfs folder of our own, so that this test sees only its own sessions.
dir=$(mktemp -d /tmp/xsprof-test.XXXXXX) || exit 1
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
# A background job killed before its execve() must not run our cleanup.
trap '[ $BASHPID != $$ ] || rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
unset XSPROF_SESSION XSPROF_RECORD INTEL_LIBITTNOTIFY64 INTEL_JIT_PROFILER64
cd "$dir" || exit 1
ulimit -c 0

tap_n=0
tap_failed=0

# ok NAME CONDITION...: the condition is a command.
ok()
{
	local name=$1

	shift
	tap_n=$((tap_n + 1))
	if "$@"; then
		echo "ok $tap_n $name"
	else
		echo "not ok $tap_n $name"
		echo "# failed: $*"
		[ ! -s out ] || sed 's/^/# out: /' out | tail -20
		[ ! -s err ] || sed 's/^/# err: /' err | tail -20
		tap_failed=$((tap_failed + 1))
	fi
}

is()
{
	ok "$1" test "$2" = "$3"
}

has()
{
	ok "$1" grep -qE -e "$3" "$2"
}

hasnt()
{
	ok "$1" not grep -qE -e "$3" "$2"
}

not()
{
	! "$@"
}

skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n $1 # SKIP $2"
}

finish()
{
	echo "1..$tap_n"
	[ "$tap_failed" = 0 ]
	exit
}

# run COMMAND...: runs it; its status is in $rc, its output in the files out and err.
run()
{
	# New files: a process of an earlier test may still hold the old ones.
	rm -f out err
	"$@" >out 2>err </dev/null
	rc=$?
}

# for_seconds N FILE COMMAND...: ends it with SIGTERM after N s; output in FILE, status in $rc.
for_seconds()
{
	local n=$1 to=$2 asked

	shift 2
	rm -f "$to" err
	"$@" >"$to" 2>err </dev/null &
	asked=$!
	sleep "$n"
	kill -TERM $asked
	wait $asked
	rc=$?
}

# newer MAJOR.MINOR: this kernel is of that version or newer
newer()
{
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# clean: no session is left behind.
clean()
{
	[ -z "$(find "$shm" -mindepth 2 -print -quit)" ]
}

# field WORD FILE: sums the numbers after WORD in the lines of FILE.
field()
{
	awk -v w="$1" '{ for (i = 1; i < NF; i++) if ($i == w) n += $(i + 1) }
		END { printf "%d\n", n }' "$2"
}

# wait_for COMMAND...: waits up to 10 s for it to succeed.
wait_for()
{
	local i

	for i in $(seq 200); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
