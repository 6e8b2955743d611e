"""Builds the library for the PyTorch that is there, from the sources that lie in this package: for a wheel,
and at first use where none fits."""
import concurrent.futures
import fcntl
import glob
import hashlib
import importlib.util
import os
import platform
import shutil
import struct
import subprocess
import sysconfig
import tempfile

from . import _library

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(_PACKAGE, "source")  # The root of the project, or a copy of nvtx_annotate/ in it.
PLAIN_LIBRARY = "liboplens_annotate.so.1"
PRELOAD_LIBRARY = "liboplens_annotate_preload.so"


class BuildError(Exception):
    """Why nothing was built, in one line."""


def source_files(root=SOURCES):
    """The C++ files, headers too, from `root`; those of the wheel, and what a library is known by."""
    folders = ("nvtx_annotate", "nvtx_annotate/vocabulary", "nvtx_annotate/torch")
    return [os.path.relpath(path, root) for folder in folders for kind in ("h", "cc")
            for path in sorted(glob.glob(os.path.join(root, folder, f"*.{kind}")))]


def digest(root=SOURCES):
    """Names the sources, so that a library of others is not taken for theirs. "" where there are none."""
    names = source_files(root)
    total = hashlib.sha256()
    for name in names:
        with open(os.path.join(root, name), "rb") as file:
            total.update(name.encode() + b"\0" + file.read() + b"\0")
    return total.hexdigest()[:16] if names else ""


def build_for_cache():
    """Builds the library for this PyTorch into the user's cache, unless it is there; its path."""
    import torch

    folder = _library.cache_folder()
    if not digest():
        raise BuildError(f"{SOURCES} has no sources")
    path = os.path.join(folder, _library.name_for(torch))
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
            # One process builds for all ranks of a job.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(path):
                build_torch_library(path)
    except OSError as error:
        raise BuildError(str(error)) from error
    return path


def build_torch_library(path, root=SOURCES):
    """Builds the library of the operators for the PyTorch that this Python has."""
    import torch

    home = os.path.dirname(os.path.abspath(torch.__file__))
    include = os.path.join(home, "include")
    library = os.path.join(home, "lib", "libtorch_cpu.so")
    if not os.path.exists(os.path.join(include, "ATen", "record_function.h")):
        raise BuildError(f"{include} has no headers of PyTorch")
    files = [name for name in source_files(root) if name.endswith(".cc") and not name.endswith("/preload.cc")]
    abi = int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))
    # NDEBUG: see observer.cc.
    flags = [f"-D_GLIBCXX_USE_CXX11_ABI={abi}", f'-DOPLENS_TORCH_SONAME="{_soname(library)}"', "-DNDEBUG"]
    folders = [include, os.path.join(include, "torch", "csrc", "api", "include"), _nvtx_include()]
    python = sysconfig.get_paths()["include"]
    if os.path.exists(os.path.join(python, "Python.h")):
        folders.append(python)
    for folder in folders:
        if os.path.realpath(folder) != "/usr/include":
            flags += ["-isystem", folder]
    # PyTorch calls into it until the process ends.
    links = ["-Wl,-z,nodelete", "-L" + os.path.dirname(library), "-ltorch", "-ltorch_cpu", "-lc10", "-ldl"]
    _compile(path, root, files, flags, links)


def build_plain_library(path, root=SOURCES):
    """Builds the library without operators."""
    files = [name for name in source_files(root)
             if name.endswith(".cc") and not name.startswith("nvtx_annotate/torch/")]
    _compile(path, root, files, ["-isystem", _nvtx_include()],
             [f"-Wl,-soname,{PLAIN_LIBRARY}", "-ldl"])


def build_preload_library(path, root=SOURCES):
    """Builds the library for LD_PRELOAD."""
    _compile(path, root, ["nvtx_annotate/torch/preload.cc"],
             ["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"], ["-Wl,--as-needed", "-ldl"])


