#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the rules of .editorconfig that a compiler does not: at most 100 columns in code, no blanks
# at line ends, a newline at the end of a file, tabs for indentation in C. Also finds results that
# take the status of a command in their name instead of the test's. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

git rev-parse --is-inside-work-tree >/dev/null 2>&1 || skip "not a git work tree: no list of files"

mapfile -t code < <(git ls-files -- '*.[ch]' '*.cc' '*.sh' '*.py' '*.inc' Makefile Kbuild .ci/run)
mapfile -t text < <(git ls-files -- '*.[ch]' '*.cc' '*.sh' '*.py' '*.inc' '*.md' '*.rst' '*.[1-8]' \
	Makefile Kbuild .ci/run '*tests.list' '*README')
present=()
for f in "${code[@]}"; do [ -f "$f" ] && present+=("$f"); done
code=("${present[@]}")
present=()
for f in "${text[@]}"; do [ -f "$f" ] && present+=("$f"); done
text=("${present[@]}")

# $1 the name of the check; stdin has the offending lines.
check() { correct "$1" "$(head -n 20)"; }

check "no line of ${#code[@]} source files is wider than 100 columns" < <(
	# Columns are characters, not bytes, which expand(1) would count.
	perl -CSD -ne 'chomp;
		1 while s/^([^\t]*)\t/$1 . " " x (8 - length($1) % 8)/e;
		print "$ARGV:$.\n" if length > 100;
		close ARGV if eof' "${code[@]}" 2>&1)
check "no blanks at line ends in ${#text[@]} files" < <(grep -nE '[[:blank:]]+$' "${text[@]}")
check "files end with a newline" < <(
	perl -0777 -ne 'print "$ARGV\n" unless /\n\z/' "${text[@]}" 2>&1)
mapfile -t c < <(printf '%s\n' "${code[@]}" | grep -E '\.[ch]$|\.cc$')
check "C is indented by tabs" < <(grep -nE '^ {8}' "${c[@]}" /dev/null)
mapfile -t scripts < <(printf '%s\n' "${code[@]}" | grep '\.sh$')
check "no result takes the status of what its name runs" < <(
	grep -nE '^[[:blank:]]*result .*\$\([^(].*\$\?$' "${scripts[@]}" /dev/null)
finish
