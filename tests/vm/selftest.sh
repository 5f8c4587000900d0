#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest runner under test: what it must pass on, and each way in which a guest
# can end that must never look like a pass. TAP; exit status 0, 1, or 77 where no
# guest can be had.

set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/kernels.sh"
cross=${CROSS_COMPILE:-aarch64-linux-gnu-}
number=0 failed=0

# check NAME WANTED GOT
check()
{
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		printf '# wanted: %s\n# got: %s\n' "${2//$'\n'/\\n}" "${3//$'\n'/\\n}"
		failed=1
	fi
}

arm64()
{
	"$here/arm64.sh" "$@"
}

# The first boot shows whether a guest can be had here at all.
out=$(arm64 -- true 2>&1)
status=$?
if [ $status -eq 77 ]; then
	echo "$out"
	exit 77
fi
check "exit status 0" "0 " "$status $out"

work=$(mktemp -d "$vm_dir/selftest.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# One boot for both streams, their bytes, the arguments and the files.
printf 'a\r\nb\0c\377' > "$work/bytes"
printf '#!/bin/sh\ncat bytes; for i; do echo "[$i]" >&2; done; exit 3\n' > "$work/script"
chmod +x "$work/script"
arm64 "$work/bytes" "$work/script" -- ./script "it's" 'two  words' '' \
	> "$work/out" 2> "$work/err"
check "exit status 3" 3 $?
check "standard output to the byte" "" "$(cmp "$work/out" "$work/bytes" 2>&1)"
check "arguments, and standard error apart" $'[it\'s]\n[two  words]\n[]' "$(cat "$work/err")"

arm64 -- sh -c 'exit 6'
check "exit status 6" 6 $?
arm64 -- sh -c 'head -c 3000000 /dev/zero; kill -SEGV $$' 2> /dev/null | cksum > "$work/sum"
check "a command killed by a signal: 128 and its number" 139 "${PIPESTATUS[0]}"
check "3 MB of output" "$(head -c 3000000 /dev/zero | cksum)" "$(cat "$work/sum")"

arm64 -- sh -c 'echo c > /proc/sysrq-trigger; sleep 60' 2> "$work/err"
check "panic: 125" 125 $?
check "panic: the console is shown" 1 "$(grep -c 'Kernel panic - not syncing' "$work/err")"
arm64 -- poweroff -f 2> /dev/null
check "power off: 125" 125 $?
arm64 --limit 6 -- sleep 100 2> /dev/null
check "past its limit: 124" 124 $?

# Half a verdict is none: the leaving code alone (3 says status 0) ...
arm64 -- leave 3 2> /dev/null
check "leaving code without a written verdict: 125" 125 $?
# ... one that is written but contradicts the code, one with another run's nonce.
arm64 -- sh -c 'echo "$(cat /nonce) 0" > /dev/ports/verdict; leave 5' 2> /dev/null
check "written verdict and leaving code disagree: 125" 125 $?
arm64 -- sh -c 'echo "0123456789abcdef 0" > /dev/ports/verdict; leave 3' 2> /dev/null
check "verdict of another run: 125" 125 $?

arm64 "$work/absent" -- true 2> /dev/null
check "a file that is not there: 2" 2 $?
XSPROF_VM_DIR=$work/empty CROSS_COMPILE=no-such- "$here/arm64.sh" -- true > "$work/out" 2>&1
check "no cross compiler: 77" 77 $?
check "and the reason" "1..0 # SKIP boot.sh: no-such-gcc is not installed" "$(cat "$work/out")"

# A machine whose apt has no sources: nothing is downloaded, nothing is half made.
printf 'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "/dev/null";\n' > "$work/apt.conf"
XSPROF_VM_DIR=$work/empty APT_CONFIG=$work/apt.conf "$here/arm64.sh" -- true > "$work/out" 2>&1
check "no packages to be had: 77" 77 $?
check "and the reason, as TAP" 1 "$(grep -c '^1\.\.0 # SKIP boot.sh: .*linux-image' "$work/out")"
check "and no tree" "" "$(ls -d "$work/empty/trees/arm64" 2> /dev/null)"

# rseq in the guest. The broken sequence leaves one instruction for an interrupt to
# fall on: with one instruction per block about ten do in this many rounds.
"${cross}gcc" -O2 -static -pthread -o "$work/rseq-count" "$here/rseq-count.c" &&
"${cross}gcc" -O2 -static -pthread -DBROKEN -o "$work/rseq-broken" "$here/rseq-count.c"
check "rseq programs build" 0 $?
arm64 "$work/rseq-count" -- ./rseq-count 16 1000000
check "glibc registers rseq, and sequences restart: exact" 0 $?
arm64 --one-insn "$work/rseq-count" "$work/rseq-broken" -- sh -c \
	'./rseq-count 16 1000000; echo "exact: $?" >&2
	 ./rseq-broken 16 2000000; echo "broken: $?" >&2' \
	2> "$work/err"
check "with one instruction per block: exact, and a sequence one store short is caught" \
	$'exact: 0\nbroken: 1' "$(cat "$work/err")"

echo "1..$number"
exit $failed
