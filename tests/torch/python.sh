#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The place of an op in a Python program, with each version of Python that is installed. TAP.
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
. tests/torch/pythons.sh
. tests/viewers/packages.sh
library=$PWD/$BUILD/tests/torch/libpython-walk.so

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log
pythons >"$dir/pythons"
# The newest that Debian has, run by the C library that is beside it.
newest()
{
	debian_fetch amd64 sid python3.14 && cat >"$new/python" <<-END && chmod +x "$new/python"
		#!/bin/sh
		exec $viewers/python-sid/lib64/ld-linux-x86-64.so.2 --library-path \\
			$viewers/python-sid/usr/lib/x86_64-linux-gnu \\
			$viewers/python-sid/usr/bin/python3.14 "\$@"
	END
}
if [ "${XSPROF_TIER:-quick}" = full ] && [ "$(uname -m)" = x86_64 ]; then
	if fetch python-sid newest; then
		echo "3.14 $viewers/python-sid/python" >>"$dir/pythons"
	else
		skipped "Python 3.14" "$why"
	fi
fi
while read -r version python; do
	"$python" tests/torch/python-walk.py "$library" >"$tap_log" 2>&1
	status=$?
	result "Python $version: $(grep -c '^ok' "$tap_log") results" $status
done <"$dir/pythons"
finish
