#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Libraries, tools and tests compile without warnings: with gcc and clang, the producer's library
# for arm64, and in tier full with gcc at -O3 too, which finds more. TAP.
#
# Compiles nothing that is already built: the Makefile keeps the compiler's messages for a file
# beside its object, in FILE.o.said.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

BUILD=${BUILD:-build}
tap_log=$BUILD/warn.log

# Prints the compilers' messages of the build $1, for files that still exist.
said()
{
	local file source

	while IFS= read -r file; do
		source=$(grep -oE '[^ :]+\.(c|cc)( |$)' "${file%.o.said}.d" 2>/dev/null | head -n 1)
		[ ! -f "${source% }" ] || cat "$file"
	done < <(find "$1/obj" -name '*.o.said' -size +0)
}

# $1 name, $2 the build's folder, $3 its status.
judge()
{
	[ "$3" != 77 ] || { skipped "$1" "its compiler is not installed"; return; }
	said "$2" | head -n 30 >"$tap_log"
	# A build without objects proves nothing.
	[ "$3" = 0 ] && [ ! -s "$tap_log" ] &&
		[ -n "$(find "$2/obj" -name '*.o' 2>/dev/null | head -n 1)" ]
	result "$1" $?
}

# A planted warning must be found, or the test means nothing.
planted()
{
	local dir=$BUILD/warn-planted

	rm -rf "$dir"
	mkdir -p "$dir/tests/planted"
	echo 'int planted(void); int planted(void) { int unused; return 0; }' \
		>"$dir/tests/planted/planted.c"
	make -s BUILD="$dir" VPATH="$dir" "$dir/obj/tests/planted/planted.o" >"$tap_log" 2>&1
	[ -f "$dir/obj/tests/planted/planted.o" ] && said "$dir" | grep -q unused
	result "a planted warning is seen" $?
}

unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
judge gcc "$BUILD" 0
for name in clang arm64; do
	tests/builds/make.sh $name
	judge $name "$BUILD/$name" $?
done
if [ "${XSPROF_TIER:-quick}" = full ]; then
	make -j"$(nproc)" --no-print-directory BUILD="$BUILD/warn-O3" CC=gcc CFLAGS="-O3 -g" \
		user trace tools >"$BUILD/warn-O3.log" 2>&1
	judge "gcc -O3" "$BUILD/warn-O3" $?
fi
planted
finish
