#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dmesg-gate.sh FILE...: searches kernel logs for complaints. Prints each with its context. Exits
# with 1 if there is one, 0 if not, and 2 if a log cannot be read or is empty.
#
# A complaint is what the kernel prints when it has found a bug in itself: WARN, BUG, Oops, and the
# reports of KASAN, KCSAN, lockdep, RCU, kmemleak, UBSAN, debug objects, the allocators, the
# watchdogs. The patterns are the kernel's texts, at their place in a line.
set -u -o pipefail
[ $# -ge 1 ] || { echo "usage: dmesg-gate.sh FILE..." >&2; exit 2; }

words=(
	'WARNING: CPU:'			# WARN()
	'WARNING: [a-z]'		# WARN() since 6.19, and lockdep's headings
	'BUG: '				# BUG, KASAN, KCSAN, sleeping in atomic, soft lockup
	'kernel BUG at'
	'Oops: '
	'Internal error: '
	'general protection fault[,:]'	# of the kernel; "traps: x[1] ..." is a program's
	'Unable to handle kernel'
	'Kernel panic'
	'Call Trace:'
	'-+\[ cut here \]-+'
	'UBSAN: '
	'INFO: task .* blocked for'
	'INFO: rcu_'
	'rcu: INFO:'
	'INFO: trying to register non-static key'
	'possible circular locking dependency'
	'possible recursive locking'
	'inconsistent lock state'
	'possible irq lock inversion'
	'suspicious RCU usage'
	'bad unlock balance'
	'lock held when returning to user space'
	'held lock freed'
	'kmemleak: [0-9]+ new suspected memory leak'
	'ODEBUG: '
	'DEBUG_LOCKS_WARN_ON'
	'list_(add|del) corruption'
	'refcount_t: '
	'Bad page (state|map)'
	'Bad rss-counter'
	'pagealloc: (memory|single bit) corruption'
	'page allocation failure'
	'\] Out of memory: Killed'
	'usercopy: Kernel memory (exposure|overwrite) attempt'
	'detected buffer overflow'
	'stack-protector: '
	'Padding overwritten|Redzone overwritten|Poison overwritten|Object already free'
	'watchdog: BUG'
	'workqueue lockup'
	'segfault at .* in xsprof'
	'klog: the kernel overwrote messages'	# their text is unknown: klog.c
)
# A KCSAN report counts only if one of the accesses is in the module or in a function that it calls:
# the kernel has races of its own, for example in its page allocator.
#
# Three known races have the module in a trace all the same. A worker, or the caller that queues
# it, reads the flags of a work while any other caller may set the "queued" bit by a marked access.
# Using a capability writes to the task's own flags, which interrupts on that CPU read. And debug
# objects keep statistics without a lock: both accesses are in functions of theirs.
#
# A stack trace that the test asked for is no complaint: an injected failure, a process killed at
# its cgroup's limit.
known=(
	'FAULT_INJECTION: forcing a failure'
	'invoked oom-killer'
)
pattern=$(printf '|%s' "${words[@]}")
fine=$(printf '|%s' "${known[@]}")
found=0
for log; do
	if ! [ -s "$log" ]; then
		echo "dmesg-gate.sh: $log: no kernel log there" >&2
		exit 2
	fi
	awk '
		# Between two lines of =: a report of KCSAN, without the time of each line
		function flush(  i) {
			if (!race || (ours && !(marked && takes) && !(ours == 1 && uses) &&
				      counts != 2))
				for (i = 1; i <= n; i++)
					print held[i]
			n = race = ours = marked = takes = uses = counts = 0
		}
		{ held[++n] = $0 }
		/BUG: KCSAN: / { race = 1 }
		race && / of [0-9]+ bytes by / {
			near = 3
			plain_read = / read to /
			capable = / write to .* by task /
			if (/ read-write \(marked\) to /)
				marked = 1
			next
		}
		race && near == 3 && plain_read &&
		/ (process_one_work|worker_thread|__queue_work)\+/ {
			takes = 1
		}
		race && near == 3 && / debug_(object_[a-z_]+|check_no_obj_freed)\+/ { counts++ }
		race && near == 3 && capable && / ns_capable_noaudit\+/ { uses = 1 }
		# Of each access once
		race && near > 0 && near-- && /\[(xsprof|canary)\]/ { ours++; near = 0 }
		/==============================/ && n > 1 { flush() }
		!race && n > 1 { flush() }
		END { flush() }' "$log" |
	awk -v log_name="${log##*/}" -v pattern="(${pattern:1})" -v fine="(${fine:1})" '
		# The stack trace that belongs to a failure asked for is passed over.
		$0 ~ fine { asked = 60 }
		asked > 0 { asked--; if ($0 ~ /<\/TASK>/) asked = 0 }
		{ line[NR] = $0 }
		$0 ~ pattern && !(asked && $0 ~ /Call Trace:/) {
			if (!bad)
				print "the kernel complains (" log_name "):"
			bad++
			for (i = NR - 2; i < NR; i++)
				if (i > shown && i > 0)
					print "    " line[i]
			shown = NR + 60
		}
		NR <= shown && total < 400 { print "    " $0; total++ }
		END { exit bad > 0 }' || found=1
done
exit $found
