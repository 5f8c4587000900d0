#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A small tmpfs, as containers have: the recorder chooses rings that fit, and if it loses records,
# it says what would help.
if [ "${1:-}" != inside ]; then
	as=()
	[ "$(id -u)" = 0 ] || as=(-U -r)
	if ! why=$(unshare -m "${as[@]}" true 2>&1); then
		echo "1..0 # SKIP no mount namespace can be made here: $why"
		exit 77
	fi
	exec unshare -m "${as[@]}" "$0" inside
fi
. "${0%/*}/tap.sh"
export XSPROF_BACKEND=tmpfs
mount -t tmpfs -o size=4m,mode=700 none "$shm" || { echo "Bail out! mount"; exit 1; }

# More than rings of 4 MiB hold; with 2 CPUs these would take 12 MiB.
pairs=150000
recorded()
{
	sed -n 's/^\[ xsprof record: \([0-9]*\) events .*/\1/p' err
}

name="no size asked for"
run taskset -c 0,1 "$xsprof" record -o s.data -- "$marker" $pairs 2 0
is "$name: status" $rc 0
has "$name: said, with what is used" err \
	"^xsprof: 4\.[0-9] MB are free in the tmpfs of $shm/.*: using rings of 524\.3 kB"
is "$name: nothing is lost" "$(recorded)" $((4 * pairs))
hasnt "$name: and no cure is named" err 'events were lost'

name="--prefault"
run taskset -c 0,1 "$xsprof" record --prefault -b 64M -o s.data -- true
is "$name: refused" $rc 2
has "$name: with what would fit" err 'the rings of one process take .* of at most [0-9]'
XSPROF_BUFFER_SIZE=64M run taskset -c 0,1 "$xsprof" record --prefault -o s.data -- true
is "$name: refused by the environment's size" $rc 2
# More than half of the largest ring that fits: the size is rounded up to a power of two.
rings=$(($(getconf _NPROCESSORS_CONF) + 1))
run "$xsprof" record --prefault -b $((4000 / rings))k -o s.data -- "$marker" 10 1 0
is "$name: refused as the size is rounded up" $rc 2
fits=$(sed -n 's/.*at most \([0-9]*[kM]\)$/\1/p' err)
run "$xsprof" record --prefault -b "$fits" -o s.data -- "$marker" 10 1 0
is "$name: rings of $fits, which it names, fit" "$rc $(recorded)" "0 20"

name="rings that do not fit"
run taskset -c 0,1 "$xsprof" record -b 4M -o s.data -- "$marker" $pairs 2 0
has "$name: said before" err '^xsprof: --buffer-size: .* enough for rings of '
is "$name: stored or counted" $(($(recorded) + $(field lost out))) $((4 * pairs))
ok "$name: some are lost" test "$(field lost out)" -gt 0
has "$name: and why, and what helps" err \
	'^xsprof: events were lost: the tmpfs of the rings was full: use a smaller --buffer-size'
ok "nothing stays behind" clean

# The program forks while the library's thread runs, and ASan's child may inherit a locked
# allocator: no leak check at the child's end, which would wait for that lock for ever.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
name="a program that records itself"
say="'$PWD/s.data': [0-9]+ records were lost, .*: the tmpfs of the rings was full: use a smaller"
run env XSPROF_RECORD=s.data XSPROF_BUFFER_SIZE=64M "$marker" $pairs 2 1
has "$name: why, and what helps" err "^xsprof: XSPROF_RECORD: $say XSPROF_BUFFER_SIZE .4M., or "
run env XSPROF_PREFAULT=1 XSPROF_RECORD=s.data XSPROF_BUFFER_SIZE=64M "$marker" $pairs 2 1
has "$name: the same with all memory at once" err "^xsprof: XSPROF_RECORD: $say XSPROF_BUFFER_S"

name="rings that are too small"
run "$xsprof" record -o s.data -- "$actor" lose 300000
has "$name: what helps" err \
	'^xsprof: events were lost: rings filled up before they were read, and there was no space '\
'for larger ones: set XSPROF_SHM_DIR to a larger tmpfs'
run "$xsprof" record -q -o s.data -- "$actor" lose 300000
is "$name: not a word with -q" "$(cat err)" ""

name="rings that are too small, and room for larger ones"
mount -o remount,size=256m "$shm" || { echo "Bail out! remount"; exit 1; }
run "$xsprof" record -b 64k -o s.data -- "$actor" lose 300000
has "$name: what helps" err \
	'^xsprof: events were lost: rings filled up before they were read: use a larger '\
'--buffer-size \(-b\), fewer --categories, --realtime if the CPUs are busy, or -m overwrite'
run "$xsprof" record -b 64k -m overwrite -o s.data -- "$actor" lose 300000
has "$name: what helps when the latest are kept" err \
	'^xsprof: events were overwritten before they were read: to keep more than the latest, '\
'use a larger --buffer-size \(-b\) or fewer --categories'

# Of a container's 64 MiB rings must not take most: beyond the limit the kernel kills processes.
# Mounts both kinds of cgroups, for whichever this machine has.
name="a small memory cgroup"
mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory || { echo "Bail out!"; exit 1; }
echo 67108864 | tee /sys/fs/cgroup/memory.max >/sys/fs/cgroup/memory/memory.limit_in_bytes
run taskset -c 0,1 "$xsprof" record -o s.data -- "$marker" 10 1 0
has "$name: rings that fit" err \
	'^xsprof: the limit of the memory cgroup is 67\.1 MB, .*: using rings of 2\.1 MB'
is "$name: they are" "$("$xsprof" info --json s.data | grep -o '"ring_size":[0-9]*')" \
	'"ring_size":2097152'
run taskset -c 0,1 "$xsprof" record -b 4M -o s.data -- "$marker" 10 1 0
is "$name: a size that was asked for is used" \
	"$("$xsprof" info --json s.data | grep -o '"ring_size":[0-9]*')" '"ring_size":4194304'
hasnt "$name: and may be such" err 'memory cgroup'
run taskset -c 0,1 "$xsprof" record -b 32M -o s.data -- "$marker" 10 1 0
has "$name: unless the rings alone can exceed it" err \
	'^xsprof: --buffer-size: .* 67\.1 MB: the kernel kills processes above it$'
echo max >/sys/fs/cgroup/memory.max
echo 9223372036854771712 >/sys/fs/cgroup/memory/memory.limit_in_bytes
run taskset -c 0,1 "$xsprof" record -o s.data -- "$marker" 10 1 0
hasnt "$name: without a limit nothing is said" err 'memory cgroup'
umount /sys/fs/cgroup "$shm"
finish
