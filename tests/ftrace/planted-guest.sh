# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest, in its shell (busybox): records each of the programs that are late, and prints
# --why's answers as text and as JSON. Usage: planted-guest.sh WHAT...
for what in "$@"; do
	echo "== $what"
	# Losses of the tracer prove nothing: try again with larger buffers.
	for size in 8M 32M 96M; do
		./xsprof record -e sched --irq --syscalls --faults --trace-buffer $size \
			-o p.data -- ./planted "$what" >out 2>err
		rc=$?
		[ $rc = 77 ] && break
		./xsprof report -q --json p.data >json 2>>err
		grep -q '"losses":0,' json && break
	done
	if [ $rc = 77 ]; then
		echo "skip: $(tail -n 1 out)"
		continue
	fi
	[ $rc = 0 ] || cat out
	grep -q '^xsprof: rings: /dev/xsprof' err && echo "rings: kernel"
	sed 's/^/# /' err
	ask="--why op"
	[ "$what" = gap ] && ask=--gaps
	# shellcheck disable=SC2086
	./xsprof report $ask p.data 2>&1
	# shellcheck disable=SC2086
	./xsprof report -q $ask --json p.data
	rm -f p.data
done
echo "== end"
