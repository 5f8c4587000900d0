#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The collector of PyTorch ops with a stand-in for libtorch whose objects have another layout, or
# that reports other data than its objects have: less is recorded, but never wrong data, and the
# program ends well. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
program=$BUILD/tests/torch/stand-in
[ -e "$program" ] || skip "libxsprof-torch is not built for this machine"
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
unset XSPROF_TORCH LD_PRELOAD

# stands KIND SEED SHAPES [LINE]: LINE is the message expected on standard error, none without
stands()
{
	local said

	STAND_IN="$1 $2" "$xsprof" record -q --torch shapes -o "$dir/data" -- "$program" \
		2>"$dir/said" && "$dump" -q "$dir/data" 2>"$dir/log" |
		python3 tests/torch/check-stand-in.py "$1" "$3" >>"$dir/log" 2>&1 || {
		echo "$1 $2" | cat - "$dir/said" >>"$dir/log"
		return 1
	}
	said=$(grep -v '^xsprof: rings' "$dir/said")
	[ "$1" = shuffled ] || [[ $said == ${4:-} ]] || {
		echo "$1 $2: said '$said'" >>"$dir/log"
		return 1
	}
}

# each KIND SEEDS SHAPES [LINE]
each()
{
	local seed

	for seed in $(seq "$2"); do
		stands "$1" "$seed" "$3" "${4:-}" || return
	done
}

seeds=20
[ "${XSPROF_TIER:-quick}" = full ] && seeds=300
each good $seeds all
result "$seeds layouts as they may be: every op and every shape" $?
each name 5 all
result "operators that share a schema's memory: their names all the same" $?
each silent 5 none
result "no answer to where sizes are: no shapes" $?
each number 5 none '*unexpected location of the number of inputs: ops are recorded without*'
result "another number of inputs: names only, and a line says why" $?
each shape 5 some '*unexpected location of the shape of a tensor: ops are recorded without*'
result "another shape: right ones up to there, then names only, and a line says why" $?
each type 5 some '*unexpected location of the shape of a tensor: ops are recorded without*'
result "another type: the same" $?
each thread 5 all
result "a thread that waits where inputs are compared: another has all of its own" $?
each comms 5 all
result "what collectives are of" $?
for form in count text hash; do
	each comms-$form 5 all '*unexpected layout of collectives? metadata*'
	result "what collectives are of in another form ($form): names only, and a line says why" $?
done
each shuffled $((3 * seeds)) any
result "$((3 * seeds)) layouts at random: nothing wrong, and no crash" $?
finish
