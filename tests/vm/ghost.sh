#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ghost.sh LOG: exits with 0 if the kernel of this log died of a breakpoint that was not there.
#
# Switching a tracepoint or static key puts an int3 over an instruction for a moment. The kernel has
# all CPUs pass a barrier before it forgets the int3, so that none can meet it later. QEMU's
# translator, with several CPUs, sometimes still runs the int3 from a block that it translated
# meanwhile. The kernel then dies with "int3", at an address where its own dump of the code shows
# another byte. A real processor cannot do this, and a bug of a module would leave the byte there.
set -u
[ $# = 1 ] || { echo "usage: ghost.sh LOG" >&2; exit 2; }
# The first oops is the cause; it stopped at the byte before the one marked by <>.
exec awk '
	/Oops:|BUG:|general protection/ && !first++ { int3 = /int3: 0000 \[#1\]/ }
	/ int3: 0000 \[#1\]/ && !first++ { int3 = 1 }
	int3 && / Code: / && !seen++ {
		sub(/ *<.*/, "")
		ghost = $NF ~ /^[0-9a-f][0-9a-f]$/ && $NF != "cc"
	}
	END { exit !ghost }
' "$1"
