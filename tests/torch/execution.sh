#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares a recording's execution trace with the one that PyTorch's observer writes of the same
# run. Usage: execution.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
"$xsprof" record -q --torch all -o data -- "$python" -W ignore "$here/execution.py" run \
	theirs.json >out 2>log && "$dump" -q -f execution-trace -o ours data 2>>log &&
	python3 "$here/execution.py" compare theirs.json ours >>log
status=$?
result "inputs, storages, devices, threads and parents of each op: $(tail -n 1 log)" $status
finish
