# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian packages of another architecture, unpacked for a guest and never
# installed. Owns the private apt state under $vm_dir/apt-ARCH and the unpacked
# trees; never touches dpkg's or apt's own state, so `dpkg --add-architecture`
# is not needed and a broken download leaves the machine as it was. Sources,
# keys, proxies: whatever this machine's apt is configured with.

# deb_apt ARCH TOOL ARG...: apt-get or apt-cache over the private state of ARCH
deb_apt()
{
	local state=$vm_dir/apt-$1 tool=$2
	local opts=(-q
		-o "Dir::State=$state/state" -o "Dir::State::status=$state/status"
		-o "Dir::Cache=$state/cache" -o "APT::Architecture=$1"
		-o "APT::Architectures::=$1" -o "Acquire::Languages=none"
		-o "APT::Sandbox::User=$(id -un)")
	shift 2
	"$tool" "${opts[@]}" "$@"
}

# deb_lists ARCH LOG: package lists of ARCH, fetched
deb_lists()
{
	local state=$vm_dir/apt-$1

	mkdir -p "$state/state/lists/partial" "$state/cache/archives/partial" &&
	: > "$state/status" || return
	# A source that has nothing for ARCH makes the whole update fail, though the
	# others came: what counts is whether the packages are found afterwards.
	deb_apt "$1" apt-get update >> "$2" 2>&1
	return 0
}

# deb_resolve ARCH META: the package that META (linux-image-...) stands for,
# that is its first dependency, or META where it has none
deb_resolve()
{
	deb_apt "$1" apt-cache depends "$2" 2> /dev/null |
		awk -v meta="$2" '$1 == "Depends:" { print $2; found = 1; exit }
				  $1 == meta { seen = 1 }
				  END { if (!found && seen) print meta }'
}

# deb_tree ARCH TREE PACKAGE...: the packages' files, unpacked together into the
# directory TREE; nothing to do when TREE is there. A first package that is a
# meta package is followed. Sets $deb_error on failure.
deb_tree()
{
	local arch=$1 tree=$2 first log=$vm_dir/apt-$1.log new=$2.new.$$ deb

	shift 2
	[ -d "$tree" ] && return 0
	for tool in apt-get apt-cache dpkg-deb; do
		command -v "$tool" > /dev/null || { deb_error="$tool is not there"; return 1; }
	done
	: > "$log"
	deb_lists "$arch" "$log" || { deb_error="cannot write $vm_dir"; return 1; }
	first=$(deb_resolve "$arch" "$1")
	if [ -z "$first" ]; then
		deb_error="apt's sources have no $arch package $1 (see $log)"
		return 1
	fi
	shift
	rm -rf "$new"
	mkdir -p "$new.debs" "$new" || { deb_error="cannot write $vm_dir"; return 1; }
	if ! (cd "$new.debs" && deb_apt "$arch" apt-get download "$first" "$@") >> "$log" 2>&1; then
		deb_error="cannot download $first $* for $arch (see $log)"
		rm -rf "$new" "$new.debs"
		return 1
	fi
	for deb in "$new.debs"/*.deb; do
		if ! dpkg-deb -x "$deb" "$new" >> "$log" 2>&1; then
			deb_error="cannot unpack ${deb##*/} (see $log)"
			rm -rf "$new" "$new.debs"
			return 1
		fi
	done
	rm -rf "$new.debs"
	mv "$new" "$tree"	# last, so that a tree that is there is whole
}
