#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Categories switched off and on again during a recording, by the program and by another process:
# ranges open at that time end where they were switched off, and later markers are normal. TAP.
. "$(dirname "$0")/tap.sh"

obey=$BUILD/tests/record/obey

# start FILE OPTION...: starts the program, recorded
start()
{
	local file=$1

	shift
	rm -f "$file"
	coproc P { exec "$xsprof" record -q --no-itt -o "$file" "$@" -- "$obey" 2>err; }
	program=$P_PID
	exec {to}>&"${P[1]}" {from}<&"${P[0]}"
	eval "exec ${P[1]}>&- ${P[0]}<&-"
}

# say WORD...: sends it one line, returns when it has done that
say()
{
	local answer

	echo "$*" >&$to
	read -r -t 60 answer <&$from && [ "$answer" = done ]
}

stop()
{
	exec {to}>&- {from}<&-
	wait "$program"
}

# told FILE: prints how many ranges ended, were cut, are open; and ends without a begin
told()
{
	"$xsprof" report -q --json -i "$1" 2>>err | tr ',' '\n' | awk -F: '
		$1 ~ /^"(ended|cut|open|unmatched_ends)"$/ && !seen[$1]++ {
			printf "%s%s", n++ ? " " : "", $2
		}'
}

# ns FILE PATTERN: prints the times of matching events, in order
ns()
{
	"$xsprof" dump -q -f ndjson -i "$1" 2>>err | sed -n "/$2/s/^{\"ns\":\([0-9]*\),.*/\1/p"
}

# ordered N TEXT: TEXT has N numbers, each greater than the one before
ordered()
{
	awk -v want="$1" '{ if (NR > 1 && $1 <= last) bad = 1; last = $1 }
		END { exit bad || NR != want }' <<<"$2"
}

# controls FILE: prints each switch, and which categories were off then
controls()
{
	"$xsprof" dump -q -f ndjson -i "$1" 2>>err | grep '"type":"control"' |
		sed -E 's/.*"op":"([a-z]*)"(,"off":"([^"]*)")?.*/\1 off=\3/'
}

opened()
{
	say begin outer && say io inner && say async flight
}

# rest: a whole range, then an end whose range is already over in the trace.
rest()
{
	say begin later && say end && say end
}

for how in program others; do
	name="all off by the program"
	off="say off" on="say on"
	if [ $how = others ]; then
		name="all off by another process"
		off="$xsprof disable all >>out" on="$xsprof enable all >>out"
	fi
	start $how.data
	ok "$name: it is done" eval "opened && $off && say end && say end && $on && rest"
	ok "$name: recorded" stop
	is "$name: three ranges are cut, the one after is whole" "$(told $how.data)" "1 3 0 1"
	ok "$name: what comes after is after" ordered 5 "$(
		ns $how.data '"name":"outer"'; ns $how.data '"name":"inner"'
		ns $how.data '"type":"control"' | sed -n '$p'
		ns $how.data '"name":"later"')"
done

# While any category is on, ends of ranges are recorded: no range that has an end is cut.
name="one off by another process"
start one.data
ok "$name: it is done" eval "opened && '$xsprof' disable io >>out && say end && say end && rest"
ok "$name: recorded" stop
is "$name: ranges end where they end" "$(told one.data)" "3 0 1 1"
is "$name: the trace says which" "$(controls one.data)" 'switch off=io'
ok "$name: and when" ordered 3 "$(
	ns one.data '"type":"begin".*"name":"inner"'; ns one.data '"type":"control"'
	ns one.data '"name":"inner".*"type":"end"\|"type":"end".*"name":"inner"')"

name="off and on again and again"
start thrice.data
ok "$name: it is done" eval "opened && for i in 1 2 3; do
	'$xsprof' disable all >>out && say end && '$xsprof' enable all >>out && say begin b
	done && say end"
ok "$name: recorded" stop
is "$name: each time" "$(told thrice.data)" "1 5 0 0"

# A watch does not wait for a range that was switched off.
name="watch"
start watch.data --flight --watch outer --stall 3s
ok "$name: off" eval "opened && '$xsprof' disable all >>out"
begun=$SECONDS
while [ $((SECONDS - begun)) -lt 5 ]; do sleep 0.5; done
ok "$name: the program goes on" eval "'$xsprof' enable all >>out && rest"
ok "$name: recorded" stop
ok "$name: no stall" eval "! ls watch.data.*stall* >out 2>&1"
finish
