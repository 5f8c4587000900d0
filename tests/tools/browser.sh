#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Chrome JSON in a real viewer: speedscope, from npm, in headless Chromium. It is served
# from this machine alone. A picture of it is left in $BUILD/check/speedscope.png. TAP.
#
# Usage: tests/tools/browser.sh [TRACE.json]     (default: made of a test capture)
set -u
cd "$(dirname "$0")/../.." || exit 1
skip() { echo "1..0 # SKIP $*"; exit 77; }

browser=
for b in chromium chromium-browser google-chrome; do
	command -v $b >/dev/null && browser=$b && break
done
[ -n "$browser" ] || skip "no chromium: install the package chromium"
command -v npm >/dev/null || skip "no npm: install the packages nodejs and npm"
command -v python3 >/dev/null || skip "no python3"
. tests/tools/tap.sh

viewer=$BUILD/check/npm
if [ ! -f "$viewer/node_modules/speedscope/dist/release/index.html" ]; then
	mkdir -p "$viewer"
	npm install --no-audit --no-fund --prefix "$viewer" speedscope >"$dir/npm.log" 2>&1 ||
		skip "npm could not install speedscope: $(tail -n 1 "$dir/npm.log")"
fi
cp -r "$viewer/node_modules/speedscope/dist/release" "$dir/www" || exit 1
if [ $# -gt 0 ]; then
	cp "$1" "$dir/www/trace.json" || exit 1
else
	"$make_capture" big "$dir/big.data" 3000 &&
		"$dump" -f chrome -o "$dir/www/trace.json" "$dir/big.data" || exit 1
fi

# Port 0: the system chooses one that is free.
cat >"$dir/serve.py" <<'END'
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
python3 "$dir/serve.py" "$dir/www" >"$dir/port" 2>"$dir/served" & server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 100); do
	[ -s "$dir/port" ] && break
	sleep 0.05
done
url="http://127.0.0.1:$(cat "$dir/port")/index.html#profileURL=trace.json"

browse()
{
	timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$dir/user" --window-size=1400,700 --hide-scrollbars \
		--virtual-time-budget=20000 "$@" "$url" 2>"$dir/log"
}

browse --dump-dom >"$dir/dom"
grep -q 'GET /trace.json HTTP/1.1" 200' "$dir/served"
result "the browser fetches the trace" $?
# Its title bar says "(1/9)": as many profiles as there are tracks with ranges. Of a single
# one it says the process only.
tracks=$(python3 - "$dir/www/trace.json" <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
print(len({(e["pid"], e["tid"]) for e in events if e["ph"] in "BX"}))
END
)
title="\([0-9]+/$tracks\)"
[ "$tracks" = 1 ] && title='\(pid [0-9]+\)'
grep -qE "$title" "$dir/dom"
rc=$?
[ $rc = 0 ] || sed 's/<[^>]*>/ /g' "$dir/dom" | tail -c 2000 >>"$dir/log"
result "speedscope shows all $tracks tracks" $rc

picture=$BUILD/check/speedscope.png
mkdir -p "$BUILD/check"
browse --screenshot="$picture" >/dev/null
cat >"$dir/colours.py" <<'END'
import struct, sys, zlib
# Pixels of a PNG that are coloured and light: ranges are, the page and its texts are not.
raw = open(sys.argv[1], "rb").read()
width, height, depth, kind = struct.unpack(">IIBB", raw[16:26])
assert depth == 8 and kind in (2, 6), (depth, kind)
at, data = 8, b""
while at < len(raw):
    size, name = struct.unpack(">I4s", raw[at:at + 8])
    if name == b"IDAT":
        data += raw[at + 8:at + 8 + size]
    at += 12 + size
data, bpp = zlib.decompress(data), 3 if kind == 2 else 4
row, before, coloured = width * bpp, bytearray(width * bpp), 0
for y in range(height):
    rule, line = data[y * (row + 1)], bytearray(data[y * (row + 1) + 1:(y + 1) * (row + 1)])
    for i in range(row):
        a = line[i - bpp] if i >= bpp else 0
        b = before[i]
        c = before[i - bpp] if i >= bpp else 0
        if rule == 1:
            line[i] = line[i] + a & 255
        elif rule == 2:
            line[i] = line[i] + b & 255
        elif rule == 3:
            line[i] = line[i] + (a + b) // 2 & 255
        elif rule == 4:
            p = a + b - c
            best = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = line[i] + best & 255
    for i in range(0, row, bpp):
        pixel = line[i:i + 3]
        coloured += max(pixel) - min(pixel) > 20 and min(pixel) > 150
    before = line
print("%d of %d pixels are coloured" % (coloured, width * height))
sys.exit(coloured < width * height // 100)
END
python3 "$dir/colours.py" "$picture" >>"$dir/log" 2>&1
result "ranges are drawn: see $picture" $?
finish
