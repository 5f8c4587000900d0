#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of a marker that is not recorded: the compiled code loads one word and has one branch,
# which is not taken. Checks the x86-64 code of each installed compiler. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
[ "$(uname -m)" = x86_64 ] || skip "the code of x86-64 alone is read"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log

cat >"$dir/user.c" <<-'END'
	#include <xsprof/profiler.h>

	void one_instant(xsprof_name_t name) { xsprof_instant(name); }
	void one_literal(void) { XSPROF_INSTANT("literal"); }
	void one_counter(xsprof_name_t name, int64_t value) { xsprof_counter(name, value); }
	void one_end(void) { XSPROF_END(); }
	void one_args(xsprof_name_t name) { XSPROF_INSTANT_ARGS("args", xsprof_i64(name, 1)); }
	void one_op(const struct xsprof_op *op) { xsprof_op_begin(op); }
	void one_scope(void) { XSPROF_SCOPE("scope"); __asm__ volatile("nop"); }
END
# Must fail: a marker that always calls, and one that tests twice.
cat >"$dir/bad.c" <<-'END'
	#include <xsprof/xsprof.h>

	void one_call(xsprof_name_t name) { xsprof_emit_instant(name, 0); xsprof_instant(name); }
	void one_twice(xsprof_name_t name) { xsprof_instant(name); xsprof_instant(name); }
END

# path OBJECT: prints, per function, its name and its loads of the library's words, branches and
# calls up to the first return
path()		# OBJECT
{
	objdump -dr --no-show-raw-insn "$1" | awk '
		/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); on = 1; l = b = c = 0 }
		!on { next }
		/R_X86_64_.*xsprof_(ctl_page|op_wanted)/ { l++ }
		$2 ~ /^call/ { c++ }
		$2 ~ /^j/ { b++ }
		$2 ~ /^ret/ { print name, l, b, c; on = 0 }'
}

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	$cc -O2 -Ilib/include -Ikmod/uapi -c -o "$dir/user.o" "$dir/user.c" 2>"$dir/log" &&
		$cc -O2 -Ilib/include -Ikmod/uapi -c -o "$dir/bad.o" "$dir/bad.c" 2>>"$dir/log" &&
		path "$dir/user.o" >>"$dir/log" &&
		[ "$(grep -c '^one_.* 1 1 0$' "$dir/log")" = 7 ] &&
		[ "$(path "$dir/bad.o" | grep -c '^one_.* 1 1 0$')" = 0 ]
	result "$cc: a marker that is not recorded is one load and one branch" $?
done
finish
