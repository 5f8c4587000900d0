# SPDX-License-Identifier: GPL-2.0-only
#
# Starts a test of the wheel: builds it, sets $wheel. Source this after tap.sh.
[ "$(uname -m)" = x86_64 ] || skip "the wheel is for x86-64"
/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || skip "no venv of Debian's Python"
. tests/viewers/packages.sh
unset LD_PRELOAD PYTHONPATH VIRTUAL_ENV XSPROF_TORCH XSPROF_ONDEMAND XSPROF_LIBDIR XSPROF_WHEEL
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

wheel=$(tools/python/wheel.sh wheel 2>"$dir/log")
case $? in
0) ;;
77) skip "$(sed -n 's/^make wheel: //p' "$dir/log" | head -n 1)" ;;
*) sed 's/^/# /' "$dir/log"; echo "Bail out! no wheel"; exit 1 ;;
esac
wheel=$(realpath "$wheel")
# Another user must reach it too.
chmod 755 "$dir"

# venv FOLDER [OPTION...]: makes a virtual environment of $python with the wheel, sets $site
venv()
{
	local folder=$1

	shift
	"$python" -m venv "$@" "$folder" && "$folder/bin/pip" install -q --no-index "$wheel" &&
		site=$("$folder/bin/python" -c 'import xsprof; print(xsprof.__path__[0])')
}

# Runs its arguments as a user who is not root.
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$dir/home" "$@"
	else
		"$@"
	fi
}
mkdir "$dir/home" && chmod 777 "$dir/home"
