#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof record` as a command: options, exit statuses, signals, messages.
. "$(dirname "$0")/tap.sh"

# The command's exit status, input and output
run "$xsprof" record -- sh -c 'cat; echo to-out; echo to-err >&2; exit 3'
is "exit status of the command" $rc 3
is "stdout is the command's alone" "$(cat out)" to-out
has "stderr passes through" err '^to-err$'
has "a summary line" err \
	'^\[ xsprof record: 0 events from 0 processes, .*, 0 lost, wrote xsprof.data \]$'
has "nothing recorded, and why" err \
	'^xsprof: nothing was recorded: no process of the command had markers$'
has "and what markers are" err \
	"^xsprof: markers are those of libxsprof-user, PyTorch's ops, ITT calls .*, NVTX calls\$"
has "where the environment was cleared as well" err ': .*; env -i and sudo clear variables'
is "in short lines, and first what records any program" \
	"$(grep -A 1 'nothing was recorded' err | tail -n 1; awk 'length > 110' err)" \
	"xsprof: 'sudo xsprof record -e sched' shows where the time of any program's threads goes"
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
hasnt "and has no error of times" out 'clock error'
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
run "$xsprof" record --python 100 true
has "--python 100: the right form" err '^xsprof: 100: .* did you mean --python=100\?'
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
	# A shell starts background jobs with INT and QUIT ignored: restore them.
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
	# On a terminal Ctrl-C goes to the whole process group: the command must get it once.
	(wait_for grep -qs ready typed; printf '\003'; sleep 1) |
		script -qefc "$xsprof record -q -- sh count.sh" typed >/dev/null
	has "Ctrl-C of a terminal arrives once" typed 'n=1'
	script -qefc "$xsprof record -o - -- true" typed >/dev/null </dev/null
	is "no capture is written to a terminal: status" $? 2
	has "and it is said what helps" typed 'standard output is a terminal: name a file, or use'
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
# On a busy machine two signals in a row may arrive as one.
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
has "some or all" err '--pid, --all: cannot be combined'
run "$xsprof" record -a -m discard
has "rings are as they are" err '--mode: the rings of running processes cannot be changed'
run "$xsprof" record -a --backend tmpfs
has "tmpfs shows no running process" err '--all needs the module'
if [ -c /dev/xsprof ]; then
	skip "no module" "there is one"
	skip "no module, said" "there is one"
else
	run "$xsprof" record -p $$ -o none.data
	is "no module: a process that is no Python" $rc 2
	has "no module, said: that" err \
		"^xsprof: process $$: it contains no Python, .* load the kernel module"
	for need in -a '--backend=device true'; do
		# shellcheck disable=SC2086
		run "$xsprof" record $need
		is "no module: $need" $rc 2
		has "no module, said: $need" err '/dev/xsprof does not exist: load the module'
	done
	run "$xsprof" recover -p 1
	is "no module: recover" $rc 2
fi
run "$xsprof" record --categories=io,net,-io true
is "a category both asked for and left out" $rc 2
has "which, it says" err "'io,net,-io': io is both included and excluded"
run "$xsprof" record --gpu -o b.data -- true
has "a command that used no GPU" err \
	'^xsprof: --gpu: no recorded process used CUDA, OpenCL, Vulkan, Level Zero or ROCm'
run "$xsprof" record --gpu -d 100ms -o b.data -- sleep 2
has "one that may use it after --duration" err \
	'^xsprof: --gpu: no recorded process had used a device when the recording ended'
run "$xsprof" record --gpu= -o b.data -- true
is "--gpu=, and no word" $rc 2
has "said" err "^xsprof: --gpu=: a word is missing; --gpu alone needs none"
run "$xsprof" record --no-itt -o b.data --backend=tmpfs -- sh -c 'echo $XSPROF_BACKEND'
is "the command is told of --backend" "$(cat out)" tmpfs
run "$xsprof" record --no-itt -o b.data -- "$actor" count 10
hasnt "rings in the tmpfs are not worth a line" err '^xsprof: rings'
run "$xsprof" record --no-itt -v -o b.data -- "$actor" count 10
has "told where the rings are" err '^xsprof: rings: tmpfs$'

# Names of programs and files must not reach the terminal unescaped
evil=$'e\033[31m\302\233v'
cp "$actor" "$evil"
rm -f held
# The shell's commands in the background would ignore SIGINT.
env --default-signal=INT "$xsprof" record -v -o "$evil.data" -- "./$evil" hold 2000 held \
	>out 2>err &
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

# Environment variables
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
	'[0-9]+ names, threads or facts did not fit: .*XSPROF_ARENA_SIZE=16M'
run "$xsprof" report b.data
has "by each verb that reads the capture" err \
	'[0-9]+ names, threads or facts did not fit: .*XSPROF_ARENA_SIZE=16M'
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

# The recorder's priority; the command keeps its own
for prio in 0 100 x 1x; do
	run "$xsprof" record --realtime=$prio -o b.data -- true
	is "--realtime=$prio is none" $rc 2
done
run "$xsprof" record --flight --realtime -o b.data -- true
is "a flight recorder has no use for one" $rc 2
if chrt -f 1 true 2>/dev/null; then
	# Relative to the test's own nice value; 19 is the largest.
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

# While the recorder is stopped nothing reads the rings: they fill, though memory has room for more.
# shellcheck disable=SC2016
full='kill -STOP $PPID; "$@"; kill -CONT $PPID'
run "$xsprof" record --backend=tmpfs -b 64k -o b.data -- sh -c "$full" - "$marker" 20000 1 0
cure='use a larger --buffer-size \(-b\), fewer --categories, --realtime if the CPUs are busy, '
cure+='or -m overwrite to keep the latest'
has "full rings: what helps" err \
	"^xsprof: events were lost: rings filled up before they were read: $cure\$"
run "$xsprof" record --backend=tmpfs -m overwrite -b 64k -o b.data -- \
	sh -c "$full" - "$marker" 20000 1 0
cure='use a larger --buffer-size \(-b\) or fewer --categories'
has "the same in overwrite mode" err \
	"^xsprof: events were overwritten before they were read: to keep more .*, $cure\$"

# Two recorders
run "$xsprof" record -o outer.data -- "$xsprof" record -o inner.data -- true
is "a second recorder is refused" $rc 2
has "and told who records" err "already being recorded by process [0-9]+ into $dir/outer.data"
ok "it wrote nothing" test ! -e inner.data
XSPROF_SESSION=$shm/gone run "$xsprof" record -- true
is "a session that is gone does not matter" $rc 0

# A recorder that was killed
rm -f held
"$xsprof" record -q -o dead.data -- "$actor" hold 60000 held >out 2>err &
pid=$!
wait_for test -s held
kill -KILL $pid
wait $pid
run "$xsprof" record -o b.data -- true
session=$(basename "$("$xsprof" list | sed -nE 's/^(.*): recorder is dead, .*/\1/p')")
left="^xsprof: records of an unfinished recording are in memory: $actor"
has "what one left is told of" err "$left.*, into $dir/dead.data: 'xsprof recover $session' saves "
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
finish
