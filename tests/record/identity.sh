#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Processes that change their user, root or namespaces while they are recorded: every event is in
# the capture or counted as lost, and the recorder names each process that it cannot record. The
# program itself counts its events.
. "${0%/*}/tap.sh"

identity=$BUILD/tests/record/identity
export XSPROF_BACKEND=tmpfs
# A leak check needs /proc, which another root lacks.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 77; }
# Copied to where another user may execute it and find its libraries.
cp "$identity" "$dir/identity"
identity=$dir/identity
chmod 755 "$dir"
mkdir -p "$dir/root/tmp"

# Copies the files that a program maps into the new root, so that it can be executed there.
fill_root()
{
	cp --parents "$identity" $(ldd "$identity" | grep -o '/[^ ]*') "$dir/root"
}
fill_root

# recorded STEP...: the capture has all events.
recorded()
{
	name="recorded: $*"
	run "$xsprof" record -o i.data -- "$identity" 1000 "$@"
	is "$name: status" $rc 0
	is "$name: passed" "$(field events out)" "${passed:-1010}"
	"$inspect" i.data >seen
	is "$name: in the capture" "$(field records seen)" "${passed:-1010}"
	has "$name: 0 lost" err ', 0 lost, '
	is "$name: the process knows of no loss" "$(field lost out)" 0
	[ -n "${complains:-}" ] ||
		hasnt "$name: no complaint" err 'not recorded'
	ok "$name: nothing stays behind" clean
}

# told REASON STEP...: the child cannot be recorded, and the recorder's reason matches REASON.
told()
{
	local reason=$1

	shift
	name="told: $*"
	run "$xsprof" record -o i.data -- "$identity" 1000 "$@"
	is "$name: status" $rc 0
	is "$name: passed" "$(field events out)" 1010
	"$inspect" i.data >seen
	is "$name: in the capture" "$(field records seen)" 10
	is "$name: the process counts its losses" "$(field lost out)" 1000
	has "$name: why" err "process [0-9]* .*is not recorded: $reason"
	has "$name: in the capture, why" seen "^note process [0-9]* .*is not recorded: $reason"
	ok "$name: nothing stays behind" clean
}

for step in setgid setuid mount pid user time chroot="$dir/root" close; do
	recorded "$step"
done
recorded setgid setuid
recorded chroot="$dir/root" setgid setuid
# The parent's descriptors are closed, or belong to other files.
recorded close setgid
recorded reuse setgid
user='its user has no access to the session: start a recorder as that user'
place='it cannot find the session.s directory'
told "$user" close setuid
told "$user" reuse setuid
told "$place" close chroot="$dir/root"
told "$place" close mount
# A limit that blocks the library does not mean that there is no recorder.
told "no file descriptor left" nofile
told "no file descriptor left" nofd
told "no file descriptor left" setuid nofd
told "no file descriptor left" chroot="$dir/root" setuid nofd
told "its file size limit" fsize
told "no file descriptor left" nofile exec
for step in setgid user pid time close; do
	recorded $step exec
done
told "$user" setuid exec
told "$user" setgid setuid exec
told "$place" chroot="$dir/root" exec
told "$place" mount exec

# The recorder names the process that found no room; later ones are recorded; readers say so too.
name="a full tmpfs"
mkdir full
if mount -t tmpfs -o size=16m none full; then
	XSPROF_SHM_DIR=$dir/full run "$xsprof" record -o f.data -- sh -c '
		"$@"; head -c 32M /dev/zero >full/x 2>/dev/null; "$@"; rm full/x; "$@"' - \
		"$identity" emit 100
	is "$name: the process counts its losses" \
		"$(sed -n 's/.* lost \([0-9]*\) .*/\1/p' out | xargs)" "0 100 0"
	has "$name: why" err "process [0-9]* is not recorded: no space left on tmpfs for its rings"
	"$inspect" f.data >seen
	is "$name: what the others wrote" "$(field records seen)" 200
	run "$xsprof" report f.data
	is "$name: report's status" $rc 4
	has "$name: report says who" out '^# lost: process [0-9]* is not recorded: no space left'
	run "$xsprof" info --allow-lost f.data
	is "$name: unless it is no matter" $rc 0
	umount full
else
	skip "$name" "no tmpfs may be mounted here"
fi

# A live process is not taken for dead because none of its descriptors show that it lives: neither
# in another pid namespace nor with another start time.
for namespace in pid time; do
	rm -f ready
	passed=1020 recorded late=ready $namespace early close ready=ready sleep=2500
	hasnt "$name: how it ended is known" seen 'how 4'
done

# A process that ended before it was found has no pid here. The recorder neither waits for it nor
# takes it for running.
name="pid namespace, short"
if unshare --pid --fork true 2>/dev/null; then
	for i in 1 2 3 4 5 6 7 8; do
		run "$xsprof" record -o n.data -- unshare --pid --fork "$identity" emit 100
		"$inspect" n.data
	done >all
	is "$name: every record" "$(grep -c '^total records 100 ' all)" 8
	hasnt "$name: it has ended" all ' how 5 '
else
	skip "$name" "no pid namespace may be made here"
fi

