#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record --python-trace, with each Python that is installed: each call of a function is a range, by
# the count of Python's own profile hook in another run; modules that are asked for; wrong words.
# TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
	rm -f data
	"$python" "$here/calls.py" count >counted 2>log &&
		"$xsprof" record -q --python-trace=calls -o data -- "$python" "$here/calls.py" run \
			>out 2>>log &&
		"$dump" -q -f ndjson data >events 2>>log &&
		"$python" "$here/calls.py" check events <counted >>log 2>&1
	result "$version: each call is a range, in its place" $?
done < <(pythons)

"$xsprof" record -q --python-trace -o data -- /usr/bin/python3 -c 'import json, tokenize
json.dumps(json.loads("[1]"))' >out 2>log && "$xsprof" report data >report 2>>log &&
	grep -qE 'json/decoder.py\([0-9]+\): .*decode$' report &&
	grep -q '<string>(1): <module>$' report
result "without a word: functions of all modules" $?

"$xsprof" record -q --python-trace=json.decoder,tokenize -o data -- /usr/bin/python3 -c 'import json
json.dumps(json.loads("[1]"))' >out 2>log && "$xsprof" report data >report 2>>log &&
	grep -q 'json/decoder.py' report && ! grep -q 'json/encoder.py\|json/__init__.py' report
result "of some modules: no others" $?

"$xsprof" record -q -o data -- /usr/bin/python3 "$here/calls.py" run >out 2>log &&
	"$xsprof" report data >report 2>>log && ! grep -q 'calls.py' report
result "without the option: no function" $?

"$xsprof" record --python-trace= -- true 2>log
[ $? = 2 ] && grep -q '^xsprof: --python-trace=: names no module' log
result "no word where one is announced" $?
finish
