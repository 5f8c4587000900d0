#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof record` as a command: options, exit statuses, signals, what it says and where.
. "$(dirname "$0")/tap.sh"

# The command's own status, input and output
run "$xsprof" record -- sh -c 'cat; echo to-out; echo to-err >&2; exit 3'
is "exit status of the command" $rc 3
is "stdout is the command's alone" "$(cat out)" to-out
has "stderr passes through" err '^to-err$'
has "a summary line" err \
	'^\[ xsprof record: 0 events from 0 processes, .*, 0 lost, wrote xsprof.data \]$'
has "nothing recorded, and why" err \
	'nothing was recorded: no process of the command with libxsprof-user, PyTorch, ITT or NVTX'
has "where the environment was cleared as well" err \
	'reached the recorder .*; env -i and sudo clear LD_PRELOAD and what else collectors need; '
ok "the capture is there" test -s xsprof.data
echo 'int main(void) { return 0; }' >plain.c
if gcc -static -o static plain.c 2>err; then
	printf '#!%s/static\n' "$PWD" >script
	chmod +x script
	for program in static script; do
		run "$xsprof" record "./$program"
		has "nothing recorded of ./$program, and why" err \
			"no markers were recorded: \./$program is statically linked"
	done
	run "$xsprof" record --flight ./static
	has "nor by --flight" err 'nothing was recorded: \./static is statically linked'
else
	skipped "nothing recorded of a static program" "gcc -static: $(tail -n 1 err)"
fi
printf '#!/bin/sh\n' >script
chmod +x script
run "$xsprof" record ./script
hasnt "a script of a shell takes libraries" err 'script is'
ok "no session stays behind" clean
echo input | "$xsprof" record -q -- cat >out 2>err
is "stdin passes through" "$(cat out)" input
is "--quiet is quiet" "$(cat err)" ""
"$xsprof" record -q -- "$marker" 10 1 0 >/dev/null 2>err
ok "a capture without an event is overwritten" test ! -e xsprof.data.old
run "$xsprof" record true
ok "one with events is kept" test -s xsprof.data.old
# Also in /dev/shm, which holds regular files.
for i in 1 2; do
	run "$xsprof" record -o "$shm/kept.data" -- "$actor" count 10
	is "in /dev/shm as anywhere, $i" $rc 0
done
ok "in /dev/shm as anywhere: kept" test -s "$shm/kept.data.old"
rm -f "$shm"/kept.data*
run "$xsprof" record true
run "$xsprof" report xsprof.data
has "a report of none says so" out '^\.\.\. nothing was recorded: '
run "$xsprof" info xsprof.data.old
has "and is not pushed out by those without" out '^command  .*marker 10'
run "$xsprof" record -o quiet.data true
is "no -- needed" $rc 0
ok "-o" test -s quiet.data

# Ends
run "$xsprof" record -- sh -c 'kill -TERM $$'
is "killed by SIGTERM: 143" $rc 143
has "and said so" err 'sh: killed by signal 15 \(Terminated\)'
run "$xsprof" record -- sh -c 'kill -KILL $$'
is "killed by SIGKILL: 137" $rc 137
rm -f xsprof.data*
run "$xsprof" record -- ./no-such-command
is "not found: 127" $rc 127
has "not found, said" err '^xsprof: \./no-such-command: command not found'
for value in 30s 16M 5; do
	run "$xsprof" record --flight $value true
	is "--flight $value: 127" $rc 127
	has "--flight $value: the right form" err \
		"^xsprof: $value: .* did you mean --flight=$value\?"
done
run "$xsprof" record --flight=16M 30s
hasnt "--flight=16M 30s: a command" err 'did you mean'
run "$xsprof" record -- no-such-command
is "not found in PATH: 127" $rc 127
echo text >plain
run "$xsprof" record -- ./plain
is "not executable: 126" $rc 126
has "not executable, said" err '^xsprof: \./plain: cannot be executed: Permission denied'
run "$xsprof" record -- /
is "a directory: 126" $rc 126
ok "no file is made for a command that never ran" test ! -e xsprof.data
ok "and no session" clean