# Through the session's descriptor the child can open its own file, and do no more.
recorded setgid setuid probe
has "probe: the descriptor" out '^probe descriptor: closed by exec$'
is "probe: all is refused" "$(grep -c '^probe .*: refused$' out) $(grep -c permitted out)" "9 0"
has "probe: a forged notice is sent" out '^probe forged notice: sent$'

# The child cannot pretend to be its parent: what it writes counts as its own.
complains=y passed=1020 recorded setgid setuid early impersonate
has "impersonate: refused" seen '^note p\.[0-9.]*\.7: not recorded: belongs to another user'
is "impersonate: two processes" "$(grep -c '^producer' seen)" 2

# Not even when its parent is dead and reaped and the recorder, which saw the parent alive, was
# stopped since: the parent's end is known, and the child that pretends to be it gains nothing.
name="impersonate the dead"
mkdir theirs && chown 65534:65534 theirs
rm -f out err
# shellcheck disable=SC2016
"$xsprof" record -o d.data -- sh -c 'RECORDER=$PPID "$@"; exit 3' - "$identity" 1000 sleep=300 \
	orphan setgid setuid early impersonate ready=theirs/ready >out 2>err &
pid=$!
wait_for test -e theirs/ready
kill -CONT $pid
wait $pid
is "$name: status" $? 3
"$inspect" d.data >seen
kept="2 status 9"
newer 6.15 || kept="4 status 0"
is "$name: the ends" "$(sed -n 's/^producer . pid .* how/how/p' seen | sort)" "$(sort <<END
how 1 status 0
how $kept
how 4 status 0
END
)"
is "$name: all that was passed" "$(field records seen)" $((10 + 1010 + 10))
rm -r theirs

# It leaves nothing behind, and cannot keep a killed recording's session for itself.
recorded setgid setuid folders
# It does not take resources of others: few of its files are named, and all events are recorded.
complains=y recorded setgid setuid crowd
is "crowd: few are named" "$(grep -c '^note p\.419[0-9.]*: not recorded: ' seen)" 16
has "crowd: and there are more" seen '^note more than 16 files of user 65534 are not recorded'
# It cannot write messages about other processes.
complains=y recorded setgid setuid slander
hasnt "slander: of who it was said" err 'process 1 '
ignored='user 65534 reports other users.? processes as not recorded: ignored'
has "slander: said" err "$ignored"
run "$xsprof" report i.data
is "slander: no loss" $rc 0
run "$xsprof" record --flight -o f.data -- "$identity" 10 setgid setuid slander
has "slander, flight recorder: said" err "$ignored"
hasnt "slander, flight recorder: and nothing of who it was said of" err 'process 1 '
name="the lock of a killed recorder"
mkdir theirs && chown 65534:65534 theirs
"$xsprof" record -o l.data -- "$identity" 1000 setgid setuid folders grab="$dir/theirs/holder" \
	sleep=2000 >out 2>err &
pid=$!
wait_for test -s theirs/holder
kill -KILL $pid
wait $pid 2>/dev/null
sleep 2.5
run "$xsprof" recover
is "$name: recover" $rc 0
"$inspect" l.data >seen
is "$name: every record" "$(field records seen)" 1010
ok "$name: nothing stays behind" clean
kill -KILL "$(cat theirs/holder)"

# All users can connect to the recorder's socket: this does not keep it from ending.
name="flooded"
timeout 60 "$xsprof" record -o i.data -- "$identity" 1000 setgid setuid await=flooded >out 2>err &
pid=$!
wait_for grep -q "@xsprof.s.$(pgrep -P $pid)\." /proc/net/unix
setpriv --reuid 65534 --clear-groups "$identity" flood "$(pgrep -P $pid)" >flooded &
wait $pid
is "$name: status" $? 0
wait
has "$name: it was, to its end" flooded '^[0-9]* connections$'
"$inspect" i.data >seen
is "$name: in the capture" "$(field records seen)" 1010

# A program that records itself maps no file that another user could truncate.
name="records itself"
if [ "${XSPROF_VARIANT:-}" = asan ]; then
	skip "$name" "its children may find the allocator of the sanitizer locked"
else
	run env -u XSPROF_BACKEND XSPROF_RECORD=self.data "$identity" 1000 setgid setuid
	is "$name: status" $rc 0
	"$inspect" self.data >seen
	is "$name: its own events" "$(field records seen)" 10
	has "$name: the child is named" seen "^note process [0-9]* .*is not recorded: $user"
	is "$name: the child counts its losses" "$(field lost out)" 1000
	ok "$name: nothing stays behind" clean
fi

# The command itself runs as another user.
name="setpriv"
run "$xsprof" record -o i.data -- setpriv --reuid 65534 --clear-groups "$identity" emit 100
is "$name: the command's status" $rc 0
has "$name: why" err "process [0-9]* of user 65534 is not recorded: $user"
has "$name: nothing is recorded, and why" err 'all processes that tried to join failed, see above'
is "$name: the losses are counted" "$(field lost out)" 100
run "$xsprof" record --flight -o f.data -- setpriv --reuid 65534 --clear-groups "$identity" emit 9
has "$name, flight recorder: why" err "process [0-9]* of user 65534 is not recorded: $user"
hasnt "$name, flight recorder: no untruth" err 'no process of the command'
finish
