#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ghost.sh LOG: did the kernel of this log die of a breakpoint that was not there?
#
# A tracepoint or static key that is switched puts an int3 over an instruction for a moment. The
# kernel has all CPUs pass a barrier before it forgets that it did, so that none can meet the int3
# later. QEMU's translator, with several CPUs, now and then still runs it from a block made while
# it stood there; the kernel knows nothing of it then, and dies: "int3", at a place where its own
# dump of the code has another byte. On a processor that cannot be, and no bug of a module looks
# like it, which would leave the byte there. Exit status 0: it did.
set -u
[ $# = 1 ] || { echo "usage: ghost.sh LOG" >&2; exit 2; }
# The first oops is the cause; the byte before the one marked by <> is where it stopped.
exec awk '
	/Oops:|BUG:|general protection/ && !first++ { int3 = /int3: 0000 \[#1\]/ }
	/ int3: 0000 \[#1\]/ && !first++ { int3 = 1 }
	int3 && / Code: / && !seen++ {
		sub(/ *<.*/, "")
		ghost = $NF ~ /^[0-9a-f][0-9a-f]$/ && $NF != "cc"
	}
	END { exit !ghost }
' "$1"
