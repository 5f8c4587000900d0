#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demo: records three real programs under one recorder, one that uses OpenCL and one that
# describes itself by NVTX, and writes what every viewer opens into demo/. `make demo` installs and
# builds first; nothing shown here is canned.
set -eu -o pipefail
cd "$(dirname "$0")/../.."

BUILD=${BUILD:-build}
out=${OUT:-demo}
work=$BUILD/demo
xsprof=$BUILD/bin/xsprof
dump=$BUILD/bin/xsprof-dump

die() { echo "demo: $*" >&2; exit 1; }

[ -x "$xsprof" ] || die "$xsprof: not built: run 'make demo', or 'make' first"
mkdir -p "$out" "$work"
# Python packages stay in the build folder, unless a test sets its own cache.
export XSPROF_VIEWERS_DIR=${XSPROF_VIEWERS_DIR:-$work}
dir=$work
. tests/viewers/packages.sh

# With -g the runtime names a parallel region by its function and line.
clang -O2 -g -fopenmp -o "$work/heat" tests/demo/heat.c -lm ||
	die "heat.c: clang -fopenmp failed: clang and libomp-14-dev are needed"
cat >"$work/hello.c" <<-END
	#include <stdio.h>

	int main(void)
	{
		puts("hello: linked by mold while it was recorded");
		return 0;
	}
END
gcc -c -o "$work/hello.o" "$work/hello.c"

echo "== recording: a PyTorch training, an OpenMP program and a mold link, side by side"
# With the scheduler, if this user may trace the kernel; otherwise it says so and continues.
"$xsprof" record -e sched --irq -o "$out/xsprof.data" -- tests/demo/work.sh "$work" ||
	die "record: exit status $?: see its messages above"

# Written to another name and renamed, so that a failure leaves no partial file.
make_file()
{
	local file=$1

	shift
	"$@" >"$out/.$file.new" || die "$file: '$*' failed with status $?"
	[ -s "$out/.$file.new" ] || die "$file: '$*' wrote nothing"
	mv "$out/.$file.new" "$out/$file"
}

# A busy machine may lose kernel events; dump says so, and the traces are still valid.
make_file trace.json "$dump" -i "$out/xsprof.data" -f chrome -o - --allow-lost
make_file trace.pftrace "$dump" -i "$out/xsprof.data" -f perfetto -o - --allow-lost
make_file trace.txt "$dump" -i "$out/xsprof.data" -f text -o - --allow-lost
make_file kineto.json "$dump" -i "$out/xsprof.data" -f kineto -o - --allow-lost
make_file report.txt "$xsprof" report -i "$out/xsprof.data" --allow-lost
make_file info.txt "$xsprof" info -i "$out/xsprof.data" --allow-lost
make_file steps.txt "$xsprof" report -i "$out/xsprof.data" --steps --allow-lost
# The slowest of PyTorch's convolutions in the trace, and what each waited for.
rm -f "$out/why.txt"
if grep -q '^tracer ' "$out/info.txt"; then
	make_file why.txt "$xsprof" report -i "$out/xsprof.data" --why aten::conv2d -n 3 \
		--allow-lost
fi

# On any machine: PoCL's device is the CPU.
echo "== recording: a benchmark of OpenCL"
"$xsprof" record --gpu --no-torch -o "$out/opencl.data" -- \
	clpeak --kernel-latency >"$work/clpeak" ||
	die "record --gpu: exit status $?: see its messages above"
make_file opencl.txt "$xsprof" report -i "$out/opencl.data" --gpu --allow-lost
make_file opencl.pftrace "$dump" -i "$out/opencl.data" -f perfetto -o - --allow-lost

# NVIDIA's Python package needs no GPU. It is not in Debian: without it the demo does the rest.
rm -f "$out"/nvtx.{data,txt,pftrace}
python=/usr/bin/python3
if python_packages nvtx-demo nvtx==0.2.17; then
	echo "== recording: a Python program that uses NVTX"
	"$xsprof" record -e sched -o "$out/nvtx.data" -- \
		"$venv/bin/python" tests/demo/pipeline.py 200 ||
		die "record: exit status $?: see its messages above"
	make_file nvtx.txt "$xsprof" report -i "$out/nvtx.data" --allow-lost
	make_file nvtx.pftrace "$dump" -i "$out/nvtx.data" -f perfetto -o - --allow-lost
else
	echo "== not recorded: a Python program that uses NVTX: $why"
fi

width=${COLUMNS:-120}
[ "$width" -ge 40 ] 2>/dev/null || width=120
# Shortens lines to the width of the screen in their middle: names are told apart by their ends.
tail=$((width / 3))
fit() { sed -E "s/^(.{$((width - 3 - tail))}).{4,}(.{$tail})\$/\1...\2/"; }

echo
echo "== $xsprof report -i $out/xsprof.data --steps   (the training: its first lines)"
sed -n 1,14p "$out/steps.txt" | fit
echo
echo "== $xsprof report -i $out/xsprof.data   (its first lines)"
sed -n 1,14p "$out/report.txt" | fit
if [ -f "$out/why.txt" ]; then
	# The table of where the time of ranges went follows the first table.
	awk '/^# sources of thread times/ { on = 1 } on && !$0 && ++blank == 2 { exit } on' \
		"$out/report.txt" | sed -n 1,10p | fit
	echo
	echo "== $xsprof report -i $out/xsprof.data --why aten::conv2d -n 3"
	sed -n 1,16p "$out/why.txt" | fit
fi

echo
echo "== $xsprof report -i $out/opencl.data --gpu"
sed -n '3,$p' "$out/opencl.txt" | sed -n 1,10p | fit
if [ -f "$out/nvtx.txt" ]; then
	echo
	echo "== $xsprof report -i $out/nvtx.data"
	sed -n '5,14p' "$out/nvtx.txt" | fit
fi

here=$(cd "$out" && pwd)
cat <<END

== where it is and how to open it
  $here/trace.json
        drag it into https://ui.perfetto.dev, or load it in chrome://tracing or
        https://www.speedscope.app; the file stays on this machine
  $here/trace.pftrace
        the same in Perfetto's own format, for ui.perfetto.dev: with the kernel's scheduler on
        tracks of its own
  $here/kineto.json
        the ops of the training as PyTorch's own profiler writes them, for what reads its traces
  less -S $out/steps.txt        what the time of each step of the training was for
  less -S $out/trace.txt        every event, a line each, in time order
  less -S $out/report.txt       count, total, self, percentiles per name
  less $out/why.txt             the slowest convolutions of the training and what each waited for,
                                if the kernel could be traced: 'xsprof report --why NAME', '--gaps'
  less $out/opencl.txt          kernels of OpenCL, and the calls that started them;
                                opencl.pftrace has their timeline, opencl.data is the capture
  less -S $out/nvtx.txt         ranges of NVTX, and where their time went, if Python's package
                                nvtx could be had; nvtx.pftrace and nvtx.data as above
  less $out/info.txt            host, clocks, processes, losses, error bound
  $out/xsprof.data              the capture itself:
        $xsprof report -i $out/xsprof.data --help
END
