#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Python package's type hints, by mypy --strict: of a program that uses each public name, with
# deliberate mistakes that must be found, and of the package itself. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
python=/usr/bin/python3
python_packages mypy mypy==2.4.1 typing_extensions==4.16.0 mypy_extensions==1.2.0 \
	pathspec==1.1.1 librt==0.17.0 ast-serialize==0.13.1 || skip "$why"
. tests/python/start.sh

strict() # the arguments of mypy
{
	MYPYPATH=$PYTHONPATH "$venv/bin/python" -m mypy --strict --cache-dir "$dir/cache" \
		--no-error-summary --no-color-output "$@" 2>&1
}

strict "$here/typed.py" >found
# Line and code of each mistake in the program; any other error as it is.
sed -E '/ note: /d; s/^.*typed\.py:([0-9]+): error: .*\[([a-z-]+)\]$/\1 \2/' found >got
grep -n '  # wrong: ' "$here/typed.py" | sed -E 's/^([0-9]+):.*# wrong: /\1 /' >want
diff want got >log && [ "$(grep -c . want)" -ge 15 ]
result "mypy --strict: a program is accepted, except for its mistakes" $?

/usr/bin/python3 - "$here/typed.py" >log 2>&1 <<'END'
import re, sys
import xsprof
with open(sys.argv[1]) as f:
    words = set(re.findall(r"\w+", re.sub('""".*?"""', "", f.read(), flags=re.S)))
assert not set(xsprof.__all__) - words, set(xsprof.__all__) - words
END
result "that program uses each public name" $?

strict -p xsprof >log
result "mypy --strict: the package" $?
finish
