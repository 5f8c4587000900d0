# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of framework operations and of LTTng-UST.
# Sourced by run.sh.

# ---- ops ----

# libkineto is nobody's package: its row needs its sources, and fmt.
build_kineto()
{
	g++ -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -DFMT_HEADER_ONLY \
		-I"$LIBKINETO/include" ${FMT_INCLUDE:+-I"$FMT_INCLUDE"} \
		-o "$work/kineto.so" tests/bench/kineto.cc \
		"$LIBKINETO"/src/{GenericTraceActivity,ActivityType,ThreadUtil}.cpp \
		2>"$work/kineto.log"
}

part_ops()
{
	local i id unit low mid high

	if [ -n "${LIBKINETO:-}" ]; then
		build_kineto ||
			{ fail "ops: libkineto is not built, see $work/kineto.log"; return; }
		export BENCH_KINETO=$work/kineto.so
	fi
	rm -f "$work/ops"
	# Each round is a process, as above.
	for i in $(seq $rounds); do
		"$here/ops" >>"$work/ops" || { fail "ops: failed"; return; }
		BENCH_NVTX=$BUILD/lib/libxsprof-nvtx.so "$here/nvtx" >>"$work/ops" ||
			{ fail "nvtx: failed"; return; }
		BENCH_ITT=$BUILD/lib/libxsprof-itt.so "$here/itt" >>"$work/ops" ||
			{ fail "itt: failed"; return; }
	done
	awk -F '\t' '$2 == "skip"' "$work/ops" | sort -u >>"$raw"
	awk -F '\t' '$2 != "skip" { print $1, $2 }' "$work/ops" | sort -u |
	while read -r id unit; do
		# shellcheck disable=SC2046
		figure "$id" "$unit" $(awk -F '\t' -v id="$id" '$1 == id { print $4 }' "$work/ops")
	done
	"$BUILD/tests/profiler/op-alloc" bench >>"$raw" || fail "op-alloc: failed"
}

# ---- LTTng-UST, in a session of our own ----

lttng_start()
{
	export LTTNG_HOME=$work/lttng LTTNG_UST_REGISTER_TIMEOUT=3000

	rm -rf "$LTTNG_HOME"
	mkdir -p "$LTTNG_HOME"
	: >"$work/lttng.log"
	# Debian's package starts one where there is systemd: a session of our own in it will do.
	if ! lttng --no-sessiond list >/dev/null 2>&1; then
		lttng-sessiond --no-kernel --quiet >"$work/lttng.log" 2>&1 &
		lttng_pid=$!
		for _ in $(seq 50); do
			lttng --no-sessiond list >/dev/null 2>&1 && break
			sleep 0.1
		done
	fi
	{
		lttng --no-sessiond create --snapshot xsprof-bench \
			--output="$LTTNG_HOME/out" &&
		lttng --no-sessiond enable-channel -u --overwrite --subbuf-size=1M \
			--num-subbuf=4 ring &&
		lttng --no-sessiond enable-event -u -c ring xsprof_bench:marker &&
		lttng --no-sessiond start
	} >>"$work/lttng.log" 2>&1 && return
	why="its session daemon does not run here ($(tail -n 1 "$work/lttng.log" | cut -c1-80))"
	return 1
}

part_lttng()
{
	local why

	if [ ! -x "$here/lttng" ] || ! command -v lttng-sessiond >/dev/null; then
		skip lttng_ratio "liblttng-ust-dev or lttng-tools is not installed"
		return
	fi
	if lttng_start; then
		"$here/lttng" >>"$raw" || fail "lttng: failed"
		lttng --no-sessiond destroy xsprof-bench >>"$work/lttng.log" 2>&1
	else
		skip lttng_ratio "$why"
	fi
	[ -z "$lttng_pid" ] || { kill "$lttng_pid"; wait "$lttng_pid"; lttng_pid=; }
}
