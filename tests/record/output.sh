#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where `xsprof record` writes: standard output, the session's folder, and files that cannot or must
# not be written. TAP.
. "$(dirname "$0")/tap.sh"

# Standard output
name="to standard output"
for o in - /dev/stdout; do
	"$xsprof" record --no-itt -o $o -- sh -c 'echo printed; exec "$@"' - "$actor" count 10 \
		2>err | "$xsprof" dump -f ndjson - 2>log >out
	is "$name, -o $o: events" "$(grep -c '"type":"\(instant\|begin\|end\)"' out)" 10
	has "$name, -o $o: what the command prints" err '^printed$'
done
"$xsprof" record --no-itt -q -o - -- sh -c 'echo printed; exec "$@"' - "$actor" count 10 >both 2>err
"$inspect" both >seen
ok "$name: a file" test $? = 0
has "$name, a file: what the command prints" err '^printed$'
"$xsprof" record --no-itt -o - -- echo printed >both 2>&1
is "$name, and standard error the same file: status" $? 2
ok "$name: what leads to it stays" test -h /dev/stdout
has "$name, and standard error the same file: said" both 'is standard error, where messages go'
run "$xsprof" record --no-itt -o /dev/null -- echo printed
is "nothing of the capture is kept: the command has its output" "$(cat out)" printed

# Places
run "$xsprof" record -o /no/such/dir/x.data -- sh -c 'echo ran'
is "no such folder" $rc 2
has "no such folder, said" err '/no/such/dir/x.data: cannot be written: No such file'
is "the command was not started" "$(cat out)" ""
mkdir isdir
run "$xsprof" record -o isdir -- true
is "a folder as output" $rc 2
XSPROF_SHM_DIR=/no/such/dir run "$xsprof" record -- true
is "no tmpfs" $rc 2
has "no tmpfs, said" err '/no/such/dir: does not exist: mount a tmpfs'
XSPROF_SHM_DIR=shm run "$xsprof" record -- true
is "a relative base" $rc 2
mkdir open; mkdir -m 777 open/xsprof-$(id -u)
XSPROF_SHM_DIR=$dir/open run "$xsprof" record -- true
is "a folder others can enter" $rc 2
has "said" err 'accessible to others'
mkdir link elsewhere; ln -s "$dir/elsewhere" link/xsprof-$(id -u)
XSPROF_SHM_DIR=$dir/link run "$xsprof" record -- true
is "a symbolic link in its place" $rc 2
has "said" err 'is not a directory'
if [ "$(id -u)" = 0 ]; then
	mkdir other; mkdir -m 700 other/xsprof-0; chown 65534 other/xsprof-0
	rm -f p.data
	XSPROF_SHM_DIR=$dir/other run "$xsprof" record -o p.data -- "$marker" 10 1 0
	is "somebody else's folder: another is made" $rc 0
	has "said" err \
		'other/xsprof-0 belongs to another user: using .*/other/xsprof-0\.[0-9a-f]*'
	has "and is recorded into" err ' 20 events from 1 process, .* 0 lost'
	XSPROF_SHM_DIR=$dir/other run "$xsprof" record -o p.data -- "$xsprof" list
	has "the list finds it" out "^$dir/other/xsprof-0\.[0-9a-f]*/s\.[^ ]*: recording"
	is "it is used again" "$(find other -mindepth 1 -name 'xsprof-0.*' | wc -l)" 1
else
	skip "somebody else's folder" "needs root"
fi

# A file that another recorder writes
"$xsprof" record -o same.data -- sh -c 'echo ready; exec sleep 2' >held 2>err.held &
pid=$!
wait_for grep -qs ready held
run "$xsprof" record -o same.data -- true
is "a capture that is being written is nobody else's" $rc 2
has "said" err '^xsprof: same.data: is being written by another recorder: name another'
wait $pid
is "and is whole" "$? $(grep -c 'wrote same.data' err.held)" "0 1"
ok "with none moved aside" test ! -e same.data.old

