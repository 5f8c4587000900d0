#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pidns.sh COMMAND...: a test in a pid namespace of its own, where the kernel's tracer knows all
# threads by other numbers than programs do, as in a container.
set -u
if ! why=$(unshare --pid --fork --mount-proc true 2>&1); then
	echo "1..0 # SKIP no pid namespace can be made here: $why"
	exit 77
fi
exec unshare --pid --fork --kill-child --mount-proc "$@"
