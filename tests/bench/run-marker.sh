# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of markers: the cost of a call.
# Sourced by run.sh.

# ---- markers ----

# The programs of those figures, by the figures' ids.
declare -A quiet=([noclock_so]=noclock [noclock_inline]=inline [drop]=drop)
# Each round is a process: where its pages lie in memory is worth a tenth, and nobody's merit.
rounds=5
most_rounds=40

# A round of the programs of those ids, in turn.
quiet_round()
{
	local id

	for id in "$@"; do
		"$here/${quiet[$id]}" || { fail "${quiet[$id]}: failed"; return 1; }
	done
}

# Neighbours may stay for seconds: what has too few slices after all rounds gets more. What is
# enough is known from the controls alone, by those of all programs.
quiet_more()
{
	local round wanting

	for round in $(seq $((rounds + 1)) $most_rounds); do
		wanting=$(tests/bench/quiet.py "$BENCH_SLICES" --wanting) || return 1
		[ -n "$wanting" ] || return 0
		say "round $round of at most $most_rounds for" $wanting "($((SECONDS - began)) s)"
		sleep 0.5
		# shellcheck disable=SC2086
		quiet_round $wanting || return 1
	done
}

# The programs of markers with the clock, in turn: a ratio is the median of five processes, for
# where a process's pages lie is in it too.
called_markers()
{
	local p i id unit value ratios=()

	: >"$work/markers"
	for i in $(seq $rounds); do
		for p in marker marker-archive; do
			"$here/$p" >"$work/marker" || { fail "$p: failed"; return; }
			cat "$work/marker" >>"$work/markers"
		done
	done
	awk -F '\t' '!seen[$1]++ { print $1, $2 }' "$work/markers" |
	while read -r id unit; do
		# shellcheck disable=SC2046
		figure "$id" "$unit" \
			$(awk -F '\t' -v id="$id" '$1 == id { print $4 }' "$work/markers")
	done
	while read -r value; do
		ratios+=("$value")
	done < <(awk -F '\t' '$1 == "marker_ratio" { so = $4 }
		$1 == "archive_marker_ratio" { print $4 / so }' "$work/markers")
	figure archive_ratio ratio "${ratios[@]}"
	echo "on $cpu_model a marker costs, in units of the bare counter:" \
		"$(awk -F '\t' '$1 == "marker_ratio" { c = $4 } $1 == "inline_ratio" { i = $4 }
			END { printf("%.3f called, %.3f inline", c, i) }' "$raw")"
}

part_marker()
{
	local p

	rm -rf "$BENCH_SLICES"
	mkdir "$BENCH_SLICES" || exit 1
	for p in disabled misses threads; do
		"$here/$p" >>"$raw" || fail "$p: failed"
	done
	called_markers
	for _ in $(seq $rounds); do
		quiet_round "${!quiet[@]}" || break
	done
	quiet_more
	tests/bench/quiet.py "$BENCH_SLICES" >>"$raw" || fail "quiet.py: failed"
}
