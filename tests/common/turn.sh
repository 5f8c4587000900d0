# SPDX-License-Identifier: GPL-2.0-only
#
# What a run of tier quick leaves to other commits, of tests that have parts. Sourced, by bash, in
# the top folder of the repository.

# turn_part N: which of N parts, 0 to N - 1, is this run's, by the commit; nothing where it has all
# of them, as with -k, in tier full and with the turn "all" (tests/run.sh sets XSPROF_TURN).
turn_part()
{
	local hash

	[ "${XSPROF_TURN:-all}" != all ] || return 0
	hash=$(git rev-parse HEAD 2>/dev/null) || hash=000000000000000000
	# Not the digits that choose the turn.
	echo $((16#${hash:12:6} % $1))
}
