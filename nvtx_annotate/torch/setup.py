"""pip install --no-build-isolation --no-deps ./nvtx_annotate/torch: a wheel with the library for the PyTorch
that is there, and the sources, from which it builds itself another for another."""
import glob
import os
import shutil
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from oplens_annotate import _build  # noqa: E402


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        if not os.path.exists(os.path.join(ROOT, "nvtx_annotate", "emitter.cc")):
            sys.exit(f"oplens_annotate is built inside the source tree of oplens, {ROOT} is none")
        try:
            import torch  # noqa: F401
        except ImportError as error:
            sys.exit(f"oplens_annotate is built for the PyTorch that is there, and there is none ({error}): "
                     "install it first, and use pip install --no-build-isolation")
        package = os.path.join(self.build_lib, "oplens_annotate")
        for name in _build.source_files(ROOT):
            target = os.path.join(package, "source", name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, name), target)
        try:
            _build.wheel_libraries(package, ROOT)
        except _build.BuildError as error:
            sys.exit(f"oplens_annotate: {error}")


class PlatformWheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        python, abi, machine = super().get_tag()
        # The libraries know nothing of Python, unless a file of theirs says so.
        if not glob.glob(os.path.join(HERE, "python_*.cc")):
            python, abi = "py3", "none"
        return python, abi, machine


# Nothing is written into the source tree.
work = tempfile.mkdtemp(prefix="oplens-wheel-")
try:
    setup(cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel},
          options={"build": {"build_base": work}, "egg_info": {"egg_base": work}})
finally:
    shutil.rmtree(work, ignore_errors=True)
