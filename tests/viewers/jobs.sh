#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# HolisticTraceAnalysis, TensorBoard's profiler plugin and the loader of Chakra's execution traces
# read recordings of PyTorch jobs (tests/torch/jobs): they must find the captures' ops, and tell two
# ranks apart. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
here=$PWD/tests/viewers
jobs=$PWD/tests/torch/jobs
python=/usr/bin/python3
unset XSPROF_TORCH LD_PRELOAD
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
package_readers || skip "$why"
cd "$dir" || exit 1
mkdir shm
export XSPROF_SHM_DIR=$dir/shm

# record NAME STATUS JOB...: writes NAME.ndjson, NAME.kineto
record()
{
	local name=$1 want=$2

	shift 2
	"$xsprof" record -q --torch all -o "$name.data" -- "$python" -W ignore "$jobs/$1.py" \
		"${@:2}" >out 2>log
	[ $? = "$want" ] && "$dump" -q -f ndjson -o "$name.ndjson" "$name.data" 2>>log &&
		"$dump" -q -f kineto -o "$name.kineto" "$name.data" 2>>log
	result "$name runs" $?
}

reads() # TOOL FILE...
{
	"$venv/bin/python" "$here/readers.py" "$1" "${2%%.*}.ndjson" "${@:2}" >log 2>&1
	result "$1: ${*:2}" $?
}

record conv 0 conv theirs
record transformer 0 transformer theirs
record loader 0 loader told fork
record killed 137 killed 20
jobs=$here record crossing 0 crossing
grep -q '"overlapping ranges of thread ' crossing.kineto
result "crossing: a span of one of its threads is on a track beside that" $?
mkdir job
record ranks 0 ddp job spawn
for rank in 0 1; do
	"$dump" -q -f kineto --pid "$(python3 -c "import json
print(json.load(open('job/told.$rank'))['pid'])")" -o rank$rank.kineto ranks.data || exit 1
done
for job in conv transformer loader killed crossing; do
	reads hta $job.kineto
done
reads tensorboard conv.kineto
reads tensorboard transformer.kineto
for job in conv transformer; do
	"$dump" -q -f execution-trace -o $job.et $job.data 2>log &&
		"$venv/bin/python" "$here/chakra.py" $job.ndjson $job.kineto $job.et >>log 2>&1
	result "et_replay: $job.et: its ops, their parents, inputs and forward ops" $?
done
"$venv/bin/python" "$here/readers.py" ranks ranks.ndjson rank0.kineto rank1.kineto >log 2>&1
result "hta and tensorboard: each rank has its ops" $?
finish
