#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests tests/run.sh, in a tree of its own with tests that pass, fail, skip and lose results: its
# counts, its exit status, and how it continues a run. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
runner=$PWD/tests/run.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tests/a" && cp "$runner" "$dir/tests" && cd "$dir" || exit 1
unset BUILD XSPROF_CHECK_DIR XSPROF_TURN XSPROF_TIER
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a \
	GIT_COMMITTER_EMAIL=a
commit() { git add tests && git commit -qm "$1" >/dev/null; }
# Sets the last line, and the status.
run()
{
	last=$(tests/run.sh "$@" 2>err | tail -n 1; exit "${PIPESTATUS[0]}")
	status=$?
}
is() { [ "$last" = "$2" ] && [ $status = "$3" ]; result "$1" $?; }

cat >tests/a/tests.list <<'END'
quick	good	tests/a/count.sh good 'ok 1' 'ok 2 # SKIP no reason' '1..2'
quick	plain	tests/a/count.sh plain
full	long	tests/a/count.sh long 'ok 1' '1..1'
END
cat >tests/a/count.sh <<'END'
#!/bin/bash
echo "$1" >>ran
shift
[ $# = 0 ] || printf '%s\n' "$@"
[ ! -e broken ]
END
chmod +x tests/a/count.sh
git init -q . && commit one || exit 1

run quick
is "tests of one tier: results, a program without results, a skip" \
	"2 passed, 0 failed, 1 skipped" 0
run full
is "of both tiers" "3 passed, 0 failed, 1 skipped" 0
echo "quick	short	echo '1..2'; echo 'ok 1'" >>tests/a/tests.list
run -j1 quick
is "a result that is missing is a failure" "3 passed, 1 failed, 1 skipped" 1
sed -i '$d' tests/a/tests.list
touch broken
run quick
is "so is an exit status that no result accounts for" "1 passed, 2 failed, 1 skipped" 1
rm broken

echo "quick	later	tests/a/count.sh later; test -e mended" >>tests/a/tests.list
commit two
run quick
is "a test fails" "2 passed, 1 failed, 1 skipped" 1
rm ran
touch mended
run -c quick
[ "$(cat ran)" = later ] || status=9
is "-c runs what did not pass, and counts the rest with it" "3 passed, 0 failed, 1 skipped" 0
rm ran
run -c quick
[ ! -e ran ] || status=9
is "when all passed, nothing" "3 passed, 0 failed, 1 skipped" 0
run -c full
[ $status = 2 ] && grep -q 'other sources or another tier' err
result "-c of another tier is refused" $?
echo "# changed" >>tests/a/count.sh
run -c quick
[ $status = 2 ] && grep -q 'other sources' err
result "so it is when sources have changed" $?
for words in '-j' '-j 0' '-x y' 'slow' 'quick full'; do
	# shellcheck disable=SC2086 # words
	run $words
	[ $status = 2 ] || break
	words=
done
[ -z "$words" ]
result "wrong usage has status 2" $?
finish
