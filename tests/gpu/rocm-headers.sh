#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares our structures of rocprofiler-sdk with its headers, if ROCm is installed or
# XSPROF_ROCM_INCLUDE names a folder with them: no Debian or Python package has them. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
include=${XSPROF_ROCM_INCLUDE:-/opt/rocm/include}

[ -e "$include/rocprofiler-sdk/rocprofiler.h" ] ||
	skip "$include has no rocprofiler-sdk: XSPROF_ROCM_INCLUDE names no folder"
${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -D__HIP_PLATFORM_AMD__ -iquote . -isystem "$include" \
	-fsyntax-only tests/gpu/rocm-headers.c >"$dir/log" 2>&1
result "each member is where rocprofiler-sdk's headers have it" $?
finish
