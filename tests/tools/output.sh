#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How dump, report and info handle their output: exit status, messages, a full disk, a reader that
# goes away, a growing file, a truncated or damaged file. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

all=$dir/all.data
"$make_capture" all "$all" && "$make_capture" big "$dir/big.data" 300000 || exit 1

says() # $1 text that the last command's messages must contain
{
	grep -qF -- "$1" "$dir/log" && return
	echo "not said: $1" >>"$dir/log"
	return 1
}

for verb in dump report info; do
	status 4 "$xsprof" $verb "$all" && says "lost 3 records"
	result "$verb: losses are told, and have an exit status of their own" $?
	status 0 "$xsprof" $verb --allow-lost "$all" && says "lost 3 records"
	result "$verb: which can be allowed" $?
	status 0 "$xsprof" $verb --help && grep -q "^usage: xsprof $verb" "$dir/out"
	result "$verb: --help" $?
	status 0 "$xsprof" $verb --version && grep -q '^xsprof [0-9]' "$dir/out"
	result "$verb: --version" $?
	status 2 "$xsprof" $verb --inptu x && says "did you mean --input"
	result "$verb: an option that there is not" $?
	status 2 "$xsprof" $verb "$all" "$all" && says "one capture at a time"
	result "$verb: two files" $?
	status 1 "$xsprof" $verb "$dir/none.data" && says "$dir/none.data" && says "No such file"
	result "$verb: no such file" $?
	status 1 "$xsprof" $verb /bin/sh && says "/bin/sh"
	result "$verb: not a capture" $?
	: >"$dir/empty.data"
	status 1 "$xsprof" $verb "$dir/empty.data" && says "empty"
	result "$verb: an empty file" $?
	head -c 5000 "$all" >"$dir/cut.data"
	status 3 "$xsprof" $verb "$dir/cut.data" && says "cut off"
	result "$verb: a cut file" $?
	status 1 "$xsprof" $verb -i "$dir"
	result "$verb: a directory" $?
	"$xsprof" $verb "$all" >/dev/full 2>"$dir/log"
	[ $? = 1 ] && says "No space left on device" && [ "$(wc -l <"$dir/log")" = 1 ]
	result "$verb: a full disk" $?
	(cd "$dir" && cp all.data xsprof.data &&
		"$xsprof" $verb --allow-lost) >"$dir/out" 2>"$dir/log"
	result "$verb: xsprof.data when no file is named" $?
done

# Changes a byte in the middle of the records: the checksum shows it.
cp "$all" "$dir/bad.data"
offset=$(LC_ALL=C grep -abo 'second' "$all" | tail -n 1 | cut -d: -f1)
printf 'X' | dd of="$dir/bad.data" bs=1 seek="$offset" conv=notrunc 2>/dev/null
status 3 "$dump" "$dir/bad.data" && says "1 damaged chunks"
result "a damaged chunk" $?
status 3 "$dump" -q "$dir/bad.data" && [ "$(wc -l <"$dir/log")" = 1 ] && says "1 damaged chunks"
result "a damaged chunk, quiet: only the losses" $?

for bad in '-f xml' '-n x' '--from x' '--to -1' '--pid 1,,2' '--tid 5-3' '--cpu a' \
	'--from 2 --to 1' '-f' '--frobnicate'; do
	# shellcheck disable=SC2086
	status 2 "$dump" "$all" $bad && says "xsprof-dump: " && says "--help"
	result "wrong usage: $bad" $?
done
status 2 "$xsprof" report --why "$all" && says "--why=NAME"
result "report --why without a name" $?
(cd "$dir" && cp "$all" xsprof.data && : | "$xsprof" report --allow-lost >out 2>log &&
	grep -q "standard input is a pipe: 'report -' reads" log &&
	"$xsprof" report --allow-lost </dev/null >out 2>log && ! grep -q pipe log)
result "report of the default file beside a pipe says what it reads" $?
rm -f "$dir/xsprof.data"
status 2 "$xsprof" report --by name, "$all" && says "''"
result "report: --by with a comma too many" $?
status 2 "$xsprof" report --by colour "$all" && says "colour"
result "report --by colour" $?
status 2 "$xsprof" report --sort length "$all" && says "length"
result "report --sort length" $?
status 2 "$xsprof" report --cpu 1 "$all" && says "xsprof dump --cpu"
result "report --cpu says what to use" $?

