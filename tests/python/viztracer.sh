#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Records one program with viztracer and with xsprof: the call trees must be the same. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
. tests/python/start.sh
python_packages viztracer viztracer==1.1.1 objprint==0.3.0 || skip "$why"

"$venv/bin/python" -m viztracer --quiet --ignore_c_function -o theirs.json \
	"$here/tree.py" run >log 2>&1
result "viztracer records it" $?
"$xsprof" record -q --python-trace=tree -o data -- "$venv/bin/python" "$here/tree.py" run \
	2>>log && "$dump" -q -f ndjson data >events 2>>log
result "xsprof records it" $?
python3 "$here/tree.py" compare events theirs.json >same 2>>log
status=$?
result "the same calls in the same places: $(cut -c 3- same)" $status
sed 's/"catches /"others /' theirs.json >other.json
python3 "$here/tree.py" compare events other.json 2>wrong
[ $? = 1 ] && grep -q '^AssertionError: .*others' wrong
result "another tree is told from it" $?
finish
