#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The sources that `make sdist` packs: they have all files of git, and a wheel for this machine is
# built from them with only this machine's compiler, as pip does; it records. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/wheel/start.sh
[ -e .git ] || skip "no list of files: not a git work tree"

sources=$(tools/python/wheel.sh sdist 2>"$dir/log")
result "the sources are packed" $?
name=$(basename "$sources" .tar.gz)
tar tzf "$sources" | sed -n "s|^$name/||p" | grep -v "^$\|/$" | sort >"$dir/packed"
git ls-files | while read -r file; do [ ! -f "$file" ] || echo "$file"; done | sort >"$dir/want"
comm -23 "$dir/want" "$dir/packed" >"$dir/log" && [ ! -s "$dir/log" ]
result "all that git has is in them" $?
comm -13 "$dir/want" "$dir/packed" >"$dir/log"
[ "$(paste -sd' ' <"$dir/log")" = "PKG-INFO setup.cfg" ]
result "and nothing else, but what describes the package" $?

# setuptools is in that environment; another one would be downloaded.
python_packages wheel setuptools==80.9.0 ziglang==0.17.1 || skip "$why"
env -u BUILD "$venv/bin/python" -m pip wheel -q --no-index --no-deps --no-build-isolation \
	-w "$dir" "$sources" >"$dir/log" 2>&1
result "pip builds a wheel of them" $?
wheel=$(echo "$dir"/xsprof-*-py3-none-linux_x86_64.whl)
python=/usr/bin/python3
cat >"$dir/app.c" <<'END'
#include <xsprof/xsprof.h>

int main(void)
{
	XSPROF_SCOPE("step");
	return 0;
}
END
venv "$dir/v" 2>"$dir/log" && cd "$dir" &&
	flags=$(PKG_CONFIG_PATH=$site/lib/pkgconfig pkg-config --cflags --libs xsprof-user) &&
	gcc -o app app.c $flags 2>>log && v/bin/xsprof record -o data -- ./app 2>>log &&
	v/bin/xsprof report data 2>>log | grep -qE '^ +1 .* step$'
result "which records" $?
finish
