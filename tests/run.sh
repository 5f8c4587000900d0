#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The test runner: runs what tests/*/tests.list registers and counts the results.
#
# Usage: tests/run.sh [-c] [-j N] [-k REGEX] [-b BUILD] [-x N] [-t TURN] [-l] [quick|full]
#
# It starts the tests that last longest first (cost= in tests.list), so that all jobs have work
# until the end, and those marked alone when the others are over.
#
# Tests with turn=NAME in tests.list take turns: a run of tier quick has those of one NAME, which
# the commit's hash chooses, so that each NAME comes once in a while. It says which were not run.
#
# It builds nothing and judges nothing by itself: a test's exit status and its TAP lines
# do. How to register a test is in tests/README. The last line on stdout is
# "N passed, N failed, N skipped", alone; the exit status is 0 only when none failed.
set -u
cd "$(dirname "$0")/.." || exit 1

usage()
{
	sed -n 's/^# Usage: /usage: /p' "$0"
	cat <<-END
	  quick     tests of tier quick (default); full: of both tiers, with the full figures
	  -c        continue the last run, which was interrupted or failed: what passed in it is
	            counted and not run again
	  -j N      N tests at once, except those marked alone (default: the number of CPUs)
	  -k REGEX  only tests whose name, DIR/NAME, matches
	  -b BUILD  only tests that name this build by builds=
	  -x N      N times the timeouts
	  -t TURN   the turn, by name or number, or all; default XSPROF_TURN, else by the commit;
	            with -k or in tier full: all
	  -l        list them and run none
	END
}

jobs=$(nproc)
pattern=
wanted=
slower=1
list=
turn_asked=
continued=
while getopts cj:k:b:x:t:lh opt; do
	case $opt in
	c) continued=1 ;;
	j) jobs=$OPTARG ;;
	k) pattern=$OPTARG ;;
	b) wanted=$OPTARG ;;
	x) slower=$OPTARG ;;
	t) turn_asked=$OPTARG ;;
	l) list=1 ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
tier=${1:-quick}
case $tier:$# in
quick:[01]|full:[01]) ;;
*) usage >&2; exit 2 ;;
esac
case $slower in
''|*[!0-9]*|0) echo "run.sh: -x $slower: not a number" >&2; exit 2 ;;
esac
case $jobs in
''|*[!0-9]*|0) echo "run.sh: -j $jobs: not a number of jobs" >&2; exit 2 ;;
esac

BUILD=${BUILD:-build}
XSPROF_TIER=$tier
export BUILD XSPROF_TIER
# Elsewhere for a run within a run, which would else overwrite the outer one's results.
out=${XSPROF_CHECK_DIR:-$BUILD/check}
mkdir -p "$out" || exit 1
results=$out/results.tsv

# Its arguments as one line of a table.
row()
{
	local IFS=$'\t'

	echo "$*"
}