# Signals
for sig in INT TERM HUP QUIT USR1; do
	cat >trap.sh <<-END
	trap 'echo got-$sig; exit 5' $sig
	echo ready; i=0
	while [ \$i -lt 200 ]; do sleep 0.05; i=\$((i + 1)); done
	END
	rm -f out err
	# A background job of a shell ignores INT and QUIT: give them back.
	env --default-signal=INT,QUIT "$xsprof" record -q -- sh trap.sh >out 2>err &
	pid=$!
	wait_for grep -qs ready out
	kill -$sig $pid
	wait $pid
	is "SIG$sig reaches the command" "$?:$(tail -n 1 out)" "5:got-$sig"
done
cat >count.sh <<'END'
n=0
trap 'n=$((n + 1))' INT
echo ready; i=0
while [ $i -lt 10 ]; do sleep 0.05; i=$((i + 1)); done
echo "n=$n"
END
if command -v script >/dev/null; then
	# On a terminal Ctrl-C comes to the whole group: once, not twice.
	(wait_for grep -qs ready typed; printf '\003'; sleep 1) |
		script -qefc "$xsprof record -q -- sh count.sh" typed >/dev/null
	has "Ctrl-C of a terminal arrives once" typed 'n=1'
	script -qefc "$xsprof record -o - -- true" typed >/dev/null </dev/null
	is "no capture is written to a terminal: status" $? 2
	has "and it is said what helps" typed 'standard output is a terminal: name a file, or read'
	TERM=xterm script -qefc "stty cols 24; $xsprof record -- sh -c 'sleep 0.6; printf hello'" \
		typed >/dev/null </dev/null
	ok "what is said does not go on in the command's last line" \
		grep -qE "hello {24}"$'\r\033\\[Kxsprof: nothing' typed
	ok "and no live line is in the midst of its output" not grep -qE ' s \]' typed
	TERM=xterm script -qefc "stty cols 24; $xsprof record -- sleep 0.6 >screen" typed \
		>/dev/null </dev/null
	is "the live line is never longer than a narrow terminal's" \
		"$(tr '\r' '\n' <typed | awk '/^\[ .*\033\[K$/ { n++; if (length($0) > 26) long++ }
			END { print (n > 0), long + 0 }')" "1 0"
else
	skip "Ctrl-C of a terminal arrives once" "script is not installed"
	skip "what is said does not go on in the command's last line" "script is not installed"
	skip "the live line is never longer than a narrow terminal's" "script is not installed"
