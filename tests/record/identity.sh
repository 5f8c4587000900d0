#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Processes that change their user, their root folder or their namespaces while they are
# recorded: every event that they pass is in the capture or is counted as lost, and the recorder
# names each process that it cannot record.  The count is the program's own.
. "${0%/*}/tap.sh"

identity=$BUILD/tests/record/identity
export XSPROF_BACKEND=tmpfs
# A leak check needs /proc, which another root has not.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 77; }
# Another user executes the program, and finds its libraries, through any folder above.
cp "$identity" "$dir/identity"
identity=$dir/identity
chmod 755 "$dir"
mkdir -p "$dir/root/tmp"

# What is mapped by a program, so that it can be executed in another root.
fill_root()
{
	cp --parents "$identity" $(ldd "$identity" | grep -o '/[^ ]*') "$dir/root"
}
fill_root

# recorded STEP...: all events are in the capture.
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

# told REASON STEP...: the child cannot be recorded; the recorder says why, in words like REASON.
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
# Descriptors of the parent's are gone, or belong to something else.
recorded close setgid
recorded reuse setgid
user='its user has no access to the session: start a recorder as that user'
place='it cannot find the session.s directory'
told "$user" close setuid
told "$user" reuse setuid
told "$place" close chroot="$dir/root"
told "$place" close mount
# What a limit does not let it have is no sign that nobody records.
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

# Whoever finds no room is named, as is who comes when there is some again; readers say so too.
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

# One that lives is not taken for dead because no descriptor of its own says that it does: neither
# where its number is another one here, nor where it began at another time.
for namespace in pid time; do
	rm -f ready
	passed=1020 recorded late=ready $namespace early close ready=ready sleep=2500
	hasnt "$name: how it ended is known" seen 'how 4'
done

# One that has ended before it is found has no number here, and is neither waited for nor thought
# to run on.
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

# What the child gets with the descriptor of the session: its own file, and no more.
recorded setgid setuid probe
has "probe: the descriptor" out '^probe descriptor: closed by exec$'
is "probe: all is refused" "$(grep -c '^probe .*: refused$' out) $(grep -c permitted out)" "9 0"
has "probe: a forged notice is sent" out '^probe forged notice: sent$'

# Nor can it be its parent: what it writes is its own.
complains=y passed=1020 recorded setgid setuid early impersonate
has "impersonate: refused" seen '^note p\.[0-9.]*\.7: not recorded: belongs to another user'
is "impersonate: two processes" "$(grep -c '^producer' seen)" 2

# Nor when its parent is dead and waited for, and the recorder, which saw it alive, has not looked
# since: what became of the parent is known, and nothing of who says that it was it.
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

# Nor does it leave anything behind, or keep a recording that was killed for itself.
recorded setgid setuid folders
# Nor takes what others have: a few of its files are named, and all events are recorded.
complains=y recorded setgid setuid crowd
is "crowd: few are named" "$(grep -c '^note p\.419[0-9.]*: not recorded: ' seen)" 16
has "crowd: and there are more" seen '^note more than 16 files of user 65534 are not recorded'
# Nor says anything of others.
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

# Connections to its socket, which all users can make, do not keep a recorder from its end.
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

# A program that records itself maps no file that another user could cut.
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

# The command itself is another user's.
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
