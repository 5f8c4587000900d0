#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Many threads in the NVTX collector, built with TSan, under a recorder that is not: on lock rings,
# because TSan does not know the memory order of restartable sequences. TAP.
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")

if ! tests/builds/make.sh tsan; then
	echo "Bail out! the thread build"
	exit 1
fi
export TSAN_OPTIONS=halt_on_error=1 NVTX_INJECTION64_PATH="$build/tsan/lib/libxsprof-nvtx.so"
exec "$build/bin/xsprof" record -q --no-torch -o /dev/null -- \
	env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$build/tsan/tests/nvtx/table" threads