fi
cat >deaf.sh <<'END'
trap '' INT TERM
echo $$ >deaf.pid
echo ready; i=0
while [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done
END
rm -f out err
env --default-signal=INT,QUIT "$xsprof" record -- sh deaf.sh >out 2>err &
pid=$!
wait_for grep -qs ready out
# On a busy machine two that come at once may be seen as one.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	kill -TERM $pid
	sleep 0.2
done
wait $pid
is "asked three times it ends whatever the command does" $? 143
has "and says who still runs" err 'sh: still runs as process'
kill -KILL "$(cat deaf.pid)"

# Arguments
for bad in --no-such-option --mode=sideways '-b 0' '-b lots' -b1k '-d soon' -d0 -z0 -z99 \
	--clock=sundial '-o - --flight' --quiet=yes --backend=paper -p0 '-p 12,x' -p1; do
	# shellcheck disable=SC2086
	run "$xsprof" record $bad -- true
	is "refused: $bad" $rc 2
	has "told where help is: $bad" err "see 'xsprof record --help'"
done
run "$xsprof" record --compres=3 -- true
is "an option may be abbreviated" $rc 0
run "$xsprof" record --comprss -- true
has "an option is suggested" err 'did you mean --compress'
run "$xsprof" record -z 9 -- true
is "a level behind -z" $rc 0
run "$xsprof" record -z 99 -- true
is "which may be too high" $rc 2
run "$xsprof" record -z true
is "and may be left out" $rc 0
run "$xsprof" record
is "no command" $rc 2
has "no command, said" err 'no command'
run "$xsprof" record --help
is "--help" $rc 0
has "--help says the options" out '--buffer-size'
run "$xsprof" recrod
has "a verb is suggested" err "did you mean 'record'"
run "$xsprof" export -o x
is "a verb of another profiler is refused" $rc 2
has "and which is meant here" err "^xsprof: export: .*did you mean 'dump -f perfetto'"
while read -r option meant; do
	run "$xsprof" record "$option" true
	is "an option of another profiler is refused: $option" $rc 2
	has "and what does that here" err "^xsprof: ${option%%=*}.*: unknown option: .*$meant"
done <<-'END'
	-g --torch cstack
	-F --python=HZ
	--freq=99 --python=HZ
	--trace=cuda,nvtx --gpu
	--stats=true xsprof report
END
run "$xsprof" --version
has "--version" out '^xsprof [0-9]'
run sh -c "$xsprof --help >/dev/full"
is "help to a full device fails" $rc 1

# Running processes, and the module
run "$xsprof" record -p 1 -a
has "some or all" err '--pid, --all: either some or all'
run "$xsprof" record -a -m discard
has "rings are as they are" err '--mode: the rings of processes that run are as they are'
run "$xsprof" record -a --backend tmpfs
has "tmpfs shows no running process" err '--all needs the module'
if [ -c /dev/xsprof ]; then
	skip "no module" "there is one"
	skip "no module, said" "there is one"
else
	run "$xsprof" record -p $$ -o none.data
	is "no module: a process that is no Python" $rc 2
	has "no module, said: that" err \
		"^xsprof: process $$: there is no Python in it, .* load the kernel module"
	for need in -a '--backend=device true'; do
		# shellcheck disable=SC2086
		run "$xsprof" record $need
		is "no module: $need" $rc 2
		has "no module, said: $need" err '/dev/xsprof is not there: load the module'
	done
	run "$xsprof" recover -p 1
	is "no module: recover" $rc 2
fi
run "$xsprof" record --categories=io,net,-io true
is "a category both asked for and left out" $rc 2
has "which, it says" err "'io,net,-io': io is asked for and left out"
run "$xsprof" record --gpu -o b.data -- true
has "a command that used no GPU" err \
	'^xsprof: --gpu: no process .* used CUDA, OpenCL, Vulkan or Level Zero'
run "$xsprof" record --no-itt -o b.data --backend=tmpfs -- sh -c 'echo $XSPROF_BACKEND'
is "the command is told of --backend" "$(cat out)" tmpfs
run "$xsprof" record --no-itt -o b.data -- "$actor" count 10
hasnt "rings in the tmpfs are not worth a line" err '^xsprof: rings'
run "$xsprof" record --no-itt -v -o b.data -- "$actor" count 10
has "told where the rings are" err '^xsprof: rings: tmpfs$'

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

# What somebody calls a program or a file drives no terminal
evil=$'e\033[31m\302\233v'
cp "$actor" "$evil"
rm -f held
"$xsprof" record -v -o "$evil.data" -- "./$evil" hold 2000 held >out 2>err &
pid=$!
wait_for test -s held
"$xsprof" list >listed
kill -INT $pid
wait $pid
"$xsprof" report "$evil.data" >reported 2>>err
"$xsprof" info "$evil.data" >>reported 2>>err
"$xsprof" report "no-$evil" >>reported 2>>err
"$xsprof" record "./no-$evil" 2>>err
has "the list shows it" listed 'e\\x1b\[31m'
has "a message shows it" err 'wrote e\\x1b\[31m'
ok "no control character is printed" not grep -qaP '\x1b|\xc2\x9b' listed err reported

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
has "said" err 'open to others'
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
		'other/xsprof-0 is taken by another user: .*/other/xsprof-0\.[0-9a-f]* is used'
	has "and is recorded into" err ' 20 events from 1 process, .* 0 lost'
	XSPROF_SHM_DIR=$dir/other run "$xsprof" record -o p.data -- "$xsprof" list
	has "the list finds it" out "^$dir/other/xsprof-0\.[0-9a-f]*/s\.[^ ]*: recording"
	is "it is used again" "$(find other -mindepth 1 -name 'xsprof-0.*' | wc -l)" 1
else
	skip "somebody else's folder" "needs root"
fi

XSPROF_BACKEND=paper run "$xsprof" record -o b.data -- true
has "a variable that makes no sense is told of" err \
	"^xsprof: XSPROF_BACKEND: 'paper' is invalid: auto, device, tmpfs or none$"
XSPROF_BUFFER_SIZE='16 M' run "$xsprof" record -o b.data -- true
has "a size as well" err "^xsprof: XSPROF_BUFFER_SIZE: '16 M' is invalid: "
XSPROF_BUFFER_SIZE=2T XSPROF_ARENA_SIZE=1k XSPROF_LOCK_RINGS=65 run "$xsprof" record -o b.data -- \
	true
is "and one that is too large or too small" "$(grep -c 'is invalid: ' err)" 3
XSPROF_BUFFER_SIZE=32KiB XSPROF_BACKEND=tmpfs run "$xsprof" record -o b.data -- "$marker" 10 1 0
is "sizes are those of options" "$("$xsprof" info --json b.data | grep -o '"ring_size":[0-9]*')" \
	'"ring_size":32768'
XSPROF_BUFFER_SIZE=64k XSPROF_MODE=overwrite XSPROF_CLOCK=mono XSPROF_LOCK_RINGS=2 \
	XSPROF_ARENA_SIZE=64k XSPROF_BACKEND=tmpfs run "$xsprof" record -o b.data -- true
hasnt "those that make sense are not" err 'is invalid'
XSPROF_ARENA_SIZE=64k XSPROF_BACKEND=tmpfs run "$xsprof" record -o b.data -- \
	"$marker" 5000 1 0 names
has "names that find no room are told of by record" err \
	'[0-9]+ names, threads or facts found no room: .*XSPROF_ARENA_SIZE=16M'
run "$xsprof" report b.data
has "by each verb that reads the capture" err \
	'[0-9]+ names, threads or facts found no room in it: .*XSPROF_ARENA_SIZE=16M'
has "and events of such names have none" out ' \?$'
XSPROF_ARENA_SIZE=16M XSPROF_BACKEND=tmpfs run "$xsprof" record -o b.data -- \
	"$marker" 50000 1 0 names
hasnt "with the variable there is room" err 'found no room'
is "for 50000 names" \
	"$("$xsprof" dump b.data | grep -o 'pair number [0-9]*' | sort -u | wc -l)" 50000
XSPROF_BUFFER_SIZE=paper run "$xsprof" record -b 64k -o b.data -- true
hasnt "nor what an option says" err 'is invalid'
XSPROF_BACKEND=none run "$xsprof" record -o b.data -- "$marker" 10 1 1
has "and why nothing came" err 'nothing was recorded: XSPROF_BACKEND=none'
run "$xsprof" record --prefault --backend=tmpfs -b 1T -o b.data -- true
is "memory that there is not is not asked for" $rc 2
has "said" err '^xsprof: --prefault: .* are free in the tmpfs'
ok "no session stays behind" clean

# The recorder's priority, and that of the command, which keeps its own
for prio in 0 100 x 1x; do
	run "$xsprof" record --realtime=$prio -o b.data -- true
	is "--realtime=$prio is none" $rc 2
done
run "$xsprof" record --flight --realtime -o b.data -- true
is "a flight recorder has no use for one" $rc 2
if chrt -f 1 true 2>/dev/null; then
	# Of what the test itself runs at; 19 is the end.
	nice=$(nice -n 3 nice)
	# shellcheck disable=SC2016
	run nice -n 3 "$xsprof" record --realtime=7 -o b.data -- sh -c \
		'cut -d " " -f 19,40,41 /proc/$PPID/stat /proc/$$/stat'
	is "the recorder has the priority, the command has its own" "$(cat out)" "$(printf '%s\n' \
		"$nice 7 1" "$nice 0 0")"
	run setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice prlimit --rtprio=0:0 \
		"$xsprof" record --realtime -o b.data -- touch ran
	is "what is not permitted is an error" $rc 2
	has "with what it takes" err '^xsprof: --realtime: .* CAP_SYS_NICE'
	ok "before anything was started" test ! -e ran
else
	skip "the recorder has the priority, the command has its own" "SCHED_FIFO is not permitted"
fi

# While the recorder stands still nothing reads the rings: they fill, with room enough beside them.
# shellcheck disable=SC2016
full='kill -STOP $PPID; "$@"; kill -CONT $PPID'
run "$xsprof" record --backend=tmpfs -b 64k -o b.data -- sh -c "$full" - "$marker" 20000 1 0
cure='take a larger --buffer-size \(-b\), fewer --categories, --realtime if the CPUs are busy, '
cure+='or -m overwrite to keep the latest'
has "full rings: what helps" err \
	"^xsprof: events were lost: rings were full before they were read: $cure\$"
run "$xsprof" record --backend=tmpfs -m overwrite -b 64k -o b.data -- \
	sh -c "$full" - "$marker" 20000 1 0
cure='a larger --buffer-size \(-b\) or fewer --categories keep more'
has "the same in overwrite mode" err \
	"^xsprof: events were overwritten before they were read: the latest are kept; $cure\$"

# Two recorders
run "$xsprof" record -o outer.data -- "$xsprof" record -o inner.data -- true
is "a second recorder is refused" $rc 2
has "and told who records" err "already being recorded by process [0-9]+ into $dir/outer.data"
ok "it wrote nothing" test ! -e inner.data
XSPROF_SESSION=$shm/gone run "$xsprof" record -- true
is "a session that is gone does not matter" $rc 0

"$xsprof" record -o same.data -- sh -c 'echo ready; exec sleep 2' >held 2>err.held &
pid=$!
wait_for grep -qs ready held
run "$xsprof" record -o same.data -- true
is "a capture that is being written is nobody else's" $rc 2
has "said" err '^xsprof: same.data: is being written by another recorder: name another'
wait $pid
is "and is whole" "$? $(grep -c 'wrote same.data' err.held)" "0 1"
ok "with none moved aside" test ! -e same.data.old

# Names of what a capture is not
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

# A capture that comes to nothing leaves what was there
rm -f xsprof.data*
echo first >xsprof.data
run "$xsprof" snapshot
is "no snapshot of nobody" $rc 1
is "what was there keeps its name" "$(cat xsprof.data)" first
ok "and no other stands beside it" test ! -e xsprof.data.old

# A directory in the way of what is kept
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

# Links in the way of the file
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

# A recorder that was killed
rm -f held
"$xsprof" record -q -o dead.data -- "$actor" hold 60000 held >out 2>err &
pid=$!
wait_for test -s held
kill -KILL $pid
wait $pid
run "$xsprof" record -o b.data -- true
has "what one left is told of" err 'left by a recorder that was killed, or a profiled program'
run "$xsprof" record -q -o b.data -- true
is "--quiet says nothing of it" "$(cat err)" ""
kill -KILL "$(cat held)"
"$xsprof" recover --delete 2>err
ok "no session stays behind" clean
run "$xsprof" recover --list some-session
is "a list is of all sessions" $rc 2

# Duration
run "$xsprof" record --duration 300ms -- "$actor" hold 1200 held
is "after --duration the command goes on" $rc 0
has "said" err 'the recording has ended, the command continues'
"$inspect" xsprof.data >seen
has "what came before is there, what came after is not" seen '^total records 100 .* end 1 why 2 '
has "a process that ran on is marked so" seen 'how 5'
ok "no session stays behind" clean
# The first file that is written is the recording's; the messages go into a pipe, which may grow.
for how in "" --flight; do
	for blocks in 0 4; do
		[ -n "$how" ] && [ $blocks = 4 ] && continue
		name="ulimit -f $blocks, record${how:+ $how}"
		said=$(sh -c "ulimit -S -f $blocks; exec $xsprof record $how -o lf.data -- \
			sh -c 'echo began >&2'" 2>&1 >/dev/null)
		is "$name: status" $? 2
		is "$name: said" "$(sed -n 's/.*: cannot be written: //p' <<<"$said")" \
			"File too large: raise the limit of file sizes (ulimit -f)"
		is "$name: the command is not run" "$(grep -c began <<<"$said")" 0
		ok "$name: nothing stays behind" clean
	done
done
said=$(sh -c "ulimit -S -f 0; exec $xsprof snapshot -o lf.data" 2>&1 >/dev/null)
is "ulimit -f 0, snapshot: status" $? 2
is "ulimit -f 0, snapshot: said" \
	"$(grep -c 'lf.data: cannot be written: File too large' <<<"$said")" 1
finish