# Names with the suffix of another format
for name in cap.data.gz CAP.DATA.GZ cap.zst; do
	run "$xsprof" record -o $name -- true
	is "-o $name is refused" "$rc $(echo cap* CAP*)" "2 cap* CAP*"
	has "-o $name: and what compresses it is named" err "^xsprof: --output: $name: .*: -z compr"
	run "$xsprof" snapshot -z -o $name
	is "snapshot -z -o $name is refused" $rc 2
done
for format in chrome=trace.json perfetto=trace.pftrace; do
	run "$xsprof" record -o "${format#*=}" -- true
	is "record -o ${format#*=} is refused" $rc 2
	has "and what writes one" err "dump -f ${format%=*} -o ${format#*=}'"
done
run "$xsprof" recover -o cap.gz
is "recover -o cap.gz is refused" $rc 2

# A recording that fails leaves the old capture in place
rm -f xsprof.data*
echo first >xsprof.data
run "$xsprof" snapshot
is "no snapshot of nobody" $rc 1
is "what was there keeps its name" "$(cat xsprof.data)" first
ok "and no other stands beside it" test ! -e xsprof.data.old

# A directory in the place of the backup file
mkdir way.data.old; echo first >way.data
run "$xsprof" record -o way.data -- true
is "a directory in the way of FILE.old: FILE stays" "$rc $(cat way.data)" "2 first"
has "and is named" err '^xsprof: way\.data\.old: is a directory: .*: move it away, or name another'
run env XSPROF_RECORD=way.data "$marker" 10 1 0
has "by a program that records itself, too" err \
	": nothing is recorded: $dir/way\.data\.old: is a directory: .*: move it away, or "
rmdir way.data.old
run "$xsprof" record -q -o way.data -- true
is "moved away it is none" "$rc $(cat way.data.old)" "0 first"

# Symbolic links in place of the file
echo mine >mine; ln -s "$dir/mine" link.data
run "$xsprof" record -q -o link.data -- true
is "a link of one's own" "$rc $(cat mine)" "0 mine"
ok "is moved aside as a file is" test -L link.data.old
theirs="a link that another user put there"
if [ "$(id -u)" = 0 ]; then
	mkdir -m 755 theirs; ln -s "$dir/mine" theirs/out.data
	chown -hR 65534 theirs
	run "$xsprof" record -o theirs/out.data -- true
	has "$theirs: refused" err 'theirs/out.data: is a symbolic link of another user'
	is "$theirs: its file is as it was" "$rc $(cat mine)" "2 mine"
	: >mine
	run "$xsprof" record -o theirs/out.data -- true
	is "$theirs: an empty file too" "$rc $(wc -c <mine)" "2 0"
else
	skip "$theirs" "not root: there is nobody else"
fi

# A limit of file sizes
# The first file written is the recording's; the messages go into a pipe, which has no limit.
for how in "" --flight; do
	for blocks in 0 4; do
		[ -n "$how" ] && [ $blocks = 4 ] && continue
		name="ulimit -f $blocks, record${how:+ $how}"
		said=$(sh -c "ulimit -S -f $blocks; exec $xsprof record $how -o lf.data -- \
			sh -c 'echo began >&2'" 2>&1 >/dev/null)
		is "$name: status" $? 2
		is "$name: said" "$(sed -n 's/.*: cannot be written: //p' <<<"$said")" \
			"File too large: raise the file size limit (ulimit -f)"
		is "$name: the command is not run" "$(grep -c began <<<"$said")" 0
		ok "$name: nothing stays behind" clean
	done
done
said=$(sh -c "ulimit -S -f 0; exec $xsprof snapshot -o lf.data" 2>&1 >/dev/null)
is "ulimit -f 0, snapshot: status" $? 2
is "ulimit -f 0, snapshot: said" \
	"$(grep -c 'lf.data: cannot be written: File too large' <<<"$said")" 1
