# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Builds the debug kernels from Debian's source package: debug with debug.config, kcsan with
# kcsan.config on top of that. Also unpacks what tests take from the source: kselftest's headers,
# checkpatch, kernel-doc. Builds once per source version, configuration and compiler (6
# CPU-minutes); keeps the kernel and what a module build needs. Sourced by kernels.sh.

# source_fetch: fetches the source package of 6.1 into the cache: $k_source has usr/src with the
# archive, and lent/ with the unpacked files that tests use
source_fetch()
{
	local lock tree=$vm_dir/trees/source part

	k_source=$tree
	[ -d "$tree" ] && return 0
	mkdir -p "$vm_dir/trees" || { deb_error="cannot write $vm_dir"; return 1; }
	exec {lock}> "$vm_dir/lock-source"
	flock "$lock"
	if ! [ -d "$tree" ]; then
		part=$tree.part
		rm -rf "$part"
		deb_tree bookworm "$part" linux-source-6.1 linux-source-6.1 &&
		mkdir "$part/lent" &&
		tar -xJf "$part/usr/src/linux-source-6.1.tar.xz" -C "$part/lent" \
			--strip-components=1 --no-same-owner --wildcards \
			'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
			'*/scripts/const_structs.checkpatch' '*/scripts/kernel-doc' \
			'*/tools/testing/selftests/kselftest.h' \
			'*/tools/testing/selftests/kselftest_harness.h' &&
		mv "$part" "$tree" || : "${deb_error:=cannot unpack linux-source-6.1}"
	fi
	exec {lock}>&-
	[ -d "$tree" ]
}

# debug_config K: all lines of the configuration of K
debug_config()
{
	if [ "$1" = debug ]; then
		cat "$vm_src/debug.config"
		return
	fi
	awk '{ symbol = /^# CONFIG_/ ? $2 : $1; sub(/=.*/, "", symbol) }
		FNR == NR { if (symbol ~ /^CONFIG_/) other[symbol]; print; next }
		!(symbol in other)' "$vm_src/$1.config" "$vm_src/debug.config"
}

# debug_name K: sets $k_tree of the debug kernel K, named after a hash of its inputs. Increment
# "recipe" when the way of building changes, or what is kept of it.
debug_name()
{
	local hash

	hash=$({ echo "recipe 1"; grep -v '^#' "$k_source/.packages"
		debug_config "$1" | grep -v '^# [^C]'; ${CC:-gcc} --version; } |
			sha256sum) || return 1
	k_tree=$vm_dir/trees/$1-${hash:0:16}
}

# kernel_debug K: sets $k_tree, and builds it unless it is there
kernel_debug()
{
	local build log=$vm_dir/$1-kernel.log tool start=$SECONDS

	source_fetch && debug_name "$1" || return 1
	[ -d "$k_tree" ] && return 0
	for tool in make bc bison flex "${CC:-gcc}"; do
		command -v "${tool%% *}" > /dev/null && continue
		deb_error="$tool is not installed, which building the $1 kernel takes"
		return 1
	done
	echo "boot.sh: building the $1 kernel, once; some minutes (see $log)" >&2
	build=$k_tree.build
	rm -rf "$build" "$vm_dir/trees/$1"-*.build
	if ! { mkdir -p "$build" && tar -xJf "$k_source/usr/src/linux-source-6.1.tar.xz" \
			-C "$build" --strip-components=1 --no-same-owner &&
		debug_configure "$build" "$1" && debug_make "$build" bzImage modules &&
		debug_keep "$build"; } > "$log" 2>&1 < /dev/null; then
		deb_error="cannot build the $1 kernel: $(tail -n 1 "$log") (see $log)"
		rm -rf "$build"
		return 1
	fi
	echo "built in $((SECONDS - start)) s" >> "$log"
	mv "$build" "$k_tree"
}

# debug_make BUILD TARGET...: runs make with a fixed builder's name, so that ccache, where it is
# installed, serves most objects when only the configuration changed
debug_make()
{
	local build=$1

	shift
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$build" -j"$(nproc)" \
		CC="$(command -v ccache) ${CC:-gcc}" HOSTCC="${CC:-gcc}" \
		KBUILD_BUILD_USER=xsprof KBUILD_BUILD_HOST=tests \
		KBUILD_BUILD_TIMESTAMP=@0 "$@"
}

# debug_configure BUILD K: configures; fails, and prints the lines, where some took no effect
debug_configure()
{
	local line failed=0

	debug_config "$2" > "$1/wanted.config" &&
		debug_make "$1" KCONFIG_ALLCONFIG=wanted.config allnoconfig || return
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$1/.config" && continue ;;
		'# CONFIG_'*)
			line=${line#\# }
			grep -q "^${line%% *}=" "$1/.config" || continue ;;
		*) continue ;;
		esac
		echo "$2.config: $line: did not take effect"
		failed=1
	done < "$1/wanted.config"
	return $failed
}

# debug_keep BUILD: removes what neither running the kernel nor building a module needs
debug_keep()
{
	mkdir -p "$1/.keep" &&
	mv "$1/arch/x86/boot/bzImage" "$1/.keep/" && mv "$1/tools/objtool/objtool" "$1/.keep/" &&
	rm -rf "${1:?}"/{Documentation,drivers,fs,sound,net,samples,block,crypto,lib,ipc,init} \
		"$1"/{kernel,mm,security,usr,virt,certs,LICENSES,rust,io_uring,tools} \
		"$1"/vmlinux* "$1"/.tmp_vmlinux* "$1"/.vmlinux* &&
	mkdir -p "$1/tools/objtool" && mv "$1/.keep/objtool" "$1/tools/objtool/" &&
	mv "$1/.keep/bzImage" "$1/" && rmdir "$1/.keep" || return
	# nothing of the other architectures, and no code of this one
	find "$1/arch" -mindepth 1 -maxdepth 1 -type d ! -name x86 -exec rm -rf {} + &&
	find "$1" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name '*.[cS]' \) \
		-type f ! -path '*/scripts/*' -delete
}
