# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Unpacks Debian packages of other releases and architectures for a guest, without installing them.
# Owns a private apt state per pool under $vm_dir/apt and the unpacked trees. Never touches dpkg's
# or apt's own state: it needs no line in sources.list and no `dpkg --add-architecture`, and a
# broken download leaves the machine as it was. Takes keys, proxies and the address of the archive
# from this machine's apt.
#
# A pool is a set of suites of one architecture:
#
#	bookworm	Debian 12 with its security updates	backports	and its backports
#	arm64		backports, for arm64		trixie		Debian 13 with backports

# deb_sources POOL: prints the pool's sources.list
deb_sources()
{
	local main security release suites key=/usr/share/keyrings/debian-archive-keyring.gpg
	local opts=''

	[ -r "$key" ] && opts="[signed-by=$key] "
	# One archive holds every release: take its address from any of them.
	main=$(deb_site '^(bookworm|trixie|forky|stable|testing|unstable|sid)$')
	security=$(deb_site '-security$')
	[ -n "$main" ] || return 1
	release=bookworm
	suites='bookworm bookworm-updates bookworm-backports'
	case $1 in
	bookworm) suites='bookworm bookworm-updates' ;;
	trixie) release=trixie suites='trixie trixie-updates trixie-backports' ;;
	esac
	for suite in $suites; do
		echo "deb $opts$main $suite main"
	done
	[ -z "$security" ] || echo "deb $opts$security $release-security main"
}

# deb_site REGEX: prints the address from which this machine's apt takes a suite of that name
deb_site()
{
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' \
		2> /dev/null | awk -v re="$1" '$1 ~ re { print $2; exit }'
}

# deb_apt POOL TOOL ARG...: runs apt-get or apt-cache on the pool's state
deb_apt()
{
	local state=$vm_dir/apt/$1 tool=$2 arch=amd64 default=
	local opts

	case $1 in
	backports) default=bookworm-backports ;;
	arm64) default=bookworm-backports arch=arm64 ;;
	trixie) default=trixie-backports ;;
	esac
	opts=(-q
		-o "Dir::State=$state/state" -o "Dir::State::status=$state/status"
		-o "Dir::Cache=$state/cache" -o "Dir::Etc::sourcelist=$state/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null
		-o Dir::Etc::preferences=/dev/null
		-o "APT::Architecture=$arch" -o "APT::Architectures::=$arch"
		${default:+-o "APT::Default-Release=$default"} -o APT::Install-Recommends=0
		-o Acquire::Languages=none -o Acquire::Retries=3
		-o "APT::Sandbox::User=$(id -un)")
	shift 2
	"$tool" "${opts[@]}" "$@"
}

# deb_locked POOL FUNCTION ARG...: one process at a time uses a pool's state
deb_locked()
{
	local lock err

	mkdir -p "$vm_dir" && exec {lock}> "$vm_dir/lock-apt-$1" ||
		{ deb_error="cannot write $vm_dir"; return 1; }
	flock "$lock"
	"$2" "$1" "${@:3}"
	err=$?
	exec {lock}>&-
	return "$err"
}

# deb_lists POOL LOG PACKAGE: fetches the package lists, unless they are less than an hour old
deb_lists()
{
	deb_locked "$1" deb_update "${@:2}"
}

deb_update()
{
	local state=$vm_dir/apt/$1

	mkdir -p "$state/state/lists/partial" "$state/cache/archives/partial" &&
	: > "$state/status" || { deb_error="cannot write $vm_dir"; return 1; }
	if ! deb_sources "$1" > "$state/sources.list.new"; then
		deb_error="apt's sources name no Debian archive, so there is no package $3"
		return 1
	fi
	if cmp -s "$state/sources.list.new" "$state/sources.list" &&
	   [ -n "$(find "$state/updated" -mmin -60 2> /dev/null)" ]; then
		return 0
	fi
	mv "$state/sources.list.new" "$state/sources.list"
	# A suite that a mirror lacks makes the whole update fail, though the others came. So check
	# afterwards whether the packages are found.
	if deb_apt "$1" apt-get update >> "$2" 2>&1; then
		touch "$state/updated"
	fi
	return 0
}

# deb_closure POOL FILTER PACKAGE...: prints, as NAME=VERSION lines, the packages that an empty
# machine would need for these, as far as their names match FILTER
deb_closure()
{
	local pool=$1 filter=$2

	shift 2
	deb_apt "$pool" apt-get install --print-uris -y --no-install-recommends "$@" |
		sed -n "s/^'[^']*' \([^_ ]*\)_\([^_ ]*\)_[a-z0-9]*\.deb .*/\1=\2/p" |
		sed 's/%3a/:/' | grep -E "^($filter)=" | sort -u
}

# deb_tree POOL TREE FILTER PACKAGE...: unpacks the packages and their dependencies that match
# FILTER into the directory TREE, and lists them in the file TREE/.packages. Does nothing if TREE
# exists. Sets $deb_error on failure.
deb_tree()
{
	[ -d "$2" ] || deb_locked "$1" deb_unpack "${@:2}"
}

deb_unpack()
{
	local pool=$1 tree=$2 filter=$3 log=$vm_dir/apt-$1.log new=$2.new deb tool
	local -a list

	shift 3
	[ -d "$tree" ] && return 0	# by another process
	for tool in apt-get apt-cache dpkg-deb; do
		command -v "$tool" > /dev/null || { deb_error="$tool is not there"; return 1; }
	done
	: > "$log"
	deb_update "$pool" "$log" "$1" || return 1
	mapfile -t list < <(deb_closure "$pool" "$filter" "$@" 2>> "$log")
	if [ ${#list[@]} -eq 0 ]; then
		deb_error="apt's sources have no package $1 for the pool $pool (see $log)"
		return 1
	fi
	rm -rf "$new" "$new.debs"
	mkdir -p "$new.debs" "$new" || { deb_error="cannot write $vm_dir"; return 1; }
	if ! (cd "$new.debs" && deb_apt "$pool" apt-get download "${list[@]}") >> "$log" 2>&1; then
		deb_error="cannot download ${list[*]} (see $log)"
		rm -rf "$new" "$new.debs"
		return 1
	fi
	for deb in "$new.debs"/*.deb; do
		if ! dpkg-deb --fsys-tarfile "$deb" |
		     tar -x -C "$new" --no-same-owner --keep-directory-symlink 2>> "$log"; then
			deb_error="cannot unpack ${deb##*/} (see $log)"
			rm -rf "$new" "$new.debs"
			return 1
		fi
	done
	printf '%s\n' "${list[@]}" > "$new/.packages"
	rm -rf "$new.debs"
	mv "$new" "$tree"	# last, so that a tree that exists is complete
}