# A pager that exits early.
"$make_capture" many "$dir/many.data" 20000
for verb in "dump $dir/big.data" "dump -f chrome $dir/big.data" "report $dir/many.data"; do
	# shellcheck disable=SC2086
	"$xsprof" $verb 2>"$dir/log" | head -n 1 >"$dir/out"
	[ "${PIPESTATUS[0]}" = 141 ] && [ ! -s "$dir/log" ] && [ "$(wc -l <"$dir/out")" = 1 ]
	result "${verb% *}: a reader that goes away ends it by SIGPIPE, quietly" $?
done

# A file gets its name when it is complete.
"$dump" --allow-lost -f ndjson -o "$dir/x.ndjson" "$all" 2>"$dir/log" && [ -s "$dir/x.ndjson" ] &&
	! compgen -G "$dir/x.ndjson.*" >>"$dir/log"
result "-o: nothing else stays" $?
echo mine >"$dir/x.ndjson.tmp"
"$dump" --allow-lost -f ndjson -o "$dir/x.ndjson" "$all" 2>"$dir/log" &&
	[ "$(cat "$dir/x.ndjson.tmp")" = mine ]
result "-o: a FILE.tmp of somebody's stays as it is" $?
"$dump" -o "$dir/alone.txt" "$dir/big.data" 2>"$dir/log"
for i in 1 2 3 4; do
	"$dump" -o "$dir/four.txt" "$dir/big.data" 2>>"$dir/log" || : >"$dir/four.failed" &
	dumps[i]=$!
done
wait "${dumps[@]}"
[ ! -e "$dir/four.failed" ] && cmp "$dir/alone.txt" "$dir/four.txt" >>"$dir/log"
result "-o: four at once to one name: all end well, and it is whole" $?
echo before >"$dir/kept.txt"
status 1 "$dump" -o "$dir/kept.txt" /bin/sh
[ "$(cat "$dir/kept.txt")" = before ]
result "-o: what was there stays when the capture cannot be read" $?
status 1 "$dump" -o "$dir/no/such/folder" "$all" && says "No such file"
result "-o: no such folder" $?
cp "$all" "$dir/own.data" && ln -s own.data "$dir/link.data"
status 2 "$dump" -o "$dir/link.data" "$dir/own.data" && says "is the input file" &&
	cmp "$all" "$dir/own.data" >>"$dir/log"
result "-o: the capture is not written over" $?
(cd "$dir" && rm -f xsprof.data) && status 1 env -C "$dir" "$xsprof" report &&
	says "xsprof.data: No such file or directory: 'xsprof record' writes it"
result "no file named and none there: told what makes one" $?
status 1 "$dump" -o /dev/full "$all" && says "/dev/full: No space left"
result "-o /dev/full" $?
"$dump" -o "$dir/lim.txt" "$dir/big.data" 2>"$dir/log" & pid=$!
wait $pid && [ "$(grep -vc ' open: ' "$dir/lim.txt")" = 300002 ]
result "-o: all of it is there" $?
( ulimit -f 64; trap '' XFSZ; exec "$dump" -o "$dir/small.txt" "$dir/big.data" ) 2>"$dir/log"
[ $? = 1 ] && says "File too large" && ! compgen -G "$dir/small.txt*" >>"$dir/log"
result "-o: nothing stays of a file that could not be written" $?

# A suffix of another format.
for name in json=chrome json.gz=chrome pftrace=perfetto ndjson=ndjson; do
	status 2 "$dump" -o "$dir/named.${name%=*}" "$all" &&
		says "the default format is text: give -f ${name#*=}" &&
		"$dump" -q --allow-lost -f text -o "$dir/named.${name%=*}" "$all" 2>"$dir/log"
	result "-o: text has another name than .${name%=*}, unless -f text says so" $?
done
status 2 "$dump" -f chrome -o "$dir/named.json.bz2" "$all" && says "would not be compressed"
result "-o: a name of what packs otherwise is refused" $?

