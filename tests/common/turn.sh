# SPDX-License-Identifier: GPL-2.0-only
#
# Tests with parts: a run of tier quick runs only some, chosen by the commit. Sourced, by bash, in
# the top folder of the repository.

# turn_part N: prints which of N parts, 0 to N - 1, this run has, by the commit; prints nothing if
# it has all, as with -k, in tier full and with the turn "all" (tests/run.sh sets XSPROF_TURN).
turn_part()
{
	local hash

	[ "${XSPROF_TURN:-all}" != all ] || return 0
	hash=$(git rev-parse HEAD 2>/dev/null) || hash=000000000000000000
	# Other digits than those that choose the turn.
	echo $((16#${hash:12:6} % $1))
}
