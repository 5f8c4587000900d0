#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Realistic programs: a web server under load, a pandas and numpy job, asyncio tasks. Checks their
# samples and waits for the GIL. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/python/start.sh

# On a busy machine threads run too little: try again, longer.
known() # WHAT PYTHON OPTION...
{
	local what=$1 python=$2 seconds

	for seconds in 2 4 8; do
		rm -f data events waits
		"$xsprof" record -q --python=200 "${@:3}" -o data -- "$python" "$here/real.py" \
			"$what" $seconds >said 2>log && [ ! -s log ] &&
			"$dump" -q -f ndjson data >events 2>>log &&
			"$xsprof" report -q --gil --json -n 100000 data >waits 2>>log
		python3 "$here/real.py" check-"$what" events waits >>log 2>&1 && return
	done
	return 1
}

known serve python3
result "a web server: what its threads do, and that they wait for each other" $?
known tasks python3
result "asyncio: which task runs is told by the frame inside of Handle._run(), and its name" $?
if package_readers; then
	known table "$venv/bin/python" --python-native
	result "pandas and numpy: what holds the lock, what lets go of it, and C below it" $?
else
	skipped "pandas and numpy: what holds the lock, what lets go of it, and C below it" "$why"
fi
finish
