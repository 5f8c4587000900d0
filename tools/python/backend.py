# SPDX-License-Identifier: LGPL-2.1-only
"""What builds the package, for pip and others (PEP 517): setuptools, with the setup.py that is
beside this file, and not at the top of the sources."""
from setuptools.build_meta import _BuildMetaBackend


class Backend(_BuildMetaBackend):
    """setuptools' own, but for the place of setup.py."""

    def run_setup(self, setup_script="setup.py"):
        super().run_setup(setup_script="tools/python/" + setup_script)


_backend = Backend()
get_requires_for_build_wheel = _backend.get_requires_for_build_wheel
get_requires_for_build_sdist = _backend.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = _backend.prepare_metadata_for_build_wheel
build_wheel = _backend.build_wheel
build_sdist = _backend.build_sdist
