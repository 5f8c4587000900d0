#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sentences for users name the part that acts: the recorder, the reader, the process. So the words
# below may not be in a public header, a page of Documentation, README, or a string of the tools and
# libraries. Planted ones must be found. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	echo "1..0 # SKIP not a git work tree: no list of files"
	exit 77
fi
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

n=0
fails=0
check()		# NAME FILE: one result, which holds where the file is empty
{
	n=$((n + 1))
	if [ -s "$2" ]; then
		head -n 40 "$2" | sed 's/^/# /'
		echo "not ok $n $1"
		fails=$((fails + 1))
	else
		echo "ok $n $1"
	fi
}

# Compares what words() finds in a planted text with the lines that it must find.
planted()	# NAME text|strings WANT TEXT
{
	printf '%s\n' "$4" >"$dir/plant"
	words "$2" "$dir/plant" | sed 's/.*plant://' | tr '\n' ' ' >"$dir/got"
	if [ "$(cat "$dir/got")" = "$3" ]; then : >"$dir/bad"; else cp "$dir/got" "$dir/bad"; fi
	[ -s "$dir/bad" ] || [ -s "$dir/got" ] || [ -z "$3" ] || echo "nothing was seen" >"$dir/bad"
	check "$1" "$dir/bad"
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

echo 1..6
[ "${#text[@]}" -gt 60 ] && [ "${#code[@]}" -gt 300 ] || echo "too few files" >"$dir/0"
check "${#text[@]} texts and ${#code[@]} sources were listed" "$dir/0"
words text "${text[@]}" >"$dir/1" 2>&1
check "public headers, documents and README name who acts" "$dir/1"
words strings "${code[@]}" >"$dir/2" 2>&1
check "so do the messages" "$dir/2"
planted "planted words in a text are seen" text "1:Whoever 2:nobody 2:whom " \
	$'Whoever reads\nthis: nobody, by whom; some body, a wholesome one'
planted "a planted word in a string is seen" strings "2:anybody " \
	$'/* nobody */ x = \'"\'; // whom\nputs("anybody \\" else"); somebody();'
planted "a source without such strings is clean" strings "" \
	$'/* "nobody" */\nchar c = \'"\', *s = "reader"; int whoever;'
[ "$fails" = 0 ]
