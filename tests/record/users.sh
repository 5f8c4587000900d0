#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# root records into another user's folder: what that user puts in the place of a file is not written
# to, and receives nothing.
. "${0%/*}/tap.sh"

export XSPROF_BACKEND=tmpfs
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 77; }
chmod 755 "$dir"

them()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# planted COMMAND...: makes an empty folder of theirs, and runs the command in it as them.
planted()
{
	rm -rf theirs
	mkdir theirs
	chown 65534:65534 theirs
	(cd theirs && them "$@")
}

# Ways to write a capture, each to theirs/out.
by_record()
{
	timeout 10 "$xsprof" record -q -o theirs/out -- "$marker" 100 1 0
}

by_self()
{
	env -u XSPROF_BACKEND XSPROF_RECORD=theirs/out timeout 10 "$marker" 100 1 0
}

by_flight()
{
	timeout 10 "$xsprof" record --flight -q -o theirs/out -- "$marker" 100 1 0
}

for way in by_record by_self by_flight; do
	# A file that they can read and truncate, also while it is empty.
	for text in "" old; do
		planted sh -c "printf '$text' >out; chmod 666 out; ln out link"
		run $way
		is "$way, a file of theirs${text:+, not empty}: status" $rc 0
		is "$way, a file of theirs${text:+, not empty}: nothing is in it" \
			"$(cat theirs/link)" "$text"
		is "$way, a file of theirs${text:+, not empty}: ours is new" \
			"$(stat -c '%u %a %h' theirs/out)" "0 600 1"
		"$inspect" theirs/out >seen
		is "$way, a file of theirs${text:+, not empty}: it has all" \
			"$(field read seen)" 200
	done

	# A pipe without a reader: opening it would block.
	planted mkfifo -m 666 out
	run $way
	has "$way, a pipe of theirs: refused" err 'out: is a pipe of another user: name another'
	ok "$way, a pipe of theirs: stays" test -p theirs/out

	echo ours >ours
	planted ln -s "$dir/ours" out
	run $way
	has "$way, a link of theirs: refused" err 'out: is a symbolic link of another user'
	is "$way, a link of theirs: is not followed" "$(cat ours)" ours
done

# The names of a flight recorder's snapshots are predictable: a file in the way costs no snapshot.
# blocked WHAT NUMBER COMMAND...: runs the command with $name as the name of the next snapshot; then
# one process of the recorded command, which runs on, is killed.
blocked()
{
	local what="a name that can be foreseen, $1" number=$2

	shift 2
	planted true
	rm -f pid go out err
	# shellcheck disable=SC2016
	timeout 60 "$xsprof" record --flight -q -o theirs/out -- \
		sh -c '"$0" pid 0 1000; until test -e go; do sleep 0.05; done' "$steady" \
		>out 2>err &
	wait_for test -s pid
	# The kernel tells that it was killed, or only that it vanished.
	for name in out.1.{killed,vanished}-"$(cat pid)"; do
		(cd theirs && export name && them "$@")
	done
	name="out.1.(killed|vanished)-$(cat pid)"
	kill -KILL "$(cat pid)"
	wait_for grep -qE "$name" err
	echo >go
	wait $!
	has "$what: said" err "theirs/$name(.old)?: .*: written to theirs/$name\\.$number\$"
	"$inspect" "$(sed -n 's/.*: written to //p' err)" >seen
	has "$what: the snapshot" seen '^producer 0 .* how (2 status 9|4)'
}
echo ours >ours
export ours=$dir/ours
# shellcheck disable=SC2016
{
	blocked "a link" 2 sh -c 'ln -s "$ours" "$name"'
	is "a link: is not followed" "$(cat ours)" ours
	blocked "a pipe" 2 sh -c 'mkfifo -m 666 "$name"'
	blocked "a folder" 2 sh -c 'mkdir "$name"'
	blocked "a file that cannot be moved" 2 sh -c 'echo x >"$name"; mkdir "$name.old"'
	blocked "two folders" 3 sh -c 'mkdir "$name" "$name.2"'
	blocked "all that can be" '[0-9a-f]{8,16}' sh -c 'mkdir "$name" "$name.2" "$name.3"'
}

