#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tools' output is lines of UTF-8 without terminal control characters, whatever the names of
# programs, threads, ranges, categories and files: one check for outputs and messages of all verbs.
# TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
self=$PWD/tests/tools/plain.sh
unset XSPROF_SESSION
export XSPROF_ONDEMAND=1 LD_LIBRARY_PATH=$BUILD/lib
cd "$dir" || exit 1
bad=$'\033[31m\xc2\x9b1m\n\xe2\x80\xae\xff'

cat >check.py <<'END'
import re, sys, unicodedata
# What stands behind the line breaks in the names: no line begins with it.
BROKEN = re.compile(r"^(?:b?\\xff|b?\ufffd|\\u\{?202e|\u202e).*", re.M)
bad = empty = 0
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as why:
        print("%s: %s" % (path, why))
        bad += 1
        continue
    for c in text:
        # Cc: control characters of both kinds; Cf, Zl, Zp: what turns or breaks lines.
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"):
            print("%s: U+%04X in %r" % (path, ord(c), text[:300]))
            bad += 1
            break
    if BROKEN.search(text):
        print("%s: a name breaks the line: %r" % (path, BROKEN.search(text)[0]))
        bad += 1
    # Each of them has a name of these: where it is not to be seen nothing was tested.
    if "[31m" not in text and "[2J" not in text:
        print("%s: none of the names: %r" % (path, text[:500]))
        bad += 1
sys.exit(bad > 0)
END

plain() # $1 name, then a command: its output and messages are plain, and contain one of the names
{
	local name=$1

	shift
	"$@" >said 2>&1
	python3 check.py said >log
	result "$name" $?
}

program=$dir/named$bad
cp "$BUILD/tests/tools/named" "$program"
mkfifo in
exec 9<>in
"$xsprof" record -o "odd$bad.data" -- "$program" "$dir/pid" <in >record 2>&1 9>&- &
recorder=$!
for ((i = 0; i < 600; i++)); do
	[ -s pid ] && break
	sleep 0.1
done
pid=$(cat pid)
plain "list" "$xsprof" list
plain "ctl list" "$xsprof" ctl list
plain "ctl status" "$xsprof" ctl status -p "$pid"
# A trace's name is a line of its configuration, so it cannot have two lines.
plain "ctl start, refused" "$xsprof" ctl start -p "$pid" -o "trace$bad.json"
plain "ctl start" "$xsprof" ctl start -p "$pid" -o "trace${bad/$'\n'/}.json"
plain "ctl status of one that records" "$xsprof" ctl status -p "$pid"
plain "ctl list of one that records" "$xsprof" ctl list
plain "ctl snapshot" "$xsprof" ctl snapshot -p "$pid" -o "now$bad.json"
plain "ctl stop" "$xsprof" ctl stop -p "$pid"
plain "disable of a category that no process has" "$xsprof" disable "none$bad"
plain "enable of a category that no process has" "$xsprof" enable "none$bad"
plain "dump --live" "$xsprof" dump --live -n 20 -p "$pid"
plain "snapshot" "$xsprof" snapshot -p "$pid" -o "snap$bad.data"
exec 9>&-
wait $recorder
cp record said
python3 check.py said >log
result "record" $?
# A flight recorder with a watch: its messages about the program's range, and about the file.
rm -f pid
exec 9<>in
"$xsprof" record -o "watched$bad.data" --flight --watch 'range*' --stall 100ms -- \
	"$program" "$dir/pid" <in >record 2>&1 9>&- &
recorder=$!
for ((i = 0; i < 600; i++)); do
	[ -n "$(find . -name 'watched*.1.stall-*')" ] && break
	sleep 0.1
done
exec 9>&-
wait $recorder
[ -n "$(find . -name 'watched*.1.stall-*')" ] && cp record said && python3 check.py said >log &&
	grep -q 'has been in range.x1b' said
result "record --watch" $?
for verb in dump report info "report --open" "report --json" "info --json" "dump -f ndjson" \
	    "dump -f chrome" "report --by name,thread,process,category"; do
	plain "$verb" "$xsprof" $verb "odd$bad.data"
done
plain "report --why" "$xsprof" report --why '*' "odd$bad.data"
plain "report --gaps" "$xsprof" report --gaps "odd$bad.data"
plain "report --steps" "$xsprof" report --steps='*' "odd$bad.data"
for by in shape pattern module,name line,name op; do
	plain "report --by $by" "$xsprof" report --by $by "odd$bad.data"
done
plain "dump -f kineto" "$xsprof" dump -f kineto "odd$bad.data"
# A file that no recorder wrote.
"$make_capture" hostile "hostile$bad.data"
for verb in dump report info "report --open" "report --json" "info --json" "dump -f ndjson" \
	    "dump -f chrome" "dump -f kineto" "report --by name,thread,process,category"; do
	plain "$verb of a made-up capture" "$xsprof" $verb "hostile$bad.data"
done
# Names of GPUs and of sampled functions.
"$make_capture" hostile-devices "devices$bad.data"
for verb in "dump -f text" "dump -f folded" "dump -f ndjson" "dump -f chrome" "dump -f kineto" \
	    "report --gpu" "report --by kernel" "report --by function" \
	    "report --gpu --json" info; do
	plain "$verb of kernels and samples" "$xsprof" $verb "devices$bad.data"
done
# Formats for other tools, binary or of one process with ops: only their messages.
for format in perfetto execution-trace memory-snapshot memory-timeline; do
	plain "dump -f $format" "$xsprof" dump -f $format -o "none$bad/x" "odd$bad.data"
