#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: metrics-oracle.sh [all]
#
# Compares how the collector reads counters of devices and of kernels with CUPTI's own headers and
# library: of the first version with these counters and of a newer one, or of all. Each field must
# be where the headers have it, and CUPTI must confirm that the metrics chosen for each chip can be
# measured in one pass. Sampling and measuring need a GPU. Fetches headers and libraries. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
here=$PWD
export LC_ALL=C

skip() { echo "1..0 # SKIP $*"; exit 77; }
[ "$(uname -m)" = x86_64 ] || skip "the wheels are for x86-64"

# nvperf_fetch WHEEL...: fetches headers and the libraries with metrics, all into one folder
nvperf_fetch()
{
	local wheel

	python3 -m pip download -q --no-deps --only-binary :all: --no-cache-dir \
		--disable-pip-version-check -d "$new/wheels" "$@" || return
	for wheel in "$new"/wheels/*.whl; do
		python3 -m zipfile -e "$wheel" "$new/all" || return
	done
	mkdir "$new/include" "$new/lib" || return
	cp -r "$new"/all/nvidia/*/include/. "$new/include" || return
	cp "$new"/all/nvidia/*/lib/libcupti.so.1* "$new"/all/nvidia/*/lib/libnvperf_host.so \
		"$new/lib" || return
	rm -r "$new/all" "$new/wheels"
	# C++ headers that the headers of 12 include but do not use, and the compiler's own.
	touch "$new/include/string"
	mkdir -p "$new/include/crt" || return
	printf '#define %s\n' '__align__(n) __attribute__((aligned(n)))' \
		'__builtin_align__(n) __align__(n)' __device_builtin__ __host__ __device__ \
		__device_builtin_texture_type__ __device_builtin_surface_type__ \
		__cudart_builtin__ CUDARTAPI \
		>"$new/include/crt/host_defines.h"
}

# part VERSION OF PROGRAM.c: tests its fields, and its choices
part()
{
	local fields="CUDA $1: each field of what $2 is where its headers have it"
	local chosen="CUDA $1, what $2: its library has what is chosen, and measures it at once"
	local status

	${CC:-cc} -O1 -D_GNU_SOURCE -DVERSION="${1%.*}0${1#*.}" -iquote "$here" -Ilib/include \
		-Ikmod/uapi -isystem "$viewers/nvperf-callbacks-$1/include" -o "$dir/oracle" \
		"tests/gpu/$3" gpu/cupti/pm.c gpu/cupti/metrics.c gpu/cupti/chip.c \
		gpu/cupti/library.c -ldl >"$dir/log" 2>&1
	status=$?
	result "$fields" $status
	[ $status = 0 ] || return
	XSPROF_CUPTI=$(echo "$viewers/nvperf-callbacks-$1"/lib/libcupti.so.1*) "$dir/oracle" \
		>"$dir/log" 2>&1
	status=$?
	# That of 13.2 recurses without end then.
	if [ $status = 3 ] || [ "$1 $status" = "13.2 139" ]; then
		skipped "$chosen" "without a driver it says nothing"
	else
		result "$chosen" $status
	fi
}

check() # VERSION CUPTI-WHEEL RUNTIME-WHEEL
{
	fetch "nvperf-callbacks-$1" nvperf_fetch "$2" "$3" || {
		skipped "CUDA $1: its headers and its library" "$why"
		return
	}
	part "$1" samples metrics-oracle.c
	part "$1" "measures kernels" ranges-oracle.c
}

twelve=nvidia-cuda-runtime-cu12==12.4.127
thirteen=nvidia-cuda-runtime==13.0.96
check 12.6 nvidia-cuda-cupti-cu12==12.6.80 $twelve
check 13.0 nvidia-cuda-cupti==13.0.85 $thirteen
if [ "${1:-}" = all ]; then
	check 12.8 nvidia-cuda-cupti-cu12==12.8.90 $twelve
	check 12.9 nvidia-cuda-cupti-cu12==12.9.79 $twelve
	check 13.1 nvidia-cuda-cupti==13.1.115 $thirteen
	check 13.2 nvidia-cuda-cupti==13.2.86 $thirteen
	check 13.3 nvidia-cuda-cupti==13.3.75 $thirteen
	check 13.4 nvidia-cuda-cupti==13.4.92 $thirteen
	check 13.5 nvidia-cuda-cupti==13.5.25 $thirteen
fi
finish
