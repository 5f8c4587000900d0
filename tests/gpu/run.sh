#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: tests/gpu/run.sh FOLDER [SECONDS]
#
# All that needs a GPU of NVIDIA's, in some four minutes: CUDA's toolkit and a build of the tree are
# needed, and PyTorch for a part of it. Captures, traces and the figures go into FOLDER; SECONDS is
# how long the clocks are compared (30). TAP. It is not part of make check: run it where a GPU is.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
[ $# -ge 1 ] || { echo "usage: tests/gpu/run.sh FOLDER [SECONDS]" >&2; exit 2; }
out=$1 seconds=${2:-30} here=$PWD/tests/gpu
BUILD=${BUILD:-build}
xsprof=$(realpath "$BUILD/bin/xsprof") || exit 1
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
work="python3 $here/torch-work.py"
export PYTHONDONTWRITEBYTECODE=1
skip() { echo "1..0 # SKIP $*"; exit 77; }

nvidia-smi -L >/dev/null 2>&1 || skip "no GPU of NVIDIA's here"
[ -x "$nvcc" ] || skip "no nvcc here"
mkdir -p "$out" && cd "$out" || exit 1
compile="$nvcc -O2 -arch=native -std=c++17"
$compile -o work "$here/work.cu" &&
	$compile -shared -Xcompiler -fPIC -o libwork.so "$here/work.cu" || exit 1
{
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
	sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1
	"$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p'
} >figures

record() { "$xsprof" record -q --gpu -b 64M -o "$@"; }
# Of launches: the least, in ns of CPU time.
cost() { sed -n 's/^launch cpu_ns \([0-9.]*\) .*/\1/p' | tail -n 1; }

# What a program says that it did, in each of its processes.
./work >said && record work.xsprof -- ./work >said.recorded 2>log && cmp -s said said.recorded &&
	python3 "$here/compare.py" counts "$xsprof" work.xsprof said 1 >log 2>&1
result "kernels, copies, sets, graphs, managed memory, threads: as many as the program made" $?
record two.xsprof -- sh -c './work & ./work & wait' >said.two 2>log &&
	python3 "$here/compare.py" counts "$xsprof" two.xsprof said 2 >log 2>&1
result "the same of two processes at once" $?
"$xsprof" record -q --gpu=graphs,queued,memory -o graphs.xsprof -- ./work >/dev/null 2>log &&
	"$xsprof" record -q --gpu=managed -o managed.xsprof -- ./work managed >/dev/null 2>>log &&
	python3 "$here/compare.py" details "$xsprof" graphs.xsprof managed.xsprof >log 2>&1 &&
	"$xsprof" dump -f ndjson graphs.xsprof | grep -q 'queued before start'
status=$?
cat log >>figures
result "on request: graphs as a whole, what unified memory moved, when kernels were queued" $status
(record storm.xsprof -- ./work storm 8 >storm 2>log; echo "status $?" >>storm) &
sleep 1
for i in 1 2 3; do
	sleep 1
	"$xsprof" disable all >/dev/null 2>&1
	sleep 1
	"$xsprof" enable all >/dev/null 2>&1
done
wait
grep -q '^storm is over' storm && grep -q '^status 0' storm
result "CUPTI is given back and taken three times under four threads that call all there is" $?
rm -f storm.xsprof
record tick.xsprof -- ./work tick "$seconds" >log 2>&1 &&
	python3 "$here/compare.py" clocks "$xsprof" tick.xsprof >>figures 2>log
result "over $seconds s no kernel begins before its call or ends after the wait for it" $?

for i in 1 2 3 4 5; do
	./work launch 20000 10 | cost >>bare
	record launch.xsprof -- ./work launch 20000 10 | cost >>ours
done
"$xsprof" info launch.xsprof | grep -q '^lost  *0 records' && [ "$(wc -l <ours)" = 5 ]
result "launches of empty kernels are recorded, none lost" $?
record grow.xsprof -- ./work grow 2000000 >>figures 2>log &&
	"$xsprof" info grow.xsprof | grep -q '^lost  *0 records'
result "2,000,000 launches, none lost; memory is in the figures" $?
rm -f launch.xsprof grow.xsprof
{
	./work rounds 2
	record rounds.xsprof -d 3 -- ./work rounds 7 2>log
} >rounds
result "a recording that ends leaves the program at its speed: it is in the figures" $?
rm -f rounds.xsprof
"$xsprof" record -q --gpu-budget=2 -o budget.xsprof -- ./work rounds 8 >budget 2>log &&
	python3 "$here/compare.py" budget "$xsprof" budget.xsprof >>figures 2>>log
result "a budget: devices are not recorded all of the time, and the trace says when" $?
"$xsprof" dump -f ndjson budget.xsprof | grep -E '"name":"(cost of|GPU budget)' | cut -c 1-300 \
	>>figures
sed 's/^/budget of 2 %: /' budget >>figures
rm -f budget.xsprof
# Not where the driver lets root alone, and this is not root: then that has to be said.
"$xsprof" record -q --metrics -o metrics.xsprof -- ./work rounds 4 >/dev/null 2>log &&
	"$xsprof" report --gpu metrics.xsprof >metrics 2>>log &&
	{ grep -q 'SM active (%): mean .* while busy' metrics || grep -q 'are not recorded: ' log; }
result "counters of the device are sampled, or a line says why not" $?
grep -h -e ': mean ' -e 'not recorded: ' metrics log | sed 's/^/metrics: /' >>figures
rm -f metrics.xsprof
sh -c "$xsprof record --gpu -o killed.xsprof -- sh -c 'timeout -s KILL 3 ./work rounds 9'" \
	>/dev/null 2>log
"$xsprof" report --gpu --json killed.xsprof >killed.json 2>>log &&
	python3 "$here/compare.py" killed killed.json >>figures 2>>log
result "of a program that is killed all is there but its last moments" $?
rm -f killed.xsprof

if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
	$work profiler theirs.json >log 2>&1 &&
		record torch.xsprof --torch shapes -- $work >log 2>&1 &&
		"$xsprof" dump -f kineto -o ours.json torch.xsprof >>log 2>&1 &&
		"$xsprof" report --gpu --json torch.xsprof >torch.json &&
		python3 "$here/compare.py" torch ours.json theirs.json torch.json >log 2>&1
	status=$?
	sed 's/^/  /' log >>figures
	result "PyTorch: op, kernel, stream, grid and occupancy as torch.profiler has them" $status
	record nvtx.xsprof -- $work nvtx >log 2>&1 &&
		"$xsprof" report --gpu --json nvtx.xsprof >nvtx.json &&
		python3 "$here/compare.py" same torch.json nvtx.json >log 2>&1
	result "PyTorch under emit_nvtx: the same kernels" $?
	record beside.xsprof -- $work profiler beside.json >log 2>&1 &&
		"$xsprof" report --gpu --json beside.xsprof >beside.out &&
		python3 "$here/compare.py" same torch.json beside.out >log 2>&1
	result "beside torch.profiler, which finds no GPU then: the same kernels" $?
	for i in 1 2 3; do
		$work cost ./libwork.so profiler 2>/dev/null | cost >>theirs
		for how in bare ops gpu both kineto; do
			case $how in
			bare) $work plain 200 ;;
			ops) "$xsprof" record -q -o step.xsprof -- $work plain 200 ;;
			gpu) record step.xsprof --no-torch -- $work plain 200 ;;
			both) record step.xsprof -- $work plain 200 ;;
			kineto) $work profiler step.json 200 ;;
			esac 2>/dev/null | sed -n "s/^step least \([0-9]*\) us.*/$how \1/p"
		done
	done >steps
	rm -f step.xsprof step.json
else
	skipped "PyTorch" "there is none that has CUDA"
fi
{
	echo "launch of an empty kernel, CPU time, the least of runs:"
	for how in bare ours theirs; do
		[ ! -s $how ] || echo "  $how $(sort -n $how | head -n 1) ns"
	done
	[ ! -s steps ] || echo "a step of a small net, the least of runs:"
	[ ! -s steps ] || sort -k1,1 -k2,2n steps |
		awk '$1 != last { print "  " $0 " us"; last = $1 }'
	cat rounds
} >>figures
cat figures
finish