# The registered tests, one a line, tab separated:
# TIER NAME TIMEOUT ALONE NEEDS BUILDS COST TURN COMMAND
parse_lists()
{
	local file dir line n t name w timeout alone needs builds cost turn
	local -a words

	for file in tests/*/tests.list; do
		[ -e "$file" ] || continue
		dir=${file#tests/}
		dir=${dir%/tests.list}
		n=0
		while IFS= read -r line || [ -n "$line" ]; do
			n=$((n + 1))
			read -ra words <<<"$line"
			case ${words[0]:-} in
			''|'#'*) continue ;;
			esac
			if [ ${#words[@]} -lt 3 ]; then
				echo "run.sh: $file:$n: want: TIER NAME COMMAND [OPTION...]" >&2
				return 1
			fi
			t=${words[0]}
			name=$dir/${words[1]}
			timeout=120
			alone=-
			needs=-
			builds=-
			cost=1
			turn=-
			# Options stand last, so that the command may have words of any form.
			while w=${words[-1]}; do
				case $w in
				timeout=*) timeout=${w#*=} ;;
				needs=*) needs=${w#*=} ;;
				builds=*) builds=${w#*=} ;;
				cost=*) cost=${w#*=} ;;
				turn=*) turn=${w#*=} ;;
				alone) alone=alone ;;
				*) break ;;
				esac
				unset 'words[-1]'
			done
			case $t in
			quick|full) ;;
			*)
				echo "run.sh: $file:$n: $t: no such tier, quick and full are" >&2
				return 1 ;;
			esac
			if [ ${#words[@]} -lt 3 ] ||
			   [[ ! $timeout,$cost =~ ^[1-9][0-9]*,[1-9][0-9]*$ ]]; then
				echo "run.sh: $file:$n: no command, or a bad timeout or cost" >&2
				return 1
			fi
			row "$t" "$name" "$timeout" "$alone" "$needs" "$builds" "$cost" \
				"$turn" "${words[*]:2}"
		done <"$file"
	done
}

# What of a comma list is not there: Debian packages, or commands as @NAME.
lacking()
{
	local w missing=

	for w in ${1//,/ }; do
		case $w in
		-) ;;
		@*) command -v "${w#@}" >/dev/null || missing="$missing ${w#@}" ;;
		*) [ "$(dpkg-query -W -f='${db:Status-Status}' "$w" 2>/dev/null)" = installed ] ||
			missing="$missing $w" ;;
		esac
	done
	echo "${missing# }"
}

# $1 the log, $2 the exit status. Prints PASSED FAILED SKIPPED REASON. A program without
# TAP lines is one test. Under TAP every result line counts, plans are added up (a script
# may run several programs), a missing result is a failure, and so is a bad exit status
# that no result line accounts for, or a good one over a failed line.
verdict()
{
	awk -v rc="$2" -v timeout="$3" '
	/^1\.\.[0-9]+/ {
		tap = 1
		split($1, range, /\.\./)
		plan += range[2]
		if (range[2] == 0) {
			skip++; plan++; results++
			reason = $0
			sub(/^1\.\.0[ #]*([Ss][Kk][Ii][Pp])?[: ]*/, "", reason)
		}
		next
	}
	/^ok [0-9]+/ || /^not ok [0-9]+/ {
		results++
		if ($0 ~ /# *[Ss][Kk][Ii][Pp]/) {
			skip++
			reason = $0
			sub(/^.*# *[Ss][Kk][Ii][Pp][: ]*/, "", reason)
		} else if ($1 == "ok") {
			pass++
		} else {
			fail++
			if (failed == "")
				failed = $0
		}
		next
	}
	/[^ \t]/ { last = $0 }
	END {
		skipped = (rc == 77 || rc == 4)
		if (!tap) {
			pass = (rc == 0); skip = skipped; fail = !pass && !skip
			reason = skip ? last : ""
		} else {
			if (results < plan) {
				fail += plan - results
				failed = (plan - results) " of " plan " results are missing"
			} else if (results > plan) {
				fail++
				failed = "more results than planned"
			}
			if (rc != 0 && !skipped && fail == 0)
				fail++
		}
		if (fail) {
			reason = failed
			if (rc == 124 || rc == 137)
				reason = "timed out after " timeout " s"
			else if (rc != 0)
				reason = (reason == "" ? "" : reason "; ") "exit status " rc
		}
		gsub(/[\t\r]/, " ", reason)
		printf "%d\t%d\t%d\t%s\n", pass, fail, skip, reason
	}' "$1"
}

# What a log says of its failures, wherever that stands, and its end.
excerpt()	# LOG
{
	local lines

	lines=$(grep -E -B 5 -A 2 '^not ok|Expected .*\)$' "$1" | head -n 40)
	[ -z "$lines" ] || printf '%s\n...\n' "$lines"
	tail -n 25 "$1"
}

