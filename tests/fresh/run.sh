#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the README for a new user: makes a minimal Debian 12 root (the base system, make and git,
# nothing else), clones HEAD into it and runs `make demo` and `make check` there. So a missing
# install step cannot be hidden by what this machine has.
#
# Usage: tests/fresh/run.sh [TARGET...]        (default: demo check; as root)
#
# KEEP=1 keeps the root; TMPDIR says where it is made (default /var/tmp, 8 GB needed).
# MIRROR overrides the archive, which otherwise is the one apt is configured with here.
# It changes nothing outside that root and build/fresh/, which gets logs and results.
set -eu -o pipefail
cd "$(dirname "$0")/../.."

SUITE=bookworm
NEED_MB=8000
say() { echo "check-fresh: $*"; }
die() { echo "check-fresh: $*" >&2; exit 1; }

[ $# -gt 0 ] || set -- demo check
[ "$(id -u)" = 0 ] || die "a root file system can be made by root only: sudo make check-fresh"
for c in debootstrap git unshare chroot mount; do
	command -v "$c" >/dev/null || die "$c: not found: tests/install-deps.sh fresh installs it"
done

# URI, suite and components of Debian's archives for our release, from apt's own lists.
archives()
{
	if [ -n "${MIRROR:-}" ]; then
		echo "$MIRROR $SUITE"
		return
	fi
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
			'Created-By: Packages' 2>/dev/null |
		awk -v s="$SUITE" '$3 == "main" && ($2 == s || $2 == s "-updates" ||
			$2 == s "-security") { print $1, $2 }' | sort -u
}

list=$(archives)
mirror=$(awk -v s="$SUITE" '$2 == s { print $1; exit }' <<<"$list")
[ -n "$mirror" ] ||
	die "apt knows no archive of $SUITE here: run apt-get update, or give MIRROR=http://..."

results=${BUILD:-build}/fresh
mkdir -p "$results"
top=$(mktemp -d "${TMPDIR:-/var/tmp}/xsprof-fresh.XXXXXX")
root=$top/root
mkdir "$root"
chmod 755 "$top"

cleanup()
{
	# All mounts were made in a namespace that ended with its last process; should one
	# have leaked all the same, --one-file-system keeps rm from following it.
	if [ -n "${KEEP:-}" ]; then
		say "kept: $root"
	else
		rm -rf --one-file-system "$top" || say "$top: could not be removed wholly"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

free=$(df -Pm "$top" | awk 'NR == 2 { print $4 }')
[ "$free" -ge "$NEED_MB" ] ||
	die "$top: $free MB free, $NEED_MB needed: name another folder by TMPDIR=..."
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
	say "note: what is tested is HEAD; changes that are not committed are not in it"
fi

start=$SECONDS
say "debootstrap --variant=minbase --include=make,git $SUITE"
include=make,git
case $mirror in
https:*) include=$include,ca-certificates ;;
esac
# The host's proxies, credentials and retries for the archive, and no other setting of its apt.
apt-config dump |
	grep -E '^Acquire::(https?|Retries|ForceIPv[46]|Check-Valid-Until|Check-Date)[: ]' \
	>"$top/apt.conf" || true
proxy=$(apt-config shell p Acquire::http::Proxy | sed -n "s/^p='\(.*\)'$/\1/p")
if ! http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase --include="$include" \
		"$SUITE" "$root" "$mirror" >"$results/debootstrap.log" 2>&1; then
	tail -n 5 "$results/debootstrap.log"
	die "debootstrap failed: see $results/debootstrap.log"
fi
cp "$top/apt.conf" "$root/etc/apt/apt.conf.d/90host"
for f in /etc/apt/auth.conf /etc/apt/auth.conf.d; do
	if [ -e "$f" ]; then
		cp -a "$f" "$root/etc/apt/"
	fi
done
sed 's/.*/deb & main/' <<<"$list" >"$root/etc/apt/sources.list"
for f in /etc/resolv.conf /etc/hosts; do
	if [ -e "$f" ]; then
		cp -L "$f" "$root$f"
	fi
done

head=$(git rev-parse HEAD)
say "git clone of ${head:0:12} (bare root made in $((SECONDS - start)) s)"
git clone -q --no-local "file://$(git rev-parse --show-toplevel)" "$root/root/xsprof"
git -C "$root/root/xsprof" checkout -q --detach "$head"

# /proc, /sys, /dev as a container has them. Everything ends with this shell: it is process
# 1 of its PID namespace, and its mounts are seen by nobody else.
cat >"$top/inside" <<'END'
set -eu
root=$1
shift
# A root that is a mount of its own: namespaces can be made in it, as on a machine.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755,size=64k tmpfs "$root/dev"
for n in null zero full random urandom tty; do
	: >"$root/dev/$n"
	mount --bind "/dev/$n" "$root/dev/$n"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for n in stdin:0 stdout:1 stderr:2; do
	ln -s "/proc/self/fd/${n#*:}" "$root/dev/${n%:*}"
done
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root USER=root \
	TERM="${TERM:-dumb}" LANG=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} \
	${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} \
	/bin/bash -c 'cd /root/xsprof && exec "$@"' bash "$@"
END

status=0
for target in "$@"; do
	say "make $target"
	t=$SECONDS
	rc=0
	unshare --mount --propagation private --pid --fork --kill-child \
		/bin/bash "$top/inside" "$root" make "$target" </dev/null 2>&1 |
		tee "$results/$target.log" || rc=${PIPESTATUS[0]}
	say "make $target: exit status $rc, $((SECONDS - t)) s; log: $results/$target.log"
	[ "$rc" = 0 ] || status=1
done

# What a user would now look at.
for d in demo build/check; do
	if [ -d "$root/root/xsprof/$d" ]; then
		rm -rf "${results:?}/${d##*/}"
		cp -a "$root/root/xsprof/$d" "$results/${d##*/}"
	fi
done
if [[ " $* " = *" check "* ]]; then
	grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$results/check.log" | tail -n 1 ||
		say "make check printed no closing line"
fi
exit "$status"
