#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples of the manual's section 3 are whole programs: they compile without a warning,
# the one with markers is recorded, and the one that reads finds what it recorded. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}") || exit 1
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-examples.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/common/tap.sh
tap_log=$dir/log

# $1 page, $2 library: its example as C, built; with the compiler's words that follow.
build()
{
	local page=$1 lib=$2

	shift 2
	sed '1,/^\.SH EXAMPLE/d' "Documentation/man/$page.3" |
		sed -n '/^\.EX/,/^\.EE/{/^\.E[XE]/!p}' |
		sed -e 's/\\e/\\/g' -e 's/\\-/-/g' >"$dir/$page.c"
	grep -qE 'int main|COLLECTOR_ENTRY' "$dir/$page.c" ||
		{ echo "no example in $page.3" >"$dir/log"; return 1; }
	gcc -std=gnu11 -Wall -Wextra -Werror -Ikmod/uapi -Ilib/include "$@" -o "$dir/$page" \
		"$dir/$page.c" "$BUILD/lib/$lib.so" -Wl,-rpath,"$BUILD/lib" >"$dir/log" 2>&1
}

echo "1..8"
build libxsprof-user libxsprof-user
result "the example of libxsprof-user.3 compiles" $?
build libxsprof-trace libxsprof-trace
result "the example of libxsprof-trace.3 compiles" $?
build libxsprof-collector libxsprof-user -shared -fPIC
result "the example of libxsprof-collector.3 compiles" $?
[ "$tap_failed" = 0 ] || exit 1

"$dir/libxsprof-user" >"$dir/alone" 2>"$dir/log" && [ ! -s "$dir/log" ]
result "it runs unrecorded and says nothing of it" $?
"$BUILD/bin/xsprof" record -o "$dir/x.data" -- "$dir/libxsprof-user" \
	>"$dir/recorded" 2>"$dir/log" && cmp -s "$dir/alone" "$dir/recorded"
result "its output is the same when it is recorded" $?
# Ten steps of two ranges each; no instants.
{
	"$dir/libxsprof-trace" "$dir/x.data"
	"$BUILD/bin/xsprof-dump" -i "$dir/x.data" -f ndjson
} >"$dir/log" 2>&1
grep -qx '0 instants' "$dir/log" && [ "$(grep -c '"iteration"' "$dir/log")" -ge 10 ]
result "the reader finds what was recorded" $?

# A program that has nothing to do with it, and that is over at once.
{
	XSPROF_COLLECTORS=$dir/libxsprof-collector "$BUILD/bin/xsprof" record -o "$dir/y.data" -- \
		true && "$BUILD/bin/xsprof-dump" -i "$dir/y.data"
} >"$dir/log" 2>&1
grep -q 'load of a device value=' "$dir/log"
result "the collector is in a program that is not linked with xsprof" $?

# The loader takes a program's DT_RUNPATH for the program's own libraries only.
cat >"$dir/session.c" <<'END'
#include <xsprof/profiler.h>
int main(void)
{
	struct xsprof_profiler_config config = { .size = sizeof(config),
						 .state = XSPROF_PROFILER_CPU };
	struct xsprof_result *result = 0;
	int err = xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0);

	return err || xsprof_disable_profiler(&result) || !result;
}
END
gcc -Wall -Werror -Ikmod/uapi -Ilib/include -o "$dir/session" \
	"$dir/session.c" "$BUILD/lib/libxsprof-user.so" -Wl,-rpath,"$BUILD/lib",--enable-new-dtags \
	>"$dir/log" 2>&1 && env -u LD_LIBRARY_PATH "$dir/session" >"$dir/log" 2>&1
result "a session's result, by a library that only its neighbour finds" $?
exit "$tap_failed"