# Runs one test, shows it, and adds its line to the results.
run_one()
{
	local t=$1 name=$2 timeout=$(($3 * slower)) needs=$5 command=$9
	local log=$out/$name.log missing start pid rc secs cpu pass fail skip reason word extra
	local TIMEFORMAT='%U %S'

	mkdir -p "${log%/*}"
	missing=$(lacking "$needs")
	start=${EPOCHREALTIME/./}
	if [ -n "$missing" ]; then
		echo "needs $missing, not installed" >"$log"
		rc=77
	else
		# timeout leads a process group of its own and ends all of it when time is up or
		# when we are interrupted. In the background, so that a trap runs at once; the
		# shell ignores SIGINT there, which a test must not inherit.
		timeout -k 10 "$timeout" env --default-signal=INT,QUIT,PIPE bash -c "$command" \
			>"$log" 2>&1 </dev/null &
		pid=$!
		trap 'kill -TERM "$pid" 2>/dev/null; wait "$pid"; exit 130' INT TERM
		{ time wait "$pid"; } 2>"$log.cpu"
		rc=$?
	fi
	cpu=$(awk '{ cpu = $1 + $2 } END { printf "%.1f", cpu }' "$log.cpu" 2>/dev/null)
	rm -f "$log.cpu"
	secs=$(((${EPOCHREALTIME/./} - start) / 100000))
	secs=$((secs / 10)).$((secs % 10))
	IFS=$'\t' read -r pass fail skip reason < <(verdict "$log" "$rc" "$timeout")

	word=ok
	extra=
	if [ "$fail" -gt 0 ]; then
		word=FAIL
	elif [ "$pass" = 0 ]; then
		word=SKIP
	fi
	if [ $((pass + fail + skip)) -gt 1 ]; then
		extra=" $pass of $((pass + fail + skip))"
		if [ "$skip" -gt 0 ]; then
			extra="$extra, $skip skipped"
		fi
	fi
	# One printf per test: lines of tests that run at once do not mix.
	printf '%-4s %s (%s s)%s%s\n' "$word" "$name" "$secs" "$extra" "${reason:+: $reason}"
	if [ "$word" = FAIL ]; then
		excerpt "$log" | cut -c1-300 | sed 's/^/     | /'
		echo "     log: $log"
	fi
	row "$name" "$t" "$pass" "$fail" "$skip" "$secs" "$reason" "${cpu:-0}" >>"$results"
}

