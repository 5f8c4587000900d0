#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a program that records itself (XSPROF_RECORD) prints for wrong values in its environment: one
# line each, and it runs and is recorded. Without XSPROF_RECORD it prints nothing.
. "${0%/*}/tap.sh"

identity=$BUILD/tests/record/identity

# A leak check in a forked child cannot stop its parent's threads, and prints that to stderr.
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}die_after_fork=0
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# Variable, wrong value, expected values, value used instead.
cat >wrong <<'END'
XSPROF_MODE|x|discard or overwrite|the default is used: discard
XSPROF_MODE|Discard|discard or overwrite|the default is used: discard
XSPROF_BUFFER_SIZE|foo|a size up to 1T, e.g. 512k, 16M|4M is used
XSPROF_BUFFER_SIZE|0|a size up to 1T, e.g. 512k, 16M|4M is used
XSPROF_BUFFER_SIZE|2T|a size up to 1T, e.g. 512k, 16M|4M is used
XSPROF_ARENA_SIZE|4095|a size from 4k to 256M, e.g. 64k, 1M|1M is used
XSPROF_ARENA_SIZE|-1|a size from 4k to 256M, e.g. 64k, 1M|1M is used
XSPROF_LOCK_RINGS|65|1 to 64|the default is used: 1, or 4 if the clock needs them
XSPROF_CLOCK|tsc|auto or mono|auto is used
XSPROF_BACKEND|ring|auto, device, tmpfs or none|auto is used
XSPROF_PREFAULT|maybe|1 or 0|1 is used
XSPROF_SCHED|2|1 or 0|1 is used
XSPROF_SESSION|here|the absolute path of a recorder's session|none is used
XSPROF_CATEGORIES|a,,b|a,b for only these, -c for all except it|empty entries are left out
XSPROF_CATEGORIES|a,-|a,b for only these, -c for all except it|empty entries are left out
XSPROF_CATEGORIES|a, b|a,b for only these, -c for all except it|blanks are part of names
END

# Messages at the start: if the marker's category is off, nothing is recorded in the end.
told()
{
	grep -v 'nothing was recorded: no marker was executed of the categories' err
}

while IFS='|' read -r name value expected instead; do
	run env XSPROF_RECORD=w.data "$name=$value" "$marker" 10 1 0
	is "$name='$value': one line" "$(told)" \
		"xsprof: $name: '$value' is invalid: expected $expected; $instead"
	is "$name='$value': the program runs" "$rc $(wc -l <out)" "0 1"
	run "$xsprof" info w.data
	is "$name='$value': and is recorded" $rc 0
done <wrong

# All wrong values at once: each is reported once, and children do not repeat it. No forks where a
# child with several threads may inherit a locked allocator of the sanitizer.
forks=2
[ "${XSPROF_VARIANT:-}" != asan ] || forks=0
all=$(sort -t'|' -u -k1,1 wrong | sed 's/|/=/; s/|.*//')
mapfile -t all <<<"$all"
run env XSPROF_RECORD=w.data "${all[@]}" "$marker" 10 1 $forks
is "all at once: a line each" "$(told | sed 's/: .*//; s/.*//' | wc -l) $(told | sort -u | wc -l)" \
	"${#all[@]} ${#all[@]}"
is "all at once: the program runs" $rc 0
run env -u XSPROF_RECORD "${all[@]}" "$marker" 10 1 $forks
is "with nobody recording: not a word" "$rc $(cat err)" "0 "
run env XSPROF_RECORD=none.data XSPROF_BACKEND=none XSPROF_MODE=x "$marker" 10 1 0
is "told not to record: one line says that it does not" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD:\
 'none.data': nothing is recorded: XSPROF_BACKEND=none in the environment disables it: unset it"
run env XSPROF_RECORD=none.data XSPROF_BACKEND=device "$marker" 10 1 0
is "told to use the module: one line says why" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD:\
 'none.data': nothing is recorded: XSPROF_BACKEND=device in the environment requests rings\
 in the module, but a program that records itself needs them on tmpfs: unset it, or use\
 'xsprof record'"
ok "... and it does not" not test -e none.data
if [ -c /dev/xsprof ]; then
	has "... but its rings are there" out ' attached 1$'
else
	has "... and has no rings" out ' attached 0$'
fi
run env XSPROF_RECORD= XSPROF_MODE=x "$marker" 10 1 0
is "an empty name of a file is none: not a word" "$rc $(cat err)" "0 "
run env XSPROF_RECORD=none.data XSPROF_MODE=x "$xsprof" record -q -o o.data -- "$marker" 10 1 0
is "under a recorder: not a word from the program" "$rc $(cat err)" "0 "

# Correct values
for right in MODE=overwrite BUFFER_SIZE=64KiB ARENA_SIZE=1M LOCK_RINGS=64 CLOCK=mono CLOCK=auto \
	BACKEND=tmpfs PREFAULT=1 PREFAULT=off SCHED=no MODE= \
	CATEGORIES=all,-c 'CATEGORIES=a b,-c'; do
	run env XSPROF_RECORD=r.data "XSPROF_$right" "$marker" 10 1 0
	is "XSPROF_$right: nothing" "$rc $(told)" "0 "
