#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The instruction with which a signal's handler leaves a virtual machine is in the code that each
# installed compiler makes: its answer is not used, so a compiler could leave it out. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
[ "$(uname -m)" = x86_64 ] || skip "the code of x86-64 alone has it"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log

# leaves SOURCE: is the instruction in python_vm_exit(), compiled by $cc?
leaves()
{
	"$cc" -std=gnu11 -D_GNU_SOURCE -O2 -Ilib -Ilib/include -Ikmod/uapi -c -o "$dir/o" "$1" \
		>>"$dir/log" 2>&1 || return 2
	objdump -d --no-show-raw-insn "$dir/o" | awk '
		/^[0-9a-f]+ <.*>:$/ { on = /<python_vm_exit>/ }
		on && /\tcpuid/ { n++ }
		END { exit n != 1 }'
}

for cc in gcc clang; do
	command -v $cc >/dev/null || {
		skipped "$cc" "not installed"
		continue
	}
	: >"$dir/log"
	leaves lib/collect/python/vm-exit.c
	result "$cc: a handler's end leaves the virtual machine" $?
	sed 's/__asm__ volatile/__asm__/' lib/collect/python/vm-exit.c >"$dir/bad.c"
	cmp -s "$dir/bad.c" lib/collect/python/vm-exit.c || leaves "$dir/bad.c"
	[ $? = 1 ]
	result "$cc: an instruction that may be left out is found" $?
done
finish
