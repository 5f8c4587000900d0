# SPDX-License-Identifier: LGPL-2.1-only
"""The parts of the Python package that are no Python: `make install` into the package.

By itself, as by `pip wheel .`, the build is what make makes here, for this machine. With
XSPROF_WHEEL=portable, as in `make wheel`, zig compiles for an old glibc, and other libraries are
linked in: see Documentation/python.rst. All is built below $BUILD/wheel.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "wheel"
PORTABLE = os.environ.get("XSPROF_WHEEL") == "portable"
GLIBC = "2.28"
MACHINE = platform.machine()

# What is linked into a portable tool: Debian's packages, their archives and headers, in the order
# of the linker. Those of elfutils, and what it needs, fit into programs only.
DEVEL = {
    "libtracefs-dev": ("libtracefs.a", ["tracefs"]),
    "libtraceevent-dev": ("libtraceevent.a", ["traceevent"]),
    "libdw-dev": ("libdw.a", ["dwarf.h", "elfutils"]),
    "libelf-dev": ("libelf.a", ["libelf.h", "gelf.h"]),
    "liblzma-dev": ("liblzma.a", []),
    "libbz2-dev": ("libbz2.a", []),
    "libzstd-dev": ("libzstd.a", ["zstd.h", "zstd_errors.h"]),
    "zlib1g-dev": ("libz.a", ["zlib.h", "zconf.h"]),
}


def say(command):
    """What a command prints, without its end of line."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def version():
    """The one that make has: the module's."""
    return re.search(r'^MODULE_VERSION\("(.*)"\);$', (TOP / "kmod/main.c").read_text(), re.M)[1]


def archive(package):
    """Path of its archive."""
    name = DEVEL[package][0]
    path = say(["gcc", "-print-file-name=" + name])
    if not os.path.isabs(path):
        sys.exit(f"xsprof: {name}: not found: tests/install-deps.sh wheel installs {package}")
    return path


def link_headers(folder):
    """Headers of those packages alone: the C library's own are those of zig."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    places = ["/usr/include", "/usr/include/" + say(["gcc", "-print-multiarch"])]
    for package, (_, names) in DEVEL.items():
        for name in names:
            found = [p for p in (f"{place}/{name}" for place in places) if os.path.exists(p)]
            if not found:
                sys.exit(f"xsprof: {name}: not found: tests/install-deps.sh wheel installs "
                         f"{package}")
            (folder / name).symlink_to(found[0])


def portable():
    """Words for make."""
    import ziglang

    zig = pathlib.Path(ziglang.__file__).with_name("zig")
    headers = BUILD / "include"
    link_headers(headers)
    a = {package: archive(package) for package in DEVEL}
    elf = [a[p] for p in ("libdw-dev", "libelf-dev", "liblzma-dev", "libbz2-dev", "zlib1g-dev")]
    return [
        f"CC={zig} cc -target {MACHINE}-linux-gnu.{GLIBC}", "CCACHE=", "AR=ar", "OBJCOPY=objcopy",
        "CFLAGS=-O2", "LDFLAGS=-s -Wl,--build-id", f"CPPFLAGS=-I{headers}",
        f"TRACEFS_CFLAGS=-I{headers}/tracefs -I{headers}/traceevent",
        f"TRACEFS_LIBS={a['libtracefs-dev']} {a['libtraceevent-dev']}",
        f"ZSTD_LIBS={a['libzstd-dev']}", f"ZLIB_LIBS={a['zlib1g-dev']}",
        "DW_CFLAGS=", f"DW_LIBS={' '.join(elf)}", "SO_DW_LIBS=",
    ]


def make(root):
    """What `make install` installs, below root/usr/local."""
    command = ["make", "-C", str(TOP), "install", f"BUILD={BUILD}", f"DESTDIR={root}",
               "PREFIX=/usr/local"]
    environment = dict(os.environ)
    if PORTABLE:
        command += portable()
        for name in ("GLOBAL", "LOCAL"):
            environment.setdefault(f"ZIG_{name}_CACHE_DIR", str(BUILD / "zig"))
    if "jobserver" not in environment.get("MAKEFLAGS", ""):
        command.append(f"-j{len(os.sched_getaffinity(0))}")
    subprocess.run(command, check=True, env=environment)


def copy_libraries(source, target):
    """Each once, by the name that programs are linked to: a wheel has no symbolic links."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.a", "*.so.*", "*-user.so",
                                                                  "*-trace.so", "pkgconfig"))
    for path in source.glob("*.so.?"):
        shutil.copy2(path, target)
    (target / "pkgconfig").mkdir()
    for path in source.glob("pkgconfig/*.pc"):
        # There is no archive, and so nothing private.
        text = re.sub(r"(?m)^\w+\.private:.*\n", "", path.read_text())
        text = text.replace("/usr/local", "${pcfiledir}/../..")
        text = re.sub(r"-l(\S+)", r"-Wl,-rpath,${libdir} -l:lib\1.so." + version()[0], text)
        (target / "pkgconfig" / path.name).write_text(text)


def copy_notices(folder):
    """Licenses of what is linked in, and of which sources it was built."""
    folder.mkdir()
    lines = ["Linked into bin/xsprof; zstd and zlib into lib/libxsprof-trace.so.0 as well.",
             "elfutils is under the GNU GPL, version 2 or later, here. Built by Debian from:", ""]
    for package in DEVEL:
        shutil.copy(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")
        lines.append(say(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}",
                          package]))
    (folder / "README.txt").write_text("\n".join(dict.fromkeys(lines)) + "\n")


class BuildPy(build_py):
    """Python modules, then the rest."""

    def run(self):
        super().run()
        out = pathlib.Path(self.build_lib)
        package, root = out / "xsprof", BUILD / "root"
        shutil.rmtree(root, ignore_errors=True)
        make(root)
        installed = root / "usr/local"
        for name in ("bin", "lib", "include", "licenses"):
            shutil.rmtree(package / name, ignore_errors=True)
        (package / "bin").mkdir()
        shutil.copy2(installed / "bin/xsprof", package / "bin")
        shutil.copytree(installed / "include", package / "include")
        copy_libraries(installed / "lib", package / "lib")
        if PORTABLE:
            copy_notices(package / "licenses")
        shutil.copy(TOP / "tools/python/xsprof.pth", out)


class Package(Distribution):
    """With files of this machine, which no extension module is among."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """For any Python 3 of machines like this one."""

    def get_tag(self):
        libc = "manylinux_" + GLIBC.replace(".", "_") if PORTABLE else "linux"
        return "py3", "none", f"{libc}_{MACHINE}"


class Sources(sdist):
    """All that git has; of what is no repository, what is there."""

    def make_release_tree(self, base_dir, files):
        if (TOP / ".git").exists():
            names = say(["git", "-C", str(TOP), "ls-files", "-z"]).split("\0")
            files = [name for name in names if name and os.path.isfile(name)]
        super().make_release_tree(base_dir, files)


def manual():
    """Pages, where man looks for those of what is in PATH."""
    pages = {}
    for page in sorted((TOP / "Documentation/man").glob("*.[1-8]")):
        pages.setdefault("share/man/man" + page.suffix[1:], []).append(str(page.relative_to(TOP)))
    pages["share/bash-completion/completions"] = ["tools/completion/xsprof"]
    return list(pages.items())


os.chdir(TOP)
(BUILD / "python").mkdir(parents=True, exist_ok=True)
setup(version=version(), distclass=Package, data_files=manual(),
      cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel, "sdist": Sources},
      options={"build": {"build_base": str(BUILD / "python")},
               "egg_info": {"egg_base": str(BUILD / "python")}})
