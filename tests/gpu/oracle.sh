#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: oracle.sh [all]
#
# Compares how the collector reads CUPTI's records with CUPTI's own headers and library: of the
# oldest version, the newest, and that of the buffers of a real device, or of all. Also compares the
# walk over buffers, record by record, with the stand-in's. Fetches them when needed. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
here=$PWD
build=$(realpath -m "${BUILD:-build}")
export LC_ALL=C

skip() { echo "1..0 # SKIP $*"; exit 77; }
[ "$(uname -m)" = x86_64 ] || skip "the wheels are for x86-64"

# cuda_fetch WHEEL...: fetches headers and libraries of wheels, all into one folder
cuda_fetch()
{
	local wheel

	python3 -m pip download -q --no-deps --only-binary :all: --no-cache-dir \
		--disable-pip-version-check -d "$new/wheels" "$@" || return
	for wheel in "$new"/wheels/*.whl; do
		python3 -m zipfile -e "$wheel" "$new/all" || return
	done
	mkdir "$new/include" "$new/lib" || return
	cp -r "$new"/all/nvidia/*/include/. "$new/include" || return
	cp "$new"/all/nvidia/*/lib/libcupti.so.1* "$new/lib" || return
	rm -r "$new/all" "$new/wheels"
	# The CUDA compiler defines these; the records do not need them.
	mkdir -p "$new/include/crt" &&
		printf '#define %s\n' '__align__(n) __attribute__((aligned(n)))' \
			'__builtin_align__(n) __align__(n)' __device_builtin__ __host__ __device__ \
			__device_builtin_texture_type__ __device_builtin_surface_type__ \
			__cudart_builtin__ CUDARTAPI >"$new/include/crt/host_defines.h"
}

check() # VERSION CUPTI-WHEEL RUNTIME-WHEEL
{
	local fields="CUDA $1: each field is where its headers have it"
	local steps="CUDA $1: replay: its library steps over records as the stand-in does"
	local status raw=

	# Buffers of this version from a real device.
	if [ "$1" = 13.0 ]; then
		raw=$dir/raw
		gzip -cd tests/gpu/h100-13.0.raw.gz >"$raw" || exit 1
	fi
	fetch "cupti-$1" cuda_fetch "$2" "$3" || {
		skipped "$fields" "$why"
		skipped "$steps" "$why"
		return
	}
	${CC:-cc} -O1 -DVERSION="${1%.*}0${1#*.}" -iquote "$here" \
		-isystem "$viewers/cupti-$1/include" -o "$dir/oracle" tests/gpu/oracle.c \
		tests/gpu/oracle-steps.c -ldl \
		>"$dir/log" 2>&1
	status=$?
	result "$fields" $status
	[ $status = 0 ] || return
	"$dir/oracle" "$viewers/cupti-$1"/lib/libcupti.so.1* "$build/tests/gpu/libcupti.so" $raw \
		>"$dir/log" 2>&1
	status=$?
	# That of 13.2 recurses without end then.
	if [ $status = 3 ] || [ "$1 $status" = "13.2 139" ]; then
		skipped "$steps" "without a driver it says nothing"
	else
		result "$steps" $status
	fi
}

eleven=nvidia-cuda-runtime-cu11==11.8.89
twelve=nvidia-cuda-runtime-cu12==12.4.127
thirteen=nvidia-cuda-runtime==13.0.96
check 11.8 nvidia-cuda-cupti-cu11==11.8.87 $eleven
check 13.0 nvidia-cuda-cupti==13.0.85 $thirteen
if [ "${1:-}" = all ]; then
	check 12.0 nvidia-cuda-cupti-cu12==12.0.146 $twelve
	check 12.2 nvidia-cuda-cupti-cu12==12.2.142 $twelve
	check 12.4 nvidia-cuda-cupti-cu12==12.4.127 $twelve
	check 12.6 nvidia-cuda-cupti-cu12==12.6.80 $twelve
	check 12.8 nvidia-cuda-cupti-cu12==12.8.90 $twelve
	check 12.9 nvidia-cuda-cupti-cu12==12.9.79 $twelve
	check 13.1 nvidia-cuda-cupti==13.1.115 $thirteen
	check 13.2 nvidia-cuda-cupti==13.2.86 $thirteen
	check 13.3 nvidia-cuda-cupti==13.3.75 $thirteen
	check 13.4 nvidia-cuda-cupti==13.4.92 $thirteen
fi
check 13.5 nvidia-cuda-cupti==13.5.25 $thirteen
finish
