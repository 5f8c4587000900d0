#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands that the documents show: each option is one that its verb has, and the examples of
# the tool's pages run, with stand-ins for the programs that they record. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}") || exit 1
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-commands.XXXXXX") || exit 1
# Examples without a process id are for all recordings: of others there are none in here.
XSPROF_SHM_DIR=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
export XSPROF_SHM_DIR
trap 'rm -rf "$dir" "$XSPROF_SHM_DIR"' EXIT
. tests/common/tap.sh
tap_log=$dir/log
here=$PWD/tests/install
docs=(README.md Documentation/*.rst Documentation/man/xsprof*.[14] Documentation/man/*.3)

# ---- options ----

python3 "$here/commands.py" "$BUILD/bin/xsprof" "${docs[@]}" >"$dir/out" 2>"$dir/log"
status=$?
cat "$dir/out" >>"$dir/log"
result "$(sed -n '$p' "$dir/out")" $status
# What it would say of a document that is wrong.
printf '%s\n' 'With ``xsprof report --by' 'module --sorted`` and so on::' '' \
	'  $ sudo xsprof record -e sched -X --irk -- ls --all   # a comment --not' \
	'  $ xsprof reprot' '' >"$dir/wrong.rst"
! python3 "$here/commands.py" "$BUILD/bin/xsprof" "$dir/wrong.rst" >"$dir/out" 2>"$dir/log" &&
	diff -u - <(grep -oE '(report|record|reprot): .*' "$dir/out") >>"$dir/log" <<-'END'
		report: no option --sorted
		record: no option -X
		record: no option --irk
		reprot: no such verb
	END
result "wrong ones are found" $?

# ---- the examples of section 1 ----

mkdir "$dir/bin" "$dir/work"
printf '#!/bin/sh\nexec "%s" 100 1 0\n' "$BUILD/tests/record/marker" >"$dir/bin/python3"
printf '#!/bin/sh\nexec cat\n' >"$dir/bin/less"
chmod +x "$dir/bin/python3" "$dir/bin/less"
cp "$dir/bin/less" "$dir/bin/jq"
cp "$dir/bin/python3" "$dir/bin/torchrun"
cp "$dir/bin/python3" "$dir/bin/mpirun"
PATH=$dir/bin:$BUILD/bin:$PATH

examples() # $1 page
{
	sed '1,/^\.SH EXAMPLE/d; /^\.SH/,$d' "Documentation/man/xsprof-$1.1" |
		sed -n '/^\.nf/,/^\.fi/{/^\.[nf]/!p}' |
		sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g'
}

# Return: each ended, with a status that is not that of wrong usage. $1 page, $2 statuses allowed
run_examples()
{
	local line n=0

	while read -r line; do
		n=$((n + 1))
		echo "\$ $line"
		(cd "$dir/work" && timeout 60 bash -c "set -o pipefail; $line") </dev/null \
			>"$dir/shown" 2>"$dir/err"
		[[ " $2 " == *" $? "* ]] && ! grep "^xsprof[a-z-]*: see '" "$dir/err" && continue
		tail -n 5 "$dir/shown" "$dir/err"
		return 1
	done < <(examples "$1")
	echo "$n examples"
	[ $n -gt 0 ]
}

run_examples record 0 >"$dir/log" 2>&1 && [ -s "$dir/work/step.data" ]
result "xsprof-record(1): its examples record" $?
"$BUILD/tests/tools/make-capture" all "$dir/work/xsprof.data"
# 1: no range of that name, or nothing found by grep; 4: the capture has losses.
for page in report dump info; do
	run_examples $page "0 1 4" >"$dir/log" 2>&1
	result "xsprof-$page(1): its examples run" $?
done
# 1: no such process, none that is recorded.
for page in snapshot recover enable; do
	run_examples $page "0 1" >"$dir/log" 2>&1
	result "xsprof-$page(1): its examples run" $?
done
finish
