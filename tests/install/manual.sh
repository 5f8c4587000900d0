#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The manual and the tool tell the same: each long option in a verb's --help has its paragraph
# in the verb's page, and no page tells of an option that the verb does not know; bash
# completion offers the verbs and each verb's options. And each variable of the environment that
# the sources name is in a document. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
xsprof=$BUILD/bin/xsprof
verbs="record report dump info snapshot ctl enable disable list recover"
. tests/common/tap.sh

# Options are where they are told, not where a sentence mentions them.
told_by_help() { "$xsprof" "$1" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE '\--[a-z-]+'; }
told_by_page()
{
	local page=xsprof-$1.1

	# One page of two verbs: the other's file only names it.
	[ "$1" != disable ] || page=xsprof-enable.1
	sed 's/\\-/-/g' "Documentation/man/$page" | grep -A 1 '^\.TP' | grep -oE '\--[a-z-]+'
}

# One line, whichever way it is asked for: the program's name and its version.
same_version() # a program, and a verb of it
{
	local v

	for v in --version -V; do
		"$@" $v 2>&1 | grep -qx "${1##*/} [0-9][0-9.]*" && [ "$("$@" $v | wc -l)" = 1 ] &&
			"$@" $v >/dev/null 2>&1 || echo "${*##*/} $v"
	done
}

complete_words()
{
	bash -c '
		. tools/completion/xsprof
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_xsprof
		printf "%s\n" "${COMPREPLY[@]}"' complete "$@" 2>/dev/null
}

set -- $verbs
echo "1..$((3 * $# + 6))"
for verb in $verbs; do
	help=$(told_by_help "$verb" | sort -u)
	page=$(told_by_page "$verb" | sort -u)
	if [ -z "$help" ]; then
		correct "xsprof-$verb.1 and --help" "$xsprof $verb --help tells no option"
	else
		# --help itself need not be told, neither in its own list nor in the page.
		correct "xsprof-$verb.1 and --help have the same $(wc -l <<<"$help") options" \
			"$(diff <(echo "$help") <(echo "$page") | grep -E '^[<>]' |
				grep -vx '. --help')"
	fi
	correct "completion offers the options of $verb" \
		"$(comm -23 <(echo "$help") <(complete_words "$xsprof" "$verb" -- | sort -u))"
	correct "$verb --version, told in its page" "$(same_version "$xsprof" "$verb"
		grep -qx -e --version <<<"$page" || echo "not in xsprof-$verb.1")"
done
correct "xsprof --version" "$(same_version "$xsprof")"
correct "xsprof-dump --version" "$(same_version "$xsprof-dump")"
correct "both are told, and offered" "$("$xsprof" --help | grep -q -e '-V, --version' || echo help
	sed 's/\\-/-/g' Documentation/man/xsprof.1 | grep -qx '.BR -V ", " --version' || echo page
	complete_words "$xsprof" "" | grep -qx -e --version || echo "completion of xsprof"
	complete_words "$xsprof-dump" -- | grep -qx -e --version ||
		echo "completion of xsprof-dump")"
correct "completion offers the verbs" "$(
	offered=$(complete_words "$xsprof" "")
	for verb in $verbs list recover enable disable; do
		grep -qx -e "$verb" <<<"$offered" || echo "$verb is not offered"
	done)"
variables=$(git grep -ohE '"XSPROF_[A-Z0-9_]+["=]' -- 'lib/*.[ch]' 'gpu/*.[ch]' 'tools/*.[ch]' |
	tr -d '"=' | sort -u)
untold()	# VARIABLE...
{
	local v

	for v; do
		grep -qw -e "$v" Documentation/man/* Documentation/*.rst || echo "$v"
	done
}
# shellcheck disable=SC2086 # a word each
correct "the $(wc -l <<<"$variables") variables of the environment are told" "$(untold $variables)"
correct "a planted variable is seen" "$([ "$(untold XSPROF_SESSION XSPROF_NOT_TOLD)" = \
	XSPROF_NOT_TOLD ] || echo "not seen")"
exit "$tap_failed"
