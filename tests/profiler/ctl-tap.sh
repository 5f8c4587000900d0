# SPDX-License-Identifier: GPL-2.0-only
#
# TAP for tests of `xsprof ctl`: a program to trace, and checks of ctl's status and output. Source
# this in the top folder of the repository.
. tests/common/tap.sh
build=$(cd "${BUILD:-build}" && pwd) || exit 1
xsprof=$build/bin/xsprof
check=$PWD/tests/profiler/check-ctl.py
manual=$PWD/Documentation/man/xsprof-ctl.1
export LD_LIBRARY_PATH=$build/lib
unset XSPROF_ONDEMAND KINETO_USE_DAEMON KINETO_LOG_LEVEL KINETO_CONFIG XSPROF_BACKEND
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-ctl.XXXXXX") || exit 1
cd "$dir" || exit 1
mkdir shm
export XSPROF_SHM_DIR=$dir/shm
pids=
wrong=

# Ends only processes started here, by pid, and each once.
clean_up()
{
	local p

	for p in $pids; do
		kill -KILL "$p" 2>/dev/null
	done
	rm -rf "$dir"
}
trap clean_up EXIT
# Writing to a program that has died must not end the test.
trap '' PIPE

tested() # $1 what; holds if nothing was wrong
{
	[ -z "$wrong" ]
	tap_line $? "$1" "${wrong%$'\n'}"
	wrong=
}

bad() { wrong+="$*"$'\n'; }

# begin WORD...: starts a program; $1 is a word of its environment, the rest runs it. Sets pid.
begin()
{
	local word=$1

	shift
	rm -f in out
	mkfifo in out
	env "$word" "$@" "$build/tests/profiler/ctl-program" <in >out 2>complaints &
	pid=$!
	pids+=" $pid"
	exec 8>in 9<out
	hear ready
}

# The same, as a child of the command that runs it, which stays and is the shell's child.
begin_below()
{
	begin "$@"
	runner=$pid
	read -r pid _ </proc/$runner/task/$runner/children
	[ -n "$pid" ] || bad "$* has no child"
	pids+=" $pid"
}

# hear WORD: reads the program's output up to WORD.
hear()
{
	local line

	said=
	while read -r -t 120 line <&9; do
		[ "$line" = "$1" ] && return
		said=$line
	done
	bad "the program said '$said' and not '$1'"
}

tell() { echo "$*" >&8 2>/dev/null; hear done; }

leave()
{
	echo quit >&8 2>/dev/null
	exec 8>&- 9<&-
	wait "${1:-$pid}" || bad "the program ended with $?"
}

slain()
{
	kill -KILL "$pid"
	exec 8>&- 9<&-
	wait "$pid" 2>/dev/null
}

# ctl STATUS ARG...: runs it, checks its status; sets output and errors.
ctl()
{
	local want=$1 status

	shift
	output=$("$xsprof" ctl "$@" 2>errors)
	status=$?
	errors=$(cat errors)
	[ $status = "$want" ] ||
		bad "xsprof ctl $*: status $status, not $want: $output $errors"
}

# says REGEX: the last ctl failed with a whole line that matches.
says() { grep -qE -e "^xsprof: $1\$" <<<"$errors" || bad "said '$errors', not '$1'"; }

prints() { grep -qE -e "^$1\$" <<<"$output" || bad "printed '$output', not '$1'"; }

holds() { wrong+=$(python3 "$check" "$@" 2>&1) || wrong+=$'\n'; }

# begin_waiting FILE: starts a trace and waits for its end in the background. Sets waiter; output
# goes to waited.
begin_waiting() # $1 the file
{
	local i

	"$xsprof" ctl start -p "$pid" -o "$1" -w >waited 2>&1 &
	waiter=$!
	for ((i = 0; i < 1200; i++)); do
		ctl 0 status -p "$pid"
		grep -q recording <<<"$output" && return
		sleep 0.05
	done
	bad "it does not record: $output"
}

until_there()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		[ -e "$1" ] && return
		sleep 0.1
	done
	bad "$1 did not come"
}
