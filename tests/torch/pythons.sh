# SPDX-License-Identifier: GPL-2.0-only
#
# To be sourced. pythons: prints "VERSION PATH" for each installed Python, the system's and all of a
# version manager; the oldest first.
pythons()
{
	{
		command -v /usr/bin/python3 python3 python3.9 python3.10 python3.11 python3.12 \
			python3.13 python3.14
		pyenv prefix 2>/dev/null | sed 's|/[^/]*$||' |
			xargs -I{} find {} -path '*/bin/python3'
	} | while read -r python; do
		"$python" -c 'import sys
print("%d.%d.%d" % sys.version_info[:3], sys.executable)' 2>/dev/null
	done | sort -Vu
}
