#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: tests/gpu/run.sh FOLDER [SECONDS [LIMIT]]
#
# Runs everything that needs an NVIDIA GPU, in about eight minutes. Needs CUDA's toolkit, Python and
# a build of the tree (its bin and lib are enough); a part needs PyTorch. SECONDS is how long the
# clocks are compared (60). Starts no part that would end after LIMIT seconds (500), and kills what
# hangs. FOLDER always gets four files: figures, results (the output), logs of failures, and an
# archive of small captures; and raw.gz, a recording for replays (raw.c). TAP. Not part of make
# check: run it where there is a GPU.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
[ $# -ge 1 ] || { echo "usage: tests/gpu/run.sh FOLDER [SECONDS [LIMIT]]" >&2; exit 2; }
out=$1 seconds=${2:-60} limit=${3:-500} here=$PWD/tests/gpu
BUILD=${BUILD:-build}
xsprof=$(realpath "$BUILD/bin/xsprof") || exit 1
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
work="timeout -s KILL 110 python3 $here/torch-work.py"
export PYTHONDONTWRITEBYTECODE=1

nvidia-smi -L >/dev/null 2>&1 || skip "no GPU of NVIDIA's here"
[ -x "$nvcc" ] || skip "no nvcc here"
command -v python3 >/dev/null || skip "no python3 here"
# In the background: on a machine that has just started this takes long.
timeout 300 python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' \
	>/dev/null 2>&1 &
has_torch=$!
mkdir -p "$out" && out=$(realpath "$out") && dir=$(mktemp -d) && cd "$dir" || exit 1
# Written there at once, so that they are complete if the script is killed.
rm -f "$out"/figures "$out"/logs
ln -s "$out/figures" figures && ln -s "$out/logs" failed || exit 1
keep()
{
	exec >&-
	kill $has_torch 2>/dev/null
	wait $tee
	find . -name '*.xsprof' -size -4M -print0 | tar -czf "$out/captures.tgz" --null -T - \
		2>/dev/null
	rm -rf "$dir"
}
trap keep EXIT
trap 'exit 143' TERM INT HUP
exec > >(tee "$out/results")
tee=$!
# On a failure, keeps the log of that result.
tap_log=$dir/log
holds() # $1 name, $2 0 when it holds
{
	[ "$2" = 0 ] || { echo "== $1"; tail -n 200 log; } >>failed 2>/dev/null
	result "$@"
}
# time_for SECONDS NAME: whether there is time for it
time_for()
{
	[ $((SECONDS + $1)) -gt "$limit" ] || return 0
	skipped "$2" "it takes $1 s, and $SECONDS of $limit are over"
	return 1
}
compile="$nvcc -O2 -arch=native -std=c++17"
$compile -o work "$here/work.cu" &&
	$compile -shared -Xcompiler -fPIC -o libwork.so "$here/work.cu" || exit 1
{
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
	sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1
	"$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p'
} >figures

# A program may hang, for example if its kernels are measured one at a time. It is killed after
# 110 s, before the recorder, so that nothing of it is left on the device.
printf '#!/bin/sh\nexec timeout -s KILL 110 ./work "$@"\n' >w && chmod +x w || exit 1
xsprof() { timeout -k 5 120 "$xsprof" "$@"; }
record() { xsprof record -q --gpu -b 64M -o "$@"; }
# Prints the least cost of a launch, in ns of CPU time.
cost() { sed -n 's/^launch cpu_ns \([0-9.]*\) .*/\1/p' | tail -n 1; }

# Each process of the program prints what it did.
./w >said && record work.xsprof -- ./w >said.recorded 2>log && cmp -s said said.recorded &&
	python3 "$here/compare.py" counts "$xsprof" work.xsprof said 1 >log 2>&1
holds "kernels, copies, sets, graphs, managed memory, threads: as many as the program made" $?
record two.xsprof -- sh -c './w & ./w & wait' >said.two 2>log &&
	python3 "$here/compare.py" counts "$xsprof" two.xsprof said 2 >log 2>&1
holds "the same of two processes at once" $?

# Counters early, because so far they have only run in replays. If the driver lets only root read
# them, or another tool uses them, there must be a message.
told() { grep -Eq 'are not recorded(: |$)' log; }
xsprof record -q --metrics -o metrics.xsprof -- ./w rounds 4 >/dev/null 2>log &&
	xsprof report --gpu metrics.xsprof >metrics 2>>log &&
	{ grep -q 'SM active (%): mean .* while busy' metrics || told; }
status=$?
grep -h -e ': mean ' -e 'not recorded: ' metrics log | sed 's/^/metrics: /' >>figures
holds "counters of the device are sampled, or a line says why not" $status
for wanted in default sm,lts__t_sector_hit_rate.pct; do
	time_for 230 "metrics of each kernel: $wanted" || continue
	: >ranges
	./w small >said.small &&
		xsprof record -q --metrics=$wanted --metrics-by=kernel -b 64M -o kernels.xsprof \
			-- ./w small >said.measured 2>log && cmp -s said.small said.measured &&
		python3 "$here/compare.py" counts "$xsprof" kernels.xsprof said.small 1 \
			>>log 2>&1 &&
		{ told ||
		  python3 "$here/compare.py" ranges "$xsprof" kernels.xsprof >ranges 2>&1; }
	status=$?
	cat ranges >>log
	{ echo "metrics of kernels, $wanted:"; cat ranges; grep 'xsprof: ' log; } >>figures
	holds "metrics of each kernel ($wanted), as many kernels as ever, or a line says why not" \
		$status
done
if time_for 230 "what it takes to measure a kernel"; then
	for how in device kernel; do
		begin=${EPOCHREALTIME/./}
		xsprof record -q --metrics=sm --metrics-by=$how -o kernels.xsprof \
			-- ./w launch 200 1 >/dev/null 2>log || echo "status $?" >>figures
		echo "200 launches, metrics by $how: $((${EPOCHREALTIME/./} - begin)) us" >>figures
	done
fi
xsprof record -q --gpu=graphs,queued,memory -o graphs.xsprof -- ./w >/dev/null 2>log &&
	xsprof record -q --gpu=managed -o managed.xsprof -- ./w managed >/dev/null 2>>log &&
	python3 "$here/compare.py" details "$xsprof" graphs.xsprof managed.xsprof >log 2>&1 &&
	xsprof dump -f ndjson graphs.xsprof | grep -q 'queued before start'
status=$?
cat log >>figures
holds "on request: graphs as a whole, what unified memory moved, when kernels were queued" $status
./w pools 100 >said.pools 2>log &&
	xsprof record -q --gpu=memory,pools -o pools.xsprof -- ./w pools 100 >/dev/null 2>>log &&
	python3 "$here/compare.py" pools "$xsprof" pools.xsprof said.pools >log 2>&1
status=$?
cat log >>figures
holds "memory in the order of a stream: as much is allocated and freed as the program does" $status
xsprof record -q --gpu=links,jit -o links.xsprof -- ./w small >said.links 2>log &&
	xsprof dump -f ndjson links.xsprof >links 2>>log
status=$?
grep -h -o -e '"name":"[^"]*PCI[^"]*"' -e '"name":"[^"]*NVLink[^"]*"' -e '"name":"JIT[^"]*"' links |
	sort | uniq -c >>figures
holds "how devices are connected, and what the driver compiles, is in the figures" $status
# Data for replays of this device and CUPTI.
cupti=$(dirname "$nvcc")/../extras/CUPTI/lib64/libcupti.so
if [ -e "$cupti" ]; then
	cc -O2 -shared -fPIC -pthread -iquote "$here/../.." -o libraw.so "$here/raw.c" -ldl 2>log &&
		CUDA_INJECTION64_PATH=./libraw.so XSPROF_CUPTI=$cupti RAW_FILE=raw ./w small \
			>/dev/null 2>>log && [ -s raw ] && gzip -9 raw &&
		cp raw.gz "$out/raw.gz"
	holds "CUPTI's buffers as they are, for replays" $?
else
	skipped "CUPTI's buffers as they are, for replays" "no $cupti"
fi
(record storm.xsprof -- ./w storm 8 >storm 2>log; echo "status $?" >>storm) &
storm=$!
sleep 1
for i in 1 2 3; do
	sleep 1
	xsprof disable all >/dev/null 2>&1
	sleep 1
	xsprof enable all >/dev/null 2>&1
done
wait $storm
grep -q '^storm is over' storm && grep -q '^status 0' storm
holds "CUPTI is given back and taken three times under four threads that call all there is" $?
rm -f storm.xsprof
record tick.xsprof -- ./w tick "$seconds" >log 2>&1 &&
	python3 "$here/compare.py" clocks "$xsprof" tick.xsprof >>figures 2>log
holds "over $seconds s no kernel begins before its call or ends after the wait for it" $?

for i in 1 2 3 4 5; do
	[ $i -lt 3 ] || [ "$SECONDS" -lt $((limit - 120)) ] || break
	./w launch 20000 10 | cost >>bare
	record launch.xsprof -- ./w launch 20000 10 | cost >>ours
done
xsprof report --gpu --json launch.xsprof >launch.json 2>log && [ "$(wc -l <ours)" -ge 2 ] &&
	python3 "$here/compare.py" whole launch.json 200000 >>log 2>&1
holds "launches of empty kernels are recorded, none lost" $?
if time_for 60 "2,000,000 launches"; then
	record grow.xsprof -- ./w grow 2000000 >grow 2>log &&
		xsprof report --gpu --json grow.xsprof >grow.json 2>>log &&
		python3 "$here/compare.py" whole grow.json 2000000 >>log 2>&1 &&
		python3 "$here/compare.py" flat grow >flat 2>>log
	status=$?
	cat grow flat >>figures
	holds "2,000,000 launches, none lost, in flat memory" $status
fi
# Others' memory on the device grew with graphs, by their nodes' records.
if time_for 90 "400,000 launches of graphs"; then
	record grow.xsprof -m overwrite -- ./w grow-graphs 400000 >grow 2>log &&
		{ xsprof report --gpu grow.xsprof | grep 'not recorded' >>figures || :; } &&
		python3 "$here/compare.py" flat grow >flat 2>>log
	status=$?
	cat grow flat >>figures
	holds "400,000 launches of graphs of ten kernels, in flat memory" $status
fi
rm -f launch.xsprof grow.xsprof
{
	./w rounds 2
	record rounds.xsprof -d 3 -- ./w rounds 7 2>log
} >rounds
python3 "$here/compare.py" back rounds 2 >>figures 2>>log
holds "the cost of a launch after a recording has ended is in the figures" $?
rm -f rounds.xsprof
xsprof record -q --gpu-budget=2 -o budget.xsprof -- ./w rounds 8 >budget 2>log &&
	python3 "$here/compare.py" budget "$xsprof" budget.xsprof >>figures 2>>log
holds "a budget: devices are not recorded all of the time, and the trace says when" $?
xsprof dump -f ndjson budget.xsprof | grep -E '"name":"(cost of|GPU budget)' | cut -c 1-300 \
	>>figures
sed 's/^/budget of 2 %: /' budget >>figures
rm -f budget.xsprof
sh -c "$xsprof record --gpu -o killed.xsprof -- sh -c 'timeout -s KILL 3 ./work rounds 9'" \
	>/dev/null 2>log
xsprof report --gpu --json killed.xsprof >killed.json 2>>log &&
	python3 "$here/compare.py" killed killed.json >>figures 2>>log
holds "of a program that is killed all is there but its last moments" $?
rm -f killed.xsprof

if ! wait $has_torch; then
	skipped "PyTorch" "there is none that has CUDA"
elif time_for 180 "PyTorch"; then
	$work profiler theirs.json >log 2>&1 &&
		record torch.xsprof --torch shapes -- $work >log 2>&1 &&
		xsprof dump -f kineto -o ours.json torch.xsprof >>log 2>&1 &&
		xsprof report --gpu --json torch.xsprof >torch.json &&
		python3 "$here/compare.py" torch ours.json theirs.json torch.json >log 2>&1
	status=$?
	sed 's/^/  /' log >>figures
	holds "PyTorch: op, kernel, stream, grid and occupancy as torch.profiler has them" $status
	record nvtx.xsprof -- $work nvtx >log 2>&1 &&
		xsprof report --gpu --json nvtx.xsprof >nvtx.json &&
		python3 "$here/compare.py" same torch.json nvtx.json >log 2>&1
	holds "PyTorch under emit_nvtx: the same kernels" $?
	record beside.xsprof -- $work profiler beside.json >log 2>&1 &&
		xsprof report --gpu --json beside.xsprof >beside.out &&
		python3 "$here/compare.py" same torch.json beside.out >log 2>&1
	holds "beside torch.profiler, which finds no GPU then: the same kernels" $?
	for i in 1 2 3; do
		[ $i = 1 ] || [ "$SECONDS" -lt $((limit - 110)) ] || break
		$work cost ./libwork.so profiler 2>/dev/null | cost >>theirs
		for how in bare profiler; do
			$work stop ./libwork.so $how 2>/dev/null | sed "s/^/$how: /"
		done >>stops
		begin=${EPOCHREALTIME/./}
		record stop.xsprof --no-torch -- $work stop ./libwork.so bare 2>/dev/null |
			sed 's/^/xsprof: /' >>stops
		echo "xsprof: all of record: $((${EPOCHREALTIME/./} - begin)) us" >>stops
		for how in bare ops gpu both kineto; do
			case $how in
			bare) $work plain 200 ;;
			ops) xsprof record -q -o step.xsprof -- $work plain 200 ;;
			gpu) record step.xsprof --no-torch -- $work plain 200 ;;
			both) record step.xsprof -- $work plain 200 ;;
			kineto) $work profiler step.json 200 ;;
			esac 2>/dev/null | sed -n "s/^step least \([0-9]*\) us.*/$how \1/p"
		done
	done >steps
	rm -f step.xsprof step.json stop.xsprof
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
	[ ! -s stops ] || echo "400,000 launches: to stop, and memory of the process:"
	cat stops 2>/dev/null
} >>figures
cat figures
finish
