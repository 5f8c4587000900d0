# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the module for TAP programs that need it in a guest. Sourced.

# module_tap KERNEL: sets ko to the module for KERNEL. Without one it ends the program, with a plan:
# skipped if this machine cannot build it, failed if it should.
module_tap()
{
	local log
	log=$(mktemp) || exit 1
	ko=$(tests/vm/module.sh "$1" 2>"$log" | tail -n 1)
	if [ ! -s "$ko" ]; then
		tail -n 20 "$log" | sed 's/^/# /'
		rm -f "$log"
		case $ko in
		*SKIP*) echo "1..0 # SKIP ${ko#*SKIP }"; exit 77 ;;
		esac
		echo "1..1"
		echo "not ok 1 xsprof.ko is built for $1"
		exit 1
	fi
	rm -f "$log"
}