# The turn of this run: a name, or all. $1: what was asked for; the names follow.
choose_turn()
{
	local asked=$1 hash

	shift
	if [ -z "$asked" ]; then
		[ "$tier" = quick ] && [ -z "$pattern" ] || asked=all
	fi
	if [ -z "$asked" ]; then
		hash=$(git rev-parse HEAD 2>/dev/null) || hash=0
		asked=$((16#${hash:0:12} % $#))
	fi
	case " all $* " in
	*" $asked "*) echo "$asked"; return ;;
	esac
	if ! [[ $asked =~ ^[0-9]+$ ]] || [ "$asked" -ge $# ]; then
		echo "run.sh: turn $asked: there are $* (0 to $(($# - 1))), and all" >&2
		return 1
	fi
	shift "$asked"
	echo "$1"
}

tests=$(parse_lists) || exit 1
mapfile -t turns < <(cut -f1,8 <<<"$tests" | sed -n 's/^quick\t\([^-]\)/\1/p' | sort -u)
turn=all
if [ ${#turns[@]} -gt 0 ]; then
	turn=$(choose_turn "${turn_asked:-${XSPROF_TURN:-}}" "${turns[@]}") || exit 2
fi
# For tests that have parts of their own that take turns.
export XSPROF_TURN=$turn
chosen=()
others=()
while IFS= read -r line; do
	IFS=$'\t' read -r t name _ _ _ builds _ its_turn _ <<<"$line"
	[ "$tier" = full ] || [ "$t" = quick ] || continue
	[ -z "$wanted" ] || [[ ,$builds, = *,$wanted,* ]] || continue
	[ -z "$pattern" ] || [[ $name =~ $pattern ]] || continue
	case $turn:$its_turn in
	*:-|all:*|"$its_turn:$its_turn") chosen+=("$line") ;;
	*) others+=("$name") ;;
	esac
done < <(sort -s -t $'\t' -k7,7nr <<<"$tests")
if [ ${#others[@]} -gt 0 ]; then
	not_run="turn $turn of ${turns[*]}: ${#others[@]} not run: ${others[*]}"
else
	not_run=
fi

if [ ${#chosen[@]} = 0 ] || [ -z "${chosen[0]}" ]; then
	echo "run.sh: no test is registered${pattern:+ whose name matches $pattern}" >&2
	exit 1
fi
if [ -n "$list" ]; then
	printf '%s\n' "${chosen[@]}" ${not_run:+"# $not_run"}
	exit 0
fi
dup=$(printf '%s\n' "${chosen[@]}" | cut -f2 | sort | uniq -d)
if [ -n "$dup" ]; then
	echo "run.sh: registered twice:" $dup >&2
	exit 1
fi

# Results count together only if they are of the same sources.
sources=$tier:$(git rev-parse HEAD 2>/dev/null):$(git diff HEAD 2>/dev/null | cksum)
declare -A passed_before=()
if [ -n "$continued" ]; then
	if [ "$(cat "$out/sources" 2>/dev/null)" != "$sources" ]; then
		echo "run.sh: -c: the last run was of other sources or another tier" >&2
		exit 2
	fi
	kept=$(awk -F '\t' '$4 == 0 && $3 > 0' "$results")
	echo -n "${kept:+$kept$'\n'}" >"$results"
	while IFS=$'\t' read -r name _; do
		passed_before[$name]=1
	done <"$results"
	echo "continued: ${#passed_before[@]} programs passed before"
else
	: >"$results"
	echo "$sources" >"$out/sources"
fi
trap 'echo "run.sh: interrupted" >&2; kill -TERM $(jobs -p) 2>/dev/null; wait; exit 130' INT TERM
begin=$SECONDS

running=0
for line in "${chosen[@]}"; do
	IFS=$'\t' read -r -a f <<<"$line"
	[ "$jobs" -gt 1 ] && [ "${f[3]}" != alone ] || continue
	[ -z "${passed_before[${f[1]}]:-}" ] || continue
	if [ "$running" -ge "$jobs" ]; then
		wait -n
		running=$((running - 1))
	fi
	run_one "${f[@]}" &
	running=$((running + 1))
done
wait
for line in "${chosen[@]}"; do
	IFS=$'\t' read -r -a f <<<"$line"
	[ "$jobs" = 1 ] || [ "${f[3]}" = alone ] || continue
	[ -z "${passed_before[${f[1]}]:-}" ] || continue
	run_one "${f[@]}"
done

printf '\nthe slowest (seconds, and of all CPUs):\n'
sort -t $'\t' -k6,6nr "$results" | head -n 10 |
	awk -F '\t' '{ printf "%8.1f %8.1f  %s\n", $6, $8, $1 }'
awk -F '\t' '$5 > 0 { printf "skipped: %s: %s\n", $1, $7 }' "$results" | sort
awk -F '\t' '$4 > 0 { printf "FAILED:  %s: %s\n", $1, $7 }' "$results" | sort
awk -F '\t' -v secs=$((SECONDS - begin)) '
	{ n[$2]++; p[$2] += $3; f[$2] += $4; s[$2] += $5; t[$2] += $6 }
	END {
		for (i in n)
			printf "tier %s: %d programs, %d passed, %d failed, %d skipped (%d s)\n",
				i, n[i], p[i], f[i], s[i], t[i]
		printf "%d s in all; logs in '"$out"'/\n", secs
	}' "$results"
[ -z "$not_run" ] || echo "$not_run"
read -r passed failed skipped < <(awk -F '\t' '{ p += $3; f += $4; s += $5 }
	END { printf "%d %d %d\n", p, f, s }' "$results")
# A runner that lost a result must not call that success.
if [ "$(wc -l <"$results")" != ${#chosen[@]} ]; then
	echo "run.sh: $(wc -l <"$results") results of ${#chosen[@]} tests" >&2
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
