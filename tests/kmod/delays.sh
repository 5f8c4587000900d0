#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# delays.sh [KERNEL [TREE]]: the programs in which ends, execs and the unloading meet, with a module
# that is delayed at random in each basic block (tests/vm/delays.c). TAP. TREE: the module of
# another tree, as of a copy that was broken to see this fail.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/common/tap.sh
kernel=${1:-6.12}
tree=${2:-.}
build=${BUILD:-build}
programs='retain unload exec exec-unload late'

mkdir -p "$build/kmod" || exit 1
work=$(mktemp -d "$build/kmod/delays.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/delays"
cp -r "$tree/kmod" "$tree/Kbuild" "$work/delays" &&
	cp tests/vm/delays.c "$work/delays/kmod" || exit 1
cat >> "$work/delays/Kbuild" << 'END'
xsprof-y += kmod/delays.o
ccflags-y += -fsanitize-coverage=trace-pc
CFLAGS_REMOVE_kmod/delays.o := -fsanitize-coverage=trace-pc
END
module=$(tests/vm/module.sh --source "$work/delays" "$kernel" "$work/out" 2> "$work/log")
case $? in
0) module=$(tail -n 1 <<< "$module") ;;
77) echo "$module"; exit 77 ;;
*)
	tap_line 1 "the module builds" "$(cat "$work/log")"
	finish ;;
esac
nm "${module%/*}/kmod/producer.o" | grep -q ' U __sanitizer_cov_trace_pc$'
result "the compiler puts a delay into the module" $?

source=$(tests/vm/fetch.sh source) || { echo "$source"; exit 77; }
mapfile -t files < <(printf "$build/tests/kmod/%s\n" $programs)
flock "$build/.kmod-lock" env -u MAKEFLAGS -u MFLAGS make -s BUILD="$build" SAN= \
	KSELFTEST_DIR="${source#source }/tools/testing/selftests" "${files[@]}" || exit 1
{
	echo 'export XSPROF_MODULE=/t/xsprof.ko XSPROF_PROGRAM_LIMIT=300'
	cat tests/kmod/guest-run
	printf 'run %s\n' $programs
	echo finish
	echo 'exit 0'
} > "$work/guest"
tests/vm/boot.sh --kernel "$kernel" --limit 900 "$module" "${files[@]}" "$work/guest" -- \
	sh ./guest > "$work/said" 2> "$work/err"
status=$?
grep -v '^# xsprof: ' "$work/said" | sed 's/^/# /'
for program in $programs; do
	grep -qxF "# xsprof: passed: $program" "$work/said"
	result "$program, with delays" $?
done
grep -qxF '# xsprof: unloaded' "$work/said"
result "the module can be removed afterwards" $?
result "the guest came to its end, and its kernel does not complain" $status
sed 's/^/# /' "$work/err"
finish
