#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# <xsprof/xsprof.h> in strict C11 and C++17, and newer, with each installed compiler: no warning
# with -pedantic and -Wshadow; and code that must not compile, with a message that says what to do.
# TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log

cat >"$dir/user.c" <<-'END'
	#include <xsprof/collector.h>
	#include <xsprof/xsprof.h>

	static struct xsprof_collector collector;
	static struct xsprof_miss miss;

	XSPROF_COLLECTOR_ENTRY(version)
	{
		const int32_t list[] = { 1, 2 };
		struct xsprof_kv kv = xsprof_i32s(1, list, 2);

		xsprof_collector_missed(&miss, version);
		return kv.len == XSPROF_CORRELATION(3) ? &collector : NULL;
	}

	int user(int x);
	int user(int x)
	{
		xsprof_name_t name = XSPROF_NAME("user");
		XSPROF_SCOPE("scope" " of two");
		XSPROF_SCOPE_NAMED(name);

		xsprof_begin(name);
		XSPROF_BEGIN("x");
		XSPROF_END();
		XSPROF_INSTANT("y");
		XSPROF_BEGIN_ARGS("z", xsprof_i64(name, x), xsprof_str(name, "text"));
		xsprof_end();
		XSPROF_INSTANT_ARGS("z", xsprof_f64(name, 1.0));
		xsprof_counter(name, x);
		xsprof_complete(name, xsprof_now());
		return XSPROF_NAME_IN(0, "in") != 0;
	}
END
cp "$dir/user.c" "$dir/user.cc"

# Each of these keeps its name at the call site, so all texts would get the first one's name.
for use in 'XSPROF_SCOPE(text[i])' 'XSPROF_BEGIN(text[i])' 'XSPROF_INSTANT(text[i])' \
		'(void)XSPROF_NAME(text[i])' '(void)XSPROF_NAME_IN(0, text[i])' \
		'(void)XSPROF_NAME("text" + i)' 'XSPROF_SCOPE(i ? "a" : "b")' \
		'XSPROF_BEGIN_ARGS(text[i], xsprof_i64(1, i))' \
		'XSPROF_INSTANT_ARGS(text[i], xsprof_i64(1, i))'; do
	cat <<-END
		#include <xsprof/xsprof.h>
		void use(const char *const *text, int i);
		void use(const char *const *text, int i)
		{
			$use;
		}
	END
done >"$dir/uses"
split -l 6 --additional-suffix=.c "$dir/uses" "$dir/use-"

try() # COMPILER FILE FLAGS...
{
	local cc=$1 file=$2

	shift 2
	command -v "$cc" >/dev/null || { skipped "$cc $*" "no $cc"; return; }
	"$cc" -O2 "$@" -Wall -Wextra -Wshadow -pedantic -Werror -Ikmod/uapi -Ilib/include -c \
		-o "$dir/user.o" "$dir/$file" 2>"$dir/log"
	result "$cc $*" $?
}

for std in c11 gnu11 c17 c2x; do
	try gcc user.c -std=$std
	try clang user.c -std=$std
done
for std in c++17 gnu++17 c++20; do
	try g++ user.cc -std=$std
	try clang++ user.cc -std=$std
done
# With the sequences in the program's own code: with and without optimization, also for a library.
for flags in '' -O0 -fPIC -fno-pie; do
	flags="-DXSPROF_INLINE $flags"
	# shellcheck disable=SC2086 # split into words on purpose
	for cc in gcc clang; do
		try $cc user.c -std=c11 $flags
		try ${cc/gcc/g}++ user.cc -std=c++17 $flags
	done
done
refuse() # COMPILER LANGUAGE FLAGS...
{
	local cc=$1 lang=$2 file wrong= name

	shift 2
	name="$cc refuses names that are no literals $*"
	command -v "$cc" >/dev/null || { skipped "$name" "no $cc"; return; }
	for file in "$dir"/use-*.c; do
		if "$cc" -x "$lang" "$@" -Ikmod/uapi -Ilib/include -c -o "$dir/use.o" "$file" \
				2>"$dir/log"; then
			wrong+="compiles: $(sed -n 5p "$file")"$'\n'
		elif ! grep -q 'no literal? XSPROF_SCOPE_NAMED(xsprof_name(' "$dir/log"; then
			wrong+="says no way out: $(sed -n 5p "$file")"$'\n'
		fi
	done
	correct "$name" "${wrong%$'\n'}"
}

for cc in gcc clang; do
	refuse $cc c -std=c11
	refuse ${cc/gcc/g}++ c++ -std=c++17 -DXSPROF_INLINE
done
finish
