# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of the kernel's tracer, the device, OpenCL and CUPTI.
# Sourced by run.sh.

# ---- the kernel's tracer beside a recording ----

part_tracer()
{
	local small=$caps/tracer.data dat=$caps/tracer.dat with= i ns
	local off=() on=() theirs=() ours=() ratio=() cap=$caps/pair.data

	if ! "$bin/xsprof" record -q -e sched --trace-buffer 64M --trace-clock mono -o "$small" \
			-- taskset -c "$cpu0" "$here/pingpong" 200000 2>"$work/tracer.log" ||
			[ -s "$work/tracer.log" ]; then
		for i in tracer_marker tracer_text; do
			skip $i "$(tail -n 1 "$work/tracer.log")"
		done
		return
	fi
	# In turn, so that a change of the machine's speed meets both.
	for i in $(seq 11); do
		ns=$("$bin/xsprof" record -q -m overwrite -b 4M -o "$cap" -- \
			taskset -c "$cpu0" "$here/pair") || { fail "pair failed"; return; }
		off+=("$(awk '{ print $2 }' <<<"$ns")")
		ns=$("$bin/xsprof" record -q -m overwrite -b 4M -e sched -o "$cap" -- \
			taskset -c "$cpu0" "$here/pair") || { fail "pair failed"; return; }
		on+=("$(awk '{ print $2 }' <<<"$ns")")
		ratio+=("$(calc "${on[-1]} / ${off[-1]}")")
	done
	figure tracer_marker ratio "${ratio[@]}"
	figure tracer_marker_off ns "${off[@]}"
	figure tracer_marker_on ns "${on[@]}"

	ratio=()
	if command -v trace-cmd >/dev/null &&
			python3 tests/ftrace/to-tracedat.py "$small" "$dat"; then
		for i in $(seq 5); do
			measure trace-cmd report -i "$dat" >/dev/null 2>"$work/tracer.log" ||
				{ fail "trace-cmd failed"; return; }
			theirs+=("$(cpu_time)")
			measure "$bin/xsprof-dump" -q -i "$small" >/dev/null ||
				{ fail "xsprof-dump failed"; return; }
			ours+=("$(cpu_time)")
			ratio+=("$(calc "${theirs[-1]} / ${ours[-1]}")")
		done
		figure tracer_text ratio "${ratio[@]}"
		figure tracer_text_theirs s "${theirs[@]}"
		figure tracer_text_ours s "${ours[@]}"
	else
		skip tracer_text "no trace-cmd, or no python3"
	fi

	rm -f "$small" "$dat" "$cap"
}

# ---- the device: in a virtual machine, whose times are good for ratios only ----

part_device()
{
	local ko tmpfs=() device=() first=() cold=() library=() where pair ms i

	ko=$(tests/vm/module.sh 6.12 2>"$work/module.log" | tail -n 1)
	if [ ! -s "$ko" ]; then
		case $ko in
		*SKIP*) skip device_ratio "${ko#*SKIP }"; skip device_first "${ko#*SKIP }" ;;
		*) fail "device: the module is not built, see $work/module.log" ;;
		esac
		return
	fi
	# In turn, so that a change of the machine's speed meets both.
	tests/vm/boot.sh --kernel 6.12 --limit 300 --with-libs --module "$ko" \
		"$BUILD/tests/ring/session" "$here/pair" "$here/attach" -- sh -c '
		export XSPROF_MODE=overwrite
		for i in $(seq 21); do
			./session XSPROF_BACKEND=tmpfs ./pair || exit 1
			./session XSPROF_BACKEND=device ./pair || exit 1
			./attach || exit 1
		done' >"$work/device" 2>"$work/device.log" ||
		{ fail "device: the guest failed, see $work/device.log"; return; }
	while read -r where pair ms; do
		case $where in
		tmpfs) tmpfs+=("$pair") ;;
		device) device+=("$pair"); library+=("$ms") ;;
		attach) cold+=("$pair"); first+=("$ms") ;;
		esac
	done <"$work/device"
	[ ${#tmpfs[@]} = 21 ] && [ ${#device[@]} = 21 ] && [ ${#first[@]} = 21 ] ||
		{ fail "device: not both backends were used, see $work/device"; return; }
	figure device_pair_tmpfs ns "${tmpfs[@]}"
	figure device_pair ns "${device[@]}"
	figure device_first ms "${first[@]}"
	figure device_first_cold ms "${cold[@]}"
	figure device_first_library ms "${library[@]}"
	for i in "${!device[@]}"; do
		device[i]=$(calc "${device[i]} / ${tmpfs[i]}")
	done
	figure device_ratio ratio "${device[@]}"
}

# Not recorded and recorded in turn: PoCL's own threads use the other CPU, and how they and the
# program meet is another one in each process.
part_opencl()
{
	local bare=() layer=() ratio=() i

	if ! ${CC:-cc} -O2 -o "$work/opencl" tests/bench/opencl.c -lOpenCL \
			2>"$work/opencl.log"; then
		skip opencl_ratio "ocl-icd-opencl-dev is not installed"
		return
	fi
	for i in $(seq $runs) $(seq $runs); do
		bare+=("$("$work/opencl")") &&
		layer+=("$("$bin/xsprof" record -q --gpu --no-torch -b 64M \
			-o "$work/opencl.data" "$work/opencl")") ||
			{ fail "opencl: failed"; return; }
		ratio+=("$(calc "${layer[-1]} / ${bare[-1]} - 1")")
	done
	figure opencl_bare ns "${bare[@]}"
	figure opencl_layer ns "${layer[@]}"
	figure opencl_ratio ratio "${ratio[@]}"
}

# activities, more options of record: sets cost to what $here/cupti says.
record_cupti()
{
	local n=$1 cap=$caps/cupti rc

	shift
	XSPROF_CUPTI=$here/libcupti-replay.so taskset -c "$cpu1" "$bin/xsprof" record --gpu \
		-b 64M --prefault "$@" -o "$cap" -- taskset -c "$cpu0" \
		"$here/cupti" "$here/libcupti-replay.so" "$n" >"$work/cupti" 2>"$work/cupti.log"
	rc=$?
	rm -f "$cap"
	read -r -a cost <"$work/cupti"
	[ $rc = 0 ] && [ "${cost[0]}" = "$n" ]
}

# What the thread does that makes records of CUPTI's, of which no GPU is needed.
part_cupti()
{
	local rates=() walls=() i n=${BENCH_CUPTI:-100000000}

	warm 820000000
	for i in $(seq $runs); do
		# And the start of CUPTI, and each second a bound of its clock's error.
		record_cupti 5000000 && grep -q '^\[ xsprof record: 50000[0-9]* events .* 0 lost' \
			"$work/cupti.log" || { fail "cupti: failed, see $work/cupti.log"; return; }
		rates+=("$(calc "${cost[0]} / ${cost[1]} / 1e6")")
		walls+=("$(calc "${cost[0]} / ${cost[2]} / 1e6")")
	done
	figure cupti_rate M/s "${rates[@]}"
	figure cupti_wall M/s "${walls[@]}"
	# Sixteen gigabytes would be a measurement of the disk: rings that keep the latest.
	record_cupti "$n" -m overwrite || { fail "cupti: failed, see $work/cupti.log"; return; }
	figure cupti_growth MiB "$(calc "${cost[3]} / 1024")"
	less cupti_growth 100000000 "$n" activities
}
