#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs py-spy and xsprof at once on one program: both must find the same functions on top, with
# about the same shares. Prints what a program loses to each. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
python_packages pyspy py-spy==0.4.1 || skip "$why"
. tests/python/start.sh

# On a busy machine py-spy reads the process before its execve() of Python, and gives up.
for _ in 1 2 3 4; do
	rm -f data
	"$xsprof" record -q --python=200 -o data -- "$venv/bin/py-spy" record -r 200 -f raw -F \
		-o spy -- python3 "$here/frames.py" shares 5 >log 2>&1
	rc=$?
	grep -q 'Failed to find python version' log || break
done
if [ $rc != 0 ] && grep -qi 'permission\|not permitted\|ptrace' log; then
	skip "py-spy may not read other processes: $(grep -i -m1 'permi\|ptrace' log)"
fi
result "both record it" $rc

"$dump" -q -f folded data >folded 2>>log && python3 - <<-'END' 2>>log
	import collections
	def tops(path, inner):
	    count = collections.Counter()
	    for line in open(path, encoding="utf-8"):
	        stack, n = line.rsplit(" ", 1)
	        if "frames.py" in stack and not stack.endswith("]"):
	            count[inner(stack.split(";")[-1])] += int(n)
	    total = sum(count.values())
	    return total, {f: n / total for f, n in count.items() if n > total * 0.05}
	spy = tops("spy", lambda text: text.split(" (")[0])
	ours = tops("folded", lambda text: text.rsplit(": ", 1)[1])
	print("# py-spy:", spy, "ours:", ours, file=__import__("sys").stderr)
	# Two shares of as many samples differ by more than that in one run of 10,000.
	error = 4 * (0.25 / spy[0] + 0.25 / ours[0]) ** 0.5
	assert min(spy[0], ours[0]) > 100, "too few"
	assert max(spy[1], key=spy[1].get) == max(ours[1], key=ours[1].get) == "heavy"
	for name in {"heavy", "light"}:
	    assert abs(spy[1][name] - ours[1][name]) < error + 0.05, (name, error)
	END
result "the same functions on top, with about the same shares" $?

python3 "$here/frames-cost.py" "$xsprof" "$venv/bin/py-spy" >cost 2>log
result "a program's CPU time with each of them, in turns" $?
cat cost
finish
