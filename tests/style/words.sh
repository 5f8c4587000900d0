#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sentences for users name the part that acts: the recorder, the reader, the process. So the words
# below may not be in a public header, a page of Documentation, README, or a string of the tools and
# libraries. Planted ones must be found. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || skip "not a git work tree: no list of files"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Prints FILE:LINE:WORD for each of the words: in whole files, or with "strings" only in C strings.
# The first alternative takes comments and character constants, whose quotes begin no string.
words()		# text|strings FILE...
{
	perl -0777 -e '
		my $strings = shift(@ARGV) eq "strings";
		my $word = qr/\b(who(?:m|mso)?ever|whom|(?:no|some|any|every)body)\b/i;
		for my $file (@ARGV) {
			open(my $in, "<", $file) or die "$file: $!\n";
			my $text = <$in>;
			if ($strings) {
				$text =~ s{(/\*.*?\*/|//[^\n]*|\x27(?:\\.|[^\\\x27\n])+\x27) |
					   ("(?:\\.|[^\\"\n])*") | ([^\n])}
					  { $2 // ($1 // "") =~ s/[^\n]//gr }gesx;
			}
			while ($text =~ /$word/g) {
				my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
				print "$file:$line:$1\n";
			}
		}' "$@"
}

# Compares what words() finds in a planted text with the lines that it must find.
planted()	# NAME text|strings WANT TEXT
{
	local got

	printf '%s\n' "$4" >"$dir/plant"
	got=$(words "$2" "$dir/plant" | sed 's/.*plant://' | tr '\n' ' ')
	correct "$1" "$([ "$got" = "$3" ] || echo "found: ${got:-nothing}")"
}

listed()	# PATTERN...: the files under version control that are there
{
	git ls-files -z -- "$@" | while IFS= read -rd '' f; do
		[ -f "$f" ] && printf '%s\0' "$f"
	done
}

mapfile -td '' text < <(listed README.md CONTRIBUTING.md 'lib/include/*' 'Documentation/*.rst' \
	'Documentation/*.md' 'Documentation/man/*' 'Documentation/ABI/*' 'kmod/uapi/*.h' \
	'tools/python/*.py' 'tools/python/xsprof/*')
mapfile -td '' code < <(listed 'tools/*.[ch]' 'lib/*.[ch]' 'gpu/*.[ch]' 'kmod/*.[ch]')

[ "${#text[@]}" -gt 60 ] && [ "${#code[@]}" -gt 300 ]
result "${#text[@]} texts and ${#code[@]} sources were listed" $?
correct "public headers, documents and README name who acts" \
	"$(words text "${text[@]}" 2>&1 | head -n 40)"
correct "so do the messages" "$(words strings "${code[@]}" 2>&1 | head -n 40)"
planted "planted words in a text are seen" text "1:Whoever 2:nobody 2:whom " \
	$'Whoever reads\nthis: nobody, by whom; some body, a wholesome one'
planted "a planted word in a string is seen" strings "2:anybody " \
	$'/* nobody */ x = \'"\'; // whom\nputs("anybody \\" else"); somebody();'
planted "a source without such strings is clean" strings "" \
	$'/* "nobody" */\nchar c = \'"\', *s = "reader"; int whoever;'
finish