# The suffix selects the compression, whatever the format.
for format in text ndjson chrome kineto perfetto folded; do
	"$dump" -q -f $format -o "$dir/plain" "$all" 2>"$dir/log"
	for end in gz zst; do
		unpack=$([ $end = gz ] && echo gzip || echo zstd)
		magic=$([ $end = gz ] && echo ' 1f 8b' || echo ' 28 b5')
		if ! command -v $unpack >/dev/null; then
			skipped "-o $format.$end" "no $unpack"
			continue
		fi
		"$dump" -q --allow-lost -f $format -o "$dir/packed.$end" "$all" \
			2>"$dir/log" &&
			$unpack -dc "$dir/packed.$end" 2>>"$dir/log" |
				LC_ALL=C sed "s|/packed.$end\"|/plain\"|" |
				cmp - "$dir/plain" >>"$dir/log" 2>&1 &&
			# Its few lines of folded stacks do not get smaller.
			{ [ $format = folded ] || [ "$(wc -c <"$dir/packed.$end")" -lt \
				"$(wc -c <"$dir/plain")" ]; } &&
			[ "$(od -An -tx1 -N2 "$dir/packed.$end")" = "$magic" ]
		result "-o $format.$end is the same, packed" $?
	done
done
"$dump" -q --allow-lost -f chrome -o "$dir/PACKED.JSON.ZST" "$all" 2>"$dir/log" &&
	[ "$(od -An -tx1 -N4 "$dir/PACKED.JSON.ZST")" = " 28 b5 2f fd" ]
result "-o: an end in capitals packs too" $?
( ulimit -f 8; trap '' XFSZ; exec "$dump" -o "$dir/small.gz" "$dir/big.data" ) 2>"$dir/log"
[ $? = 1 ] && says "File too large" && [ ! -e "$dir/small.gz" ]
result "-o: nothing stays of a packed file that could not be written" $?

# The rank: what the environment says of the processes shown, or nothing.
cat >"$dir/rank.sh" <<'END'
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$1" "$2/pid$rank" & pid=$!
	until [ -s "$2/pid$rank" ]; do sleep 0.05; done
	kill -KILL $pid
	wait $pid
done
END
"$xsprof" record -q -o "$dir/ranks.data" -- bash "$dir/rank.sh" "$BUILD/tests/tools/beat" "$dir" \
	>"$dir/log" 2>&1
for format in chrome kineto; do
	for which in '' 0 1; do
		"$dump" -q -f $format -o "$dir/ranks$which.json" \
			${which:+--pid "$(cat "$dir/pid$which")"} "$dir/ranks.data" 2>>"$dir/log"
	done
	python3 - "$dir" $format >>"$dir/log" 2>&1 <<-'END'
		import json, sys
		def of(which):
		    return json.load(open("%s/ranks%s.json" % (sys.argv[1], which)))
		for rank in 0, 1:
		    want = {"rank": rank, "world_size": 2}
		    if sys.argv[2] == "chrome":
		        del want["world_size"]
		    assert of(rank)["distributedInfo"] == want, of(rank)["distributedInfo"]
		both = of("")
		assert "distributedInfo" not in both, both["distributedInfo"]
		labels = {e["args"]["labels"] for e in both["traceEvents"]
		          if e["name"] == "process_labels"}
		assert sys.argv[2] != "kineto" or labels >= {"CPU, rank 0", "CPU, rank 1"}, labels
	END
	result "$format: two ranks in one file, and each of them" $?
done

# A growing file, read while it is being written.
"$make_capture" grow "$dir/grow.data" 400 & maker=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ -s "$dir/grow.data" ] && break
	sleep 0.05
done
timeout 60 "$dump" --follow -i "$dir/grow.data" >"$dir/followed" 2>"$dir/log" & follower=$!
sleep 0.3
early=$(wc -l <"$dir/followed")
wait $maker
wait $follower
rc=$?
"$dump" -i "$dir/grow.data" >"$dir/whole" 2>>"$dir/log"
echo "exit status $rc, $early lines while it grew, $(wc -l <"$dir/whole") in all" >>"$dir/log"
[ $rc = 0 ] && cmp "$dir/followed" "$dir/whole" >>"$dir/log" &&
	[ "$early" -lt "$(wc -l <"$dir/whole")" ]
result "--follow gives the same and ends with the recording" $?

# A file that never ends is left with Ctrl-C: the output is valid.
head -c 5000 "$all" >"$dir/open.data"
"$dump" --follow -f chrome -i "$dir/open.data" >"$dir/open.json" 2>"$dir/log" & follower=$!
sleep 0.5
kill -INT $follower 2>/dev/null || kill -TERM $follower
for _ in 1 2 3 4 5 6 7 8 9 10; do
	kill -0 $follower 2>/dev/null || break
	sleep 0.1
	kill -TERM $follower 2>/dev/null
done
wait $follower
python3 "$here/check-chrome.py" "$dir/open.json" >>"$dir/log" 2>&1
result "--follow, interrupted: the JSON is whole" $?
finish
