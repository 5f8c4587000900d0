#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The asyncio task of each sample, with each installed Python: under the name that the program
# itself gives it, at its place in the stack; and programs without tasks. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/pythons.sh
. tests/viewers/packages.sh
. tests/python/start.sh

tasks=$here/tasks.py

# On a busy machine threads run too little: try again, longer.
sampled() # PYTHON KIND CHECK [FEW]
{
	local seconds

	for seconds in 2 4 8; do
		rm -f data
		timeout -k 10 60 "$xsprof" record -q --python=500 "${options[@]}" -o data -- \
			"$1" -W ignore "$tasks" "$2" $seconds >said 2>log && [ ! -s log ] &&
			"$dump" -q -f ndjson data >events 2>>log &&
			/usr/bin/python3 "$tasks" "$3" events ${4:+"$4"} <said >>log 2>&1 && return
	done
	return 1
}

mapfile -t all < <({
	pythons
	! package_python314 || echo "3.14 $python314"
} | while read -r version python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' && echo "$version $python"
done)
newest=${all[-1]#* }
options=()

for one in "${all[@]}"; do
	sampled "${one#* }" run check
	result "${one% *}: names of tasks, in two event loops, where tasks start within others" $?
	sampled "${one#* }" blocked check 50
	result "${one% *}: an event loop in a thread that the main thread waits for" $?
done
# The program's tracer is told of each function that runs, but of none of ours. They run in a
# garbage collection of the thread, as the main thread waits.
cat >traced.py <<'END'
import sys, threading, time
files = set()
def tracer(frame, event, arg):
    files.add(frame.f_code.co_filename)
    return tracer
def work():
    import asyncio
    async def main():
        end, kept = time.monotonic() + 1, []
        while time.monotonic() < end:
            kept.append([kept])
            await asyncio.sleep(0)
    asyncio.run(main())
threading.settrace(tracer)
threading.setprofile(tracer)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(__file__ in files, "<xsprof>" in files)
END
for one in "${all[@]}"; do
	"${one#* }" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue
	"$xsprof" record -q --python=500 -o data -- "${one#* }" -W ignore traced.py >said 2>log &&
		"$dump" -q -f ndjson data 2>>log | grep -q '"asyncio task: ' &&
		[ "$(cat said)" = "True False" ]
	result "${one% *}: a tracer of the program sees nothing of it" $?
done
sampled "$newest" forked check 50
result "in a forked child" $?
options=(--python-native)
sampled "$newest" run check
result "with functions of C between" $?
options=()

many() # SECONDS
{
	rm -f data
	"$xsprof" record -q --python=1000 -o data -- "$newest" -W ignore "$tasks" many "$1" \
		2>log && [ "$(grep -c '^xsprof: more than 1024 tasks of asyncio' log)" = 1 ] &&
		"$dump" -q -f ndjson data >events 2>>log &&
		/usr/bin/python3 "$tasks" check-many events >>log 2>&1
}
# Needs as many ticks as there are names.
many 6 || many 12 || many 24
result "more tasks than are named: it is said, and their samples have their functions" $?
"$xsprof" record -q --python=500 -o data -- "$newest" - 2>log <<-'END' && [ ! -s log ] &&
	import sys, time
	async def alone():
	    end = time.monotonic() + 0.01
	    while time.monotonic() < end:
	        pass
	end = time.monotonic() + 3
	while time.monotonic() < end:
	    try:
	        alone().send(None)
	    except StopIteration:
	        pass
	assert "_asyncio" not in sys.modules
	END
	"$dump" -q -f ndjson data >events 2>>log && ! grep -q 'asyncio task' events &&
	[ "$(grep -c '"how":"runs".*: alone"' events)" -gt 20 ]
result "coroutines without asyncio: nothing is imported, nothing said" $?

[ "$(uname -m)" = x86_64 ] && [ ! -e /dev/xsprof ] || {
	skipped "record -p" "x86-64 without the module only"
	finish
}
for one in "${all[@]}"; do
	"${one#* }" -W ignore "$tasks" run 5 >said &
	sleep 1.5
	timeout -k 1 30 "$xsprof" record -q --python=300 -p $! -d 2 -o data >out 2>log
	wait $! && "$dump" -q -f ndjson data >events 2>>log &&
		/usr/bin/python3 "$tasks" check events 50 <said >>log 2>&1
	result "${one% *}: record -p" $?
done
finish
