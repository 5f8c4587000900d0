#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof dump --live` on the rings of a session: what it shows, and that the recorder is not
# affected. With the module, device.sh tests the same on the device.
. "$(dirname "$0")/tap.sh"
export XSPROF_BACKEND=tmpfs

ticks()
{
	grep -c ' instant: *tick$' "$1"
}

in_order()
{
	awk -F'[]:[]' '$3 + 0 < last { bad = 1 } { last = $3 + 0 } END { exit bad || !NR }' "$1"
}

if [ -c /dev/xsprof ]; then
	skip "nobody there: fails" "the device may know somebody"
	skip "nobody there: said" "the device may know somebody"
else
	run timeout -k 1 60 "$xsprof" dump --live
	is "nobody there: fails" $rc 1
	has "nobody there: said" err "none of your processes has rings: start one with 'xsprof rec"
fi

rm -f f
"$xsprof" record -q --no-itt -o r.data -- "$steady" f 1500 2000 5 &
recorder=$!
wait_for test -s f
pid=$(cat f)
run "$xsprof" dump --live -n 20
is "the first few" "$rc $(wc -l <out)" "0 20"
for_seconds 1 all "$xsprof" dump --live
is "SIGTERM ends it well" $rc 0
ok "records of the process" test "$(ticks all)" -gt 10
ok "in order of time" in_order all
has "and what was known at the end" all "exit: .* pid=$pid how=running"
for_seconds 1 json "$xsprof" dump --live -f ndjson -p "$pid"
ok "in other formats" grep -q '"name":"tick"' json
run timeout -k 1 60 "$xsprof" dump --live -p "$pid"
is "until it ends" $rc 0
ok "with its last record" test "$(ticks out)" -gt 10
has "and its end" out "exit: .* pid=$pid"
wait $recorder
is "the recorder did not notice" $? 5
"$inspect" r.data >seen
has "and has every record" seen '^total records 1500 '

# A writer at full speed is not slowed down; dump reports what it missed.
rm -f f
"$xsprof" record -q --no-itt -m overwrite -b 64k -o o.data -- "$steady" f 0 0 &
recorder=$!
wait_for test -s f
for_seconds 2 fast "$xsprof" dump --live
is "a fast writer" $rc 4
ok "is seen" test "$(ticks fast)" -gt 100
ok "never out of order" in_order fast
kill -KILL "$(cat f)"
wait $recorder 2>/dev/null

# The remains of a process and its recorder, both killed, are shown once.
rm -f f
"$xsprof" record -q --no-itt -o k.data -- "$steady" f 1000 1000000 5 2>/dev/null &
recorder=$!
wait_for test -s f
kill -KILL $recorder "$(cat f)"
wait $recorder 2>/dev/null
left="^xsprof: 1 ended process left rings behind: 'xsprof recover' saves and removes them, 'xsprof "
if [ -c /dev/xsprof ]; then
	for_seconds 3 dead "$xsprof" dump --live
	skip "only dead ones: fails by itself" "the device may know somebody"
	skip "only dead ones: said" "the device may know somebody"
	skip "only dead ones: what saves them is named" "the device may know somebody"
else
	run timeout -k 1 60 "$xsprof" dump --live
	is "only dead ones: fails by itself" $rc 1
	has "only dead ones: said" err "^xsprof: none of your running processes has rings: "
	has "only dead ones: what saves them is named" err "$left"
	mv out dead
fi
is "a dead process of a dead recorder: once" \
	"$(grep -cw "producer: .* pid=$(cat f)" dead) $(grep -cw "exit: .* pid=$(cat f)" dead)" \
	"1 1"
ok "with what it left unread" test "$(ticks dead)" -gt 0
run timeout -k 1 60 "$xsprof" dump --live -p "$(cat f)"
is "by its number, too" "$rc $(grep -cw "exit: .* pid=$(cat f)" out)" "1 1"
run "$xsprof" recover
is "and goes with its session" $rc 0

# The processes shown die, and no recorder is left to save their rings.
if [ -c /dev/xsprof ]; then
	skip "the last one dies: ends well" "the device may know somebody"
	skip "the last one dies: what saves it is named" "the device may know somebody"
	skip "the last one dies: shown to its end" "the device may know somebody"
else
	rm -f f
	XSPROF_RECORD=self.data "$steady" f 1000 1000000 5 &
	self=$!
	wait_for test -s f
	timeout -k 1 60 "$xsprof" dump --live >dead 2>err &
	looker=$!
	wait_for grep -q "producer: .* pid=$self" dead
	kill -KILL $self
	wait $self 2>/dev/null
	wait $looker
	is "the last one dies: ends well" $? 0
	has "the last one dies: what saves it is named" err "$left"
	has "the last one dies: shown to its end" dead "exit: .* pid=$self "
	run "$xsprof" recover
fi

# Arguments
for bad in '-p no' -a '--live file' '--live -F' '--live -p 1 -a' '--live -p no' '--live -i x'; do
	# shellcheck disable=SC2086
	run "$xsprof" dump $bad
	is "refused: $bad" $rc 2
	has "told where help is: $bad" err "see 'xsprof dump --help'"
done
if [ -c /dev/xsprof ]; then
	skip "somebody who has no rings" "the device knows more processes"
	skip "somebody who has no rings: who" "there is a module"
	skip "all: needs the module" "there is one"
else
	run "$xsprof" dump --live -p $$
	is "somebody who has no rings" $rc 1
	has "somebody who has no rings: who" err "^xsprof: process $$: has no rings that you may"
	run "$xsprof" dump --live -a
	has "all: needs the module" err '-a: /dev/xsprof does not exist: load the module'
fi
ok "no session stays behind" clean
finish
