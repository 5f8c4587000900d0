#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Wrong arguments of the Python package's markers raise the same exceptions with and without a
# recorder, and no value ends a program that is recorded; with each installed Python. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/python/start.sh

while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 6))' || continue
	"$python" "$here/arguments.py" >without 2>log
	result "$version: refused, and the message says what is accepted" $?
	rm -f data
	RECORDED=1 "$xsprof" record -q --no-python -o data -- "$python" "$here/arguments.py" \
		>with 2>said && cmp without with >>said 2>&1
	status=$?
	cp said log
	result "$version: recorded: the same exceptions, no others" $status
	grep '^xsprof: .*not recorded$' said >lines
	cp said log
	[ "$(grep -c . lines)" = 7 ] && [ "$(grep -cE "arguments.py:[0-9]+: [a-z_]+\('[a-z]+'\): \
the (value|number) \(type [A-Za-z]+\) cannot be converted: [A-Za-z]+: " lines)" = 7 ]
	result "$version: what cannot be converted is said once for each place" $?
	"$dump" -q -f ndjson data >events 2>>log &&
		"$python" "$here/arguments.py" check events >>log 2>&1
	result "$version: and the rest is recorded as documented" $?
done < <(pythons)
finish
