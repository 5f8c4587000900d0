#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of packages from the Python package index: Flask in the threads of waitress, and in
# greenlets of gevent, under load. Checks their samples and calls. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
python_packages served flask==3.1.3 werkzeug==3.1.9 jinja2==3.1.6 markupsafe==3.0.4 \
	itsdangerous==2.2.0 click==8.5.1 blinker==1.9.0 waitress==3.0.2 gevent==26.9.0 \
	greenlet==3.5.6 zope.event==6.2 zope.interface==8.7 || skip "$why"
. tests/python/start.sh

# On a busy machine threads run too little: try again, longer.
known() # WHAT
{
	local seconds

	for seconds in 2 4 8; do
		rm -f data events
		timeout -k 10 100 "$xsprof" record -q --python=200 -o data -- "$venv/bin/python" \
			"$here/served.py" "$1" $seconds >said 2>log && [ ! -s log ] &&
			"$dump" -q -f ndjson data >events 2>>log &&
			python3 "$here/served.py" check-"$1" events >>log 2>&1 && return
	done
	return 1
}

known web
result "Flask and waitress: the handler below the server's frames, in the server's threads" $?
known greenlets
result "Flask and gevent: each sample has the frames of one greenlet, and all of them" $?
rm -f data
timeout -k 10 100 "$xsprof" record -q --python-trace=served -o data -- "$venv/bin/python" \
	"$here/served.py" calls >said 2>log && [ ! -s log ] &&
	"$xsprof" report -q --json data >report 2>>log &&
	python3 "$here/served.py" check-calls report >>log 2>&1
result "calls in greenlets: as many as were made, with the times of their function" $?
finish
