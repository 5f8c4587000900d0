#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# report --gpu: why a device was idle, and which copies their calls waited for; info: the errors of
# clocks. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

check() # NAME PYTHON [OPTION...]: with the report's JSON as @report
{
	"$xsprof" report --gpu --json "${@:3}" "$dir/idle.data" >"$dir/out" 2>"$dir/log" &&
		python3 -c "
import json, sys
report = json.load(open(sys.argv[1]))
device = report['devices'][0]
idle = {(r['why'], r.get('call') or r.get('range'), r.get('cause')): (r['ns'] // 1000, r['count'])
        for r in device['idle']}
$2" "$dir/out" >>"$dir/log" 2>&1
	result "$1" $?
}

"$make_capture" idle "$dir/idle.data" || exit 1
check "why a device was idle: each nanosecond once, and what is not known" "
want = {('launched', None, None): (35, 2), ('call', 'cudaStreamSynchronize', None): (10, 1),
        ('range', 'aten::item', None): (9, 1), ('off_cpu', 'aten::item', 'blocked'): (5, 1),
        ('no_range', None, None): (1, 1), ('unknown', None, None): (20, 1),
        ('unrecorded', None, None): (10, 1)}
assert idle == want, idle
assert device['idle_ns'] == 90000 == sum(r['ns'] for r in device['idle']), device"
check "in a window: of the idle times that are in it" "
assert idle == {('unknown', None, None): (20, 1), ('launched', None, None): (30, 1)}, idle" \
	--from 0.000062 --to 0.000141
check "of some names alone it is not known when a device was idle" \
	"assert device['idle'] == [], device" --name 'kernel'
check "copies that their calls waited for" "
copies = {(c['copy'], c['call']): (c['count'], c['blocked'], c['in_calls_ns'])
          for c in report['copies']}
assert copies == {('Memcpy HtoD (Pageable -> Device)', 'cudaMemcpyAsync'): (1, 1, 17000),
                  ('Memcpy HtoD (Pinned -> Device)', 'cudaMemcpyAsync'): (1, 0, 0)}, copies"
"$xsprof" report --gpu "$dir/idle.data" >"$dir/log" 2>&1 &&
	grep -q '^#   idle for 90.000 us:$' "$dir/log" &&
	grep -q '5.000 us       1 x  nothing launched: the host was off the CPU (blocked) in aten' \
		"$dir/log" &&
	grep -q 'unknown: the call that launched the next activity is unknown$' "$dir/log" &&
	grep -q '^ *1 *1 .* Memcpy HtoD (Pageable -> Device), by cudaMemcpyAsync$' "$dir/log" &&
	! grep -q '(Pinned -> Device), by' "$dir/log"
result "the same as text" $?

"$make_capture" clocks "$dir/clocks.data" || exit 1
"$xsprof" info "$dir/clocks.data" >"$dir/log" 2>&1 &&
	grep -q '^clocks  *markers and device 64 (process 100) up to 50.000 us apart: ' \
		"$dir/log" &&
	grep -q '^clocks  *markers and device 65 (process 100) at most 250 ns apart$' "$dir/log" &&
	[ "$(grep -c '^clocks' "$dir/log")" = 2 ] &&
	"$xsprof" info --json "$dir/clocks.data" 2>>"$dir/log" | python3 -c '
import json, sys
clocks = [(c["device"], c["last_error_ns"], c["worst_error_ns"], c["far"])
          for c in json.load(sys.stdin)["device_clocks"]]
assert clocks == [(64, 400, 50000, True), (65, 250, 250, False)], clocks' 2>>"$dir/log"
result "info: clocks of devices, and those that are far from the markers" $?
finish
