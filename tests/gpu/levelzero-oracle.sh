#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the Level Zero collector's reading of PTI's records with PTI's own function, on the same
# buffers; our structures with Level Zero's headers, and with PTI's if XSPROF_PTI_INCLUDE names them
# (the Python package has none); and runs the real PTI and loader without a driver, and on a
# stand-in for one. Fetches PTI when needed. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
export LC_ALL=C

[ "$(uname -m)" = x86_64 ] || skip "the wheels are for x86-64"

# Fetches PTI, and what it loads of the SYCL runtime.
pti_fetch()
{
	python3 -m pip download -q --no-deps --only-binary :all: --no-cache-dir \
		--disable-pip-version-check -d "$new/wheels" intel-pti==1.2.0 \
		intel-cmplr-lib-rt==2026.2.0 || return
	for wheel in "$new"/wheels/*.whl; do
		python3 -m zipfile -e "$wheel" "$new/all" || return
	done
	mkdir "$new/lib" || return
	cp -r "$new"/all/intel_pti-*.data/data/lib/. "$new/lib" || return
	cp "$new"/all/intel_cmplr_lib_rt-*.data/data/lib/libxptifw.so* "$new/lib" || return
	rm -r "$new/all" "$new/wheels"
}

fetch pti-1.2.0 pti_fetch || skip "$why"
flags=(-std=gnu11 -Wall -Wextra -Werror -O1 -iquote . -DZE_HEADERS)
${CC:-cc} "${flags[@]}" -rdynamic -o "$dir/oracle" tests/gpu/pti-oracle.c -ldl >"$dir/log" 2>&1
result "each field is where Level Zero's headers have it" $?
if [ -n "${XSPROF_PTI_INCLUDE:-}" ]; then
	${CC:-cc} "${flags[@]}" -DPTI_HEADERS -isystem "$XSPROF_PTI_INCLUDE" -o "$dir/headers" \
		tests/gpu/pti-oracle.c -ldl >"$dir/log" 2>&1
	result "each field is where PTI's headers have it" $?
else
	skipped "each field is where PTI's headers have it" \
		"XSPROF_PTI_INCLUDE names no folder with pti/pti_view.h"
fi
flags=(-std=gnu11 -Wall -Wextra -Werror -O1)
{
	${CC:-cc} "${flags[@]}" -o "$dir/init" tests/gpu/ze-init.c -l:libze_loader.so.1 &&
		${CC:-cc} "${flags[@]}" -rdynamic -o "$dir/work" tests/gpu/ze-work.c \
			-l:libze_loader.so.1 -pthread -ldl &&
		${CC:-cc} "${flags[@]}" -fPIC -shared -o "$dir/driver.so" \
			tests/gpu/ze-driver.c tests/gpu/ze-queue.c
} >"$dir/log" 2>&1
result "programs and a stand-in for a driver, for the real loader" $?
/usr/bin/python3 tests/gpu/levelzero-oracle.py "$dir" "$viewers/pti-1.2.0/lib" >"$dir/said" 2>&1
while read -r line; do
	case $line in
	"ok "*) result "${line#ok * }" 0 ;;
	"not ok "*) result "${line#not ok * }" 1 ;;
	"1.."*) whole=1 ;;
	*) echo "$line" >>"$dir/log" ;;
	esac
done <"$dir/said"
cp "$dir/said" "$dir/log"
[ -n "${whole:-}" ]
result "all of these were done" $?
finish
