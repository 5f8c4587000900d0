#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whatever `xsprof report --json` prints is JSON, with any limit, and the manual has a word for
# each of its keys. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

captures="all async clocks hung idle kernel left-out lock passes steps switched usage waits"
for kind in $captures; do
	"$make_capture" "$kind" "$dir/$kind.data" || exit 1
done

# $1 limit, then options: those captures have at least one answer, and each is JSON.
answers()
{
	local limit=$1

	shift
	python3 - "$xsprof" "$dir" "$captures" "$limit" "$@" 2>"$dir/log" <<-'END'
		import json, subprocess, sys
		tool, dir, captures, limit, *options = sys.argv[1:]
		keys, answers = set(), 0
		def walk(value):
		    if isinstance(value, dict):
		        keys.update(value)
		    for inner in value.values() if isinstance(value, dict) else value:
		        if isinstance(inner, (dict, list)):
		            walk(inner)
		def refuse(word):
		    raise ValueError(word)
		for kind in captures.split():
		    # 1: the capture has nothing of that kind.
		    command = [tool, "report", "-q", "--json", "--allow-lost", "-n", limit]
		    got = subprocess.run([*command, *options, f"{dir}/{kind}.data"],
		                         capture_output=True)
		    assert got.returncode in (0, 1), (kind, got)
		    if got.returncode:
		        continue
		    try:
		        walk(json.loads(got.stdout, parse_constant=refuse))
		    except ValueError as error:
		        sys.exit(f"{kind}: {error}")
		    answers += 1
		assert answers, "no capture has an answer"
		page = open("Documentation/man/xsprof-report.1").read().replace("\\-", "-")
		page = page[page.index(".SH JSON\n"):page.index(".SH ENVIRONMENT\n")]
		words = set(page.replace(",", " ").replace(")", " ").replace("(", " ").split())
		assert limit == "0" or keys <= words, sorted(keys - words)
	END
}

for options in "" "--by line" "--by module,name" "--by shape" "--by thread,process,category" \
	       "--by function" --open "--why *" --gaps --gil --gpu --steps "--steps=*"; do
	for limit in 0 1000; do
		# A pattern is no list of files here.
		set -f
		answers $limit $options
		result "--json -n $limit $options" $?
		set +f
	done
done
finish