# A name in /proc/self/fd stands for a file that others look for there: do not rename that file.
echo something >log
run sh -c "$xsprof record -q -o /proc/self/fd/1 -- true >>log"
ok "a file of a descriptor is not moved" test "$rc" != 0 -a "$(cat log)" = something

run "$xsprof" record -q -o k.data -- "$marker" 100 1 0
for file in out out.gz; do
	planted ln -s /dev/full "$file"
	run "$xsprof" dump -f chrome -o "theirs/$file" k.data
	is "dump, a link of theirs to a device: is replaced" "$rc $(stat -c %F "theirs/$file")" \
		"0 regular file"
	planted mkfifo -m 666 "$file"
	run timeout 10 "$xsprof" dump -f chrome -o "theirs/$file" k.data
	is "dump, a pipe of theirs: is replaced" "$rc $(stat -c %F "theirs/$file")" \
		"0 regular file"
done

# A file that has taken the capture's place by the time of its recovery.
for plant in "ln -s $dir/pipe out" "mkdir out" "mkfifo out" "ln -s out out"; do
	mkfifo pipe
	rm -f held
	planted true
	"$xsprof" record -q -o theirs/out -- "$actor" hold 500 held >out 2>err &
	pid=$!
	wait_for test -s held
	kill -KILL $pid
	wait $pid 2>/dev/null
	(cd theirs && them sh -c "rm -f out; $plant")
	sleep 0.7
	session=$(basename "$(find "$shm" -mindepth 2 -maxdepth 2 -name 's.*')")
	run timeout 10 "$xsprof" recover -o saved.data "$session"
	is "recover, $plant: status" $rc 0
	"$inspect" saved.data >seen
	is "recover, $plant: every record" "$(field records seen)" 200
	ok "recover, $plant: nothing stays" clean
	rm -f pipe
done

# The name of the sessions' folder, with a second link to a file of ours.
mkdir -m 1777 base
install -m 666 /dev/null base/any
if them ln base/any base/xsprof-0 2>/dev/null; then
	XSPROF_SHM_DIR=$dir/base run "$xsprof" record -o k.data -- "$marker" 10 1 0
	is "a taken name: another is used" $rc 0
	has "a taken name: said" err 'base/xsprof-0 belongs to another user: using .*'
else
	skip "a taken name" "this kernel lets nobody link to a file of ours"
	skip "a taken name: said" "as above"
fi

# A command with more rights than its caller: our libraries must not get in.
echo 'int main(void) { return 0; }' >plain.c
gcc -o set-id plain.c && cp set-id with-file && cp set-id set-gid && chmod 4755 set-id &&
	chmod 2755 set-gid
mkdir -m 700 shm-them
chown 65534:65534 shm-them
refused() # $1 name, $2 program
{
	XSPROF_SHM_DIR=$dir/shm-them run them "$xsprof" record -o /dev/null -- "$2"
	is "$1: status" $rc 0
	has "$1: said" err "no markers were recorded: $2 is a program that runs as another user"
}
if [ "$(findmnt -n -o OPTIONS -T . | grep -c nosuid)" = 0 ]; then
	refused "set-user-id" "$dir/set-id"
	refused "set-group-id" "$dir/set-gid"
	chmod 2645 set-gid
	XSPROF_SHM_DIR=$dir/shm-them run them "$xsprof" record -o /dev/null -- "$dir/set-gid"
	hasnt "set-group-id, not for the group: not said" err 'runs as another user'
	if setcap cap_net_raw+ep with-file 2>err; then
		refused "with capabilities" "$dir/with-file"
	else
		skip "with capabilities: status" "setcap: $(tail -n 1 err)"
		skip "with capabilities: said" "as above"
	fi
else
	skip "set-user-id" "$dir is mounted nosuid"
fi
run "$xsprof" record -o k.data -- "$dir/set-id"
hasnt "set-user-id, of the caller: not said" err 'runs as another user'
ok "nothing stays behind" clean
finish
