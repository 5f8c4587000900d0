# SPDX-License-Identifier: GPL-2.0-only
#
# Compiles programs with the headers of a version of CUPTI, and runs them with its library. Both
# come from the registry of Python, as fixed versions, kept in a cache outside of the tree. To be
# sourced in the top folder, after tests/tools/tap.sh.
. tests/viewers/packages.sh
export LC_ALL=C

[ "$(uname -m)" = x86_64 ] || skip "the wheels are for x86-64"

declare -A cuda_cupti=(
	[11.8]=11.8.87 [12.0]=12.0.146 [12.1]=12.1.105 [12.2]=12.2.142 [12.3]=12.3.101
	[12.4]=12.4.127 [12.5]=12.5.82 [12.6]=12.6.80 [12.8]=12.8.90 [12.9]=12.9.79
	[13.0]=13.0.85 [13.1]=13.1.115 [13.2]=13.2.86 [13.3]=13.3.75 [13.4]=13.4.92
	[13.5]=13.5.25
)
declare -A cuda_runtime=([11]=-cu11==11.8.89 [12]=-cu12==12.4.127 [13]===13.0.96)

# cuda_fetch VERSION: headers, and the libraries that need no GPU, in one folder
cuda_fetch()
{
	local runtime=${cuda_runtime[${1%.*}]} wheel

	python3 -m pip download -q --no-deps --only-binary :all: --no-cache-dir \
		--disable-pip-version-check -d "$new/wheels" "nvidia-cuda-runtime$runtime" \
		"nvidia-cuda-cupti${runtime%%==*}==${cuda_cupti[$1]}" || return
	for wheel in "$new"/wheels/*.whl; do
		python3 -m zipfile -e "$wheel" "$new/all" || return
	done
	mkdir "$new/include" "$new/lib" || return
	cp -r "$new"/all/nvidia/*/include/. "$new/include" || return
	cp "$new"/all/nvidia/*/lib/libcupti.so.1* "$new"/all/nvidia/*/lib/libnvperf_host.so \
		"$new/lib" || return
	rm -r "$new/all" "$new/wheels"
	# A C++ header that headers of 12 include needlessly, and what CUDA's compiler defines.
	touch "$new/include/string"
	mkdir -p "$new/include/crt" || return
	printf '#define %s\n' '__align__(n) __attribute__((aligned(n)))' \
		'__builtin_align__(n) __align__(n)' __device_builtin__ __host__ __device__ \
		__device_builtin_texture_type__ __device_builtin_surface_type__ \
		__cudart_builtin__ CUDARTAPI \
		>"$new/include/crt/host_defines.h"
}

# oracle VERSION FIELDS ANSWERS SOURCE...: two results: the program compiles, which compares fields,
# and its run succeeds. Its arguments are libcupti and those in the array args.
args=()
oracle()
{
	local version=$1 fields="CUDA $1: $2" answers="CUDA $1: $3" lib status
	local cuda=$viewers/nvperf-callbacks-$1

	shift 3
	fetch "${cuda##*/}" cuda_fetch "$version" || {
		skipped "$fields" "$why"
		skipped "$answers" "$why"
		return
	}
	${CC:-cc} -O1 -D_GNU_SOURCE -DVERSION="${version%.*}0${version#*.}" -iquote . \
		-Ilib/include -Ikmod/uapi -isystem "$cuda/include" -o "$dir/oracle" "$@" -ldl \
		>"$dir/log" 2>&1
	status=$?
	result "$fields" $status
	[ $status = 0 ] || return
	lib=$(echo "$cuda"/lib/libcupti.so.1*)
	XSPROF_CUPTI=$lib "$dir/oracle" "$lib" "${args[@]}" >"$dir/log" 2>&1
	status=$?
	# Without a driver that of 13.2 recurses endlessly.
	if [ $status = 3 ] || [ "$version $status" = "13.2 139" ]; then
		skipped "$answers" "this version needs a driver"
	else
		result "$answers" $status
	fi
}