def _compile(path, root, files, flags, links):
    """Compiles all, links them, and puts the result in its place when it is whole."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise BuildError("there is no C++ compiler: neither $CXX nor c++, g++ or clang++")
    # Names are relative to `root`, so that the same sources make the same commands wherever they lie.
    # As the project's own build: cmake/OplensTargets.cmake, oplens_compact.
    start = compiler.split() + ["-std=c++20", "-O2", "-fno-plt", "-fPIC", "-fvisibility=hidden",
                                "-fvisibility-inlines-hidden", "-I."] + flags + os.environ.get("CXXFLAGS", "").split()
    path = os.path.abspath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="oplens-build-") as work:
        commands, objects = [], []
        for *others, last in _shares(files, os.cpu_count() or 1):
            objects.append(os.path.join(work, f"{len(objects)}.o"))
            included = [word for name in others for word in ("-include", name)]
            commands.append(start + included + ["-c", last, "-o", objects[-1]])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(lambda command: _run(command, root), commands))
        unfinished = f"{path}.{os.getpid()}"
        _run(start + ["-shared", "-o", unfinished] + objects + links, root)
        os.replace(unfinished, path)


def _shares(files, count):
    """The files of each folder in at most `count` lists, each of which is compiled as one file: headers of PyTorch
    take longer than what includes them."""
    folders = {}
    for name in files:
        folders.setdefault(os.path.dirname(name), []).append(name)
    return [names[i::count] for names in folders.values() for i in range(min(count, len(names)))]


def _run(command, folder):
    try:
        result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{command[0]} cannot be started ({error.strerror})") from error
    if result.returncode != 0:
        errors = [line for line in result.stdout.splitlines() if "error" in line] or result.stdout.splitlines()
        raise BuildError(f"{command[0]}: {errors[0] if errors else 'failed'}")


def _nvtx_include():
    """The folder with NVTX's headers: of the CUDA Toolkit, of pip's package, of the system."""
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    nvcc = shutil.which("nvcc")
    if nvcc:
        toolkits.append(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))))
    folders = [os.path.join(toolkit, "include") for toolkit in toolkits if toolkit]
    nvidia = importlib.util.find_spec("nvidia")
    for root in (nvidia.submodule_search_locations or []) if nvidia else []:
        # pip install nvidia-nvtx-cu12, nvidia-nvtx
        folders += [os.path.join(root, name, "include") for name in ("nvtx", "cu13", "cu14")]
    for folder in folders + ["/usr/local/include", "/usr/include"]:
        if os.path.exists(os.path.join(folder, "nvtx3", "nvToolsExtPayload.h")):
            return folder
    raise BuildError("NVTX's headers (nvtx3/nvToolsExtPayload.h) were not found: set CUDA_HOME to a CUDA Toolkit of "
                     "version 12 or newer, or pip install nvidia-nvtx-cu12")


def _soname(path):
    """The name by which programs load a library: DT_SONAME of an ELF file of 64 bits."""
    try:
        with open(path, "rb") as file:
            data = file.read(64)
            table, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
            file.seek(table)
            headers = [struct.unpack_from("<IIQQQQ", file.read(size)) for _ in range(count)]
            dynamic = next(header for header in headers if header[0] == 2)
            file.seek(dynamic[2])
            entries = dict(reversed(list(struct.iter_unpack("<qQ", file.read(dynamic[5])))))
            strings = next(entries[5] - header[3] + header[2] for header in headers
                           if header[0] == 1 and header[3] <= entries[5] < header[3] + header[5])
            file.seek(strings + entries[14])
            return file.read(256).split(b"\0")[0].decode()
    except (OSError, KeyError, StopIteration, struct.error) as error:
        raise BuildError(f"{path} cannot be read ({error})") from error


def wheel_libraries(folder, root=SOURCES):
    """Builds what a wheel holds."""
    import torch

    build_torch_library(os.path.join(folder, _library.name_for(torch)), root)
    build_plain_library(os.path.join(folder, PLAIN_LIBRARY), root)
    if platform.system() == "Linux":
        build_preload_library(os.path.join(folder, PRELOAD_LIBRARY), root)