done

# Losses
run env XSPROF_RECORD=l.data XSPROF_BUFFER_SIZE=16k "$marker" 200000 1 0
lost=$("$xsprof" info --json l.data 2>/dev/null |
	sed -n 's/.*"events":[0-9]*,"lost_records":\([0-9]*\),.*/\1/p' | head -n 1)
ok "small rings: records were lost" test "${lost:-0}" -gt 0
is "small rings: it is said, and what helps" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD:\
 '$dir/l.data': $lost records were lost, of 400000: rings filled up before they were read:\
 use a larger XSPROF_BUFFER_SIZE (4M) or fewer XSPROF_CATEGORIES"

# Without rings there is no drain that could know the losses.
run sh -c "ulimit -f 100; XSPROF_RECORD=unfit.data exec $marker 1000 1 0"
is "no file may be so large: it is said, and how many were lost" "$(cat err)" \
	"xsprof: XSPROF_RECORD: '$dir/unfit.data': all $(field lost out) records of this process\
 were lost: its file size limit (ulimit -f) is below its rings' size"
is "no file may be so large: all were" "$(field lost out)" 2000
if [ "${XSPROF_VARIANT:-}" = asan ]; then
	skip "no address space" "a sanitizer needs more"
	skip "no address space: all were lost" "a sanitizer needs more"
else
	run sh -c "ulimit -v 8000; XSPROF_RECORD=unfit.data exec $identity emit 1000"
	is "no address space: it is said, and how many were lost" "$(cat err)" \
		"xsprof: XSPROF_RECORD: '$dir/unfit.data': all 1000 records of this process were\
 lost: no memory or address space for its rings: use a smaller XSPROF_BUFFER_SIZE (4M), or a\
 larger limit (ulimit -v)"
	is "no address space: all were lost" "$(field lost out)" 1000
fi

# Rings that are small for another reason: another size would not have helped.
run env XSPROF_RECORD=l.data "$closer" grow
if [ $rc = 77 ]; then
	skip "no memory for rings in a sandbox" "no sandbox here"
	skip "no memory for rings in a sandbox: recorded" "no sandbox here"
	skip "... and the cure is one" "no sandbox here"
else
	has "no memory for rings in a sandbox" err ": a sandbox \(seccomp\) denied memory for\
 rings: XSPROF_PREFAULT=1 allocates it earlier, at the first marker$"
	run "$xsprof" record -o l.data -- "$closer" grow
	has "no memory for rings in a sandbox: recorded" err \
		'^xsprof: events were lost: a sandbox .seccomp. denied memory for rings: '
	run env XSPROF_PREFAULT=1 XSPROF_BUFFER_SIZE=256k XSPROF_RECORD=l.data "$closer" grow
	is "... and the cure is one" "$rc $(cat err)" "0 "
fi

# Values that cannot work
run env XSPROF_RECORD=w.data XSPROF_SHM_DIR=here "$marker" 10 1 0
is "no place for the rings: one line" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD: 'w.data': nothing\
 is recorded: here: is not an absolute path"
run env XSPROF_RECORD=. "$marker" 10 1 0
is "a directory: one line" "$rc $(wc -l <err)" "0 1"
has "a directory: which" err "^xsprof: XSPROF_RECORD: '.': nothing is recorded: $dir/.: is a dir"
ok "and nothing stays behind" clean

# Several programs with one file name: none takes the file from another.
rm -f f
XSPROF_RECORD=m.data "$steady" f 100000 500 0 2>steady.err &
first=$!
wait_for test -s f
run env XSPROF_RECORD=m.data sh -c "echo \$\$ >second; exec $marker 100 1 0"
second=$(cat second)
is "a file that is being written: the program runs" "$rc $(wc -l <out)" "0 1"
is "a file that is being written: one line says where it went" "$(cat err)" \
	"xsprof: XSPROF_RECORD: 'm.data': another program is being recorded into it: using\
 '$dir/m.data.$second' for this one; '%p' in the name gives each process its own file"
run "$xsprof" info "m.data.$second"
is "... and it is whole there" "$rc $(cat err)" "0 "
ok "... and nothing was moved" not test -e m.data.old
kill -KILL $first
wait $first 2>/dev/null
run "$xsprof" recover
is "the first one is killed, and recovered" $rc 0
run "$xsprof" dump -f text m.data
ok "... into its own file" grep -q ' tick' out
for _ in 1 2 3 4; do
	XSPROF_RECORD=n.data "$marker" 1000 1 0 >>four.out 2>>four.err &
done
wait
for file in n.data*; do
	"$xsprof" dump -f text "$file" 2>>four.err
done | grep -c ' pair' >four
is "four at once: all of all of them" "$(cat four)" 8000
if [ "$(id -u)" = 0 ]; then
	ln -s none.data link.data && chown -h 1 link.data
	run env XSPROF_RECORD=link.data "$marker" 10 1 0
	is "a link of another user: one line" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD: \