done
# Other tests make recordings too: use a folder of our own.
export XSPROF_SHM_DIR=$dir/shm XSPROF_BACKEND=tmpfs
mkdir shm
# shellcheck disable=SC2016
"$xsprof" record -q -o "dead$bad.data" -- sh -c 'kill -KILL $PPID' >/dev/null 2>&1
plain "list after a recorder was killed" "$xsprof" list
plain "recover --list" "$xsprof" recover --list
plain "recover of it" "$xsprof" recover
plain "a file that is not there" "$xsprof" dump "none$bad"
plain "an option that is none" "$xsprof" dump "--none$bad"
plain "a verb that is none" "$xsprof" "none$bad"
plain "a program that is not there" "$xsprof" record -- "./none$bad"
plain "recover" "$xsprof" recover "none$bad"
"$make_capture" hostile-lock "lock$bad.data"
plain "report --gil" "$xsprof" report --gil "lock$bad.data"
plain "report --gil --json" "$xsprof" report --gil --json "lock$bad.data"
# The name of a recording's folder must not add facts.
mkdir "in$bad"$'\nuser=forged'
(cd "in$bad"$'\nuser=forged' && "$xsprof" record -q -o "$dir/in.data" -- "$program" "$dir/pid" \
	</dev/null >"$dir/log" 2>&1)
plain "info of a recording made in a folder" "$xsprof" info in.data
! grep -q '^user  *forged' said && "$xsprof" info --json in.data >said 2>log &&
	python3 -c 'import json; assert json.load(open("said"))["host"]["user"] != "forged"' 2>>log
result "the folder of a recording states no facts" $?
# A running Python program: the library is injected, and the program is sampled.
cat >odd.py <<'END'
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, b"a\033[2J\xc2\x9bm\nb\xff", 0, 0, 0)
work = {}
exec(compile("def work(): time.sleep(0.01)", sys.argv[1], "exec"), globals(), work)
open("pid", "w").close()
while True:
    work["work"]()
END
rm -f pid
/usr/bin/python3 odd.py "file$bad.py" &
python=$!
for ((i = 0; i < 600; i++)); do
	[ -e pid ] && break
	sleep 0.1
done
plain "record -p" "$xsprof" record -p $python -d 1 -o "attached$bad.data"
if [ -e "attached$bad.data" ]; then
	for verb in report "report --open" "report --by function" "report --by line,thread" info \
		    "info --json" "dump -f text" "dump -f folded" "dump -f ndjson" \
		    "dump -f chrome"; do
		plain "$verb of a program that ran" "$xsprof" $verb "attached$bad.data"
	done
else
	# The program that says so was checked too.
	skipped "outputs of a program that ran" "$(tail -n 1 said)"
fi
kill $python
wait $python 2>/dev/null
plain "record -v" "$xsprof" record -v -o "said$bad.data" -- "$program" "$dir/pid" </dev/null
# The kernel's tracer has its own names for these.
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/instances ]; then
	"$xsprof" record -q -e sched --filter-tree -o "kernel$bad.data" -- "$program" "$dir/pid" \
		</dev/null >"$dir/log" 2>&1
	for verb in dump "dump -f ndjson" "dump -f chrome" "dump -f kineto" "report --by thread"; do
		plain "$verb of kernel events" "$xsprof" $verb "kernel$bad.data"
	done
	"$xsprof" dump -q -f ndjson "kernel$bad.data" 2>>log | grep -q '"type": *"kernel".*\[2J'
	result "these have such names" $?
else
	skipped "kernel events" "no tracer, or not root"
fi
# The library's own messages, and messages that it passes on.
for variable in XSPROF_RECORD XSPROF_MODE XSPROF_SESSION XSPROF_CATEGORIES; do
	plain "$variable" env -u XSPROF_BACKEND XSPROF_RECORD=self.data "$variable=none$bad/x,,y" \
		"$program" "$dir/pid" </dev/null
done
# shellcheck disable=SC2016
plain "a message in the session's folder" "$xsprof" record -o "odd$bad.data" -- sh -c \
	'printf "%s" "$1" >"$XSPROF_SESSION/e.4711.1.0"; sleep 0.1' - "$bad"
# Each verb must be tested above.
"$xsprof" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -vx xsprof >verbs
missing=$(while read -r verb; do
	# shellcheck disable=SC2016 # a dollar sign
	grep -qE '"\$xsprof" '"$verb"'( |$)|^for verb in .*\b'"$verb"'\b' "$self" || echo "$verb"
done <verbs)
echo "missing: $missing" >log
[ "$(wc -l <verbs)" -ge 10 ] && [ -z "$missing" ]
result "every verb was asked" $?
# So must each value of these options: the words in their help that are not refused.
for option in "dump -f FORMAT" "report --by LIST"; do
	read -r verb letter what <<<"$option"
	"$xsprof" "$verb" --help | sed -n "/$what  /,/^  -[rs]/p" | grep -oE '[a-z][a-z-]+' |
		sort -u | while read -r word; do
		"$xsprof" "$verb" "$letter" "$word" none 2>&1 |
			grep -qE "no such format|is not one of" || echo "$word"
	done >values
	missing=$(while read -r word; do
		grep -qE "[ \"]$verb $letter [a-z,]*\b$word\b|^for (format|by) in .*\b$word\b" \
			"$self" || echo "$word"
	done <values)
	{ cat values; echo "missing: $missing"; } >log
	[ "$(wc -l <values)" -ge 9 ] && [ -z "$missing" ]
	result "every value of $verb $letter was asked" $?
done
finish