'link.data': nothing is recorded: $dir/link.data: is a symbolic link of another user: name another\
 file"
	ok "... and it is not followed" not test -e none.data
fi
run env XSPROF_RECORD=$'x.data\npid 1' "$marker" 10 1 0
is "a line break in the name" "$rc $(ls -N x.data*)" $'0 x.data\npid 1'

# check_closer NAME RECORDS COMMAND...: the program closes descriptors that it does not know, and
# reuses their numbers.
check_closer()
{
	local name=$1 records=$2

	shift 2
	rm -f c.data
	run "$@"
	# In a shared descriptor table the program may close what the library has just opened, and
	# reuse the number before the library closes it. That is rare, so try several times.
	for _ in 2 3 4; do
		[ "$rc" = 1 ] && [ "$2 $3" = "sandbox low" ] || break
		rm -f c.data
		run "$@"
	done
	is "$name: nothing of the program's was touched" "$rc $(cat out)" "0 "
	is "$name: not a word" "$(cat err)" ""
	run "$xsprof" info c.data
	is "$name: the recording is whole" "$rc $(cat err)" "0 "
	run "$xsprof" dump -f text c.data
	is "$name: all of it" "$rc $(grep -c ' mark' out)" "0 $records"
	ok "$name: and nothing stays behind" clean
}

own=(env XSPROF_RECORD=c.data "$closer")
check_closer "all descriptors closed" 4000 "${own[@]}" all
if [ "$forks" = 0 ]; then
	skip "low descriptors used again" "the sanitizer's allocator may be locked in a child"
	skip "a second child" "the sanitizer's allocator may be locked in a child"
else
	check_closer "low descriptors used again" 8000 "${own[@]}" low
	check_closer "a second child" 6000 "${own[@]}" fork
fi

# Where the recording thread cannot have its own descriptor table.
run "$closer" sandbox lost
if [ $rc = 77 ]; then
	skip "without close_range()" "no sandbox here"
else
	is "without close_range(), all closed: nothing was touched" "$rc $(cat out)" "0 "
	is "without close_range(), all closed: it is said" "$(cat err)" \
		"xsprof: XSPROF_RECORD: '$dir/c.data': the recording ends early: the program\
 closed its descriptors; 'xsprof recover' adds what is left in memory"
	run "$xsprof" recover
	is "without close_range(), all closed: recovered" $rc 0
	run "$xsprof" dump -f text c.data
	is "without close_range(), all closed: all of it" "$(grep -c ' mark' out)" 4000
	if [ "$forks" != 0 ]; then
		check_closer "without close_range(), low ones" 8000 "$closer" sandbox low
		check_closer "without close_range(), a second child" 6000 "$closer" sandbox fork
	fi
fi

# Values with more than one line
run env XSPROF_RECORD=w.data XSPROF_MODE=$'a\nb\e[31mc' "$marker" 10 1 0
is "no line breaks and no colours" "$(cat err)" \
	"xsprof: XSPROF_MODE: 'a?b?[31mc' is invalid: expected discard or overwrite; the default\
 is used: discard"
run env XSPROF_RECORD=w.data XSPROF_MODE="$(head -c 100000 /dev/zero | tr '\0' x)" "$marker" 10 1 0
is "a long value is cut" "$rc $(wc -l <err) $(tr -cd x <err | wc -c)" "0 1 130"

# Few descriptors: all is recorded, or the reason is printed and there is no file.
reason='descriptors: there are too few: raise RLIMIT_NOFILE (ulimit -n)'
for files in 4 6 7 8 11 12 16; do
	rm -f few.data few.data.old
	run sh -c "ulimit -n $files; XSPROF_RECORD=few.data exec $marker 10 1 0"
	is "$files descriptors: the program runs" "$rc $(wc -l <out)" "0 1"
	if [ -e few.data ]; then
		run "$xsprof" dump -f text few.data
		is "$files descriptors: all of it" "$rc $(grep -c ' pair' out)" "0 20"
	else
		is "$files descriptors: no file, and why" "$(cat err)" \
			"xsprof: XSPROF_RECORD: 'few.data': nothing is recorded: $reason"
	fi
done

# A closed stderr does not end the program
run sh -c "XSPROF_RECORD=w.data XSPROF_MODE=x exec $marker 10 1 0 2>&-"
is "stderr is closed" $rc 0
exec 3> >(exec true)
wait $!
run env XSPROF_RECORD=w.data XSPROF_MODE=x sh -c "exec $marker 10 1 0 2>&3"
is "nobody reads stderr" $rc 0
exec 3>&-
head -c 300000 /dev/zero >limited
run sh -c "ulimit -f 100; XSPROF_BUFFER_SIZE=4k XSPROF_ARENA_SIZE=4k XSPROF_MODE=x \
	XSPROF_RECORD=w.data exec $marker 10 1 0 2>>limited"
is "stderr is a file that must not grow" "$rc $(stat -c %s limited)" "0 300000"
ok "nothing stays behind" clean
finish
