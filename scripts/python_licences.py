#!/usr/bin/env python3
"""Adds the licences of the libraries that auditwheel put into a wheel.

    python_licences.py WHEEL    of Debian's packages, each as licenses/PACKAGE.copyright beside the wheel's own
"""
import base64
import glob
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile


def packages_of(names):
    """Debian's packages of libraries such as libfmt-1a2b3c.so.9.1.0."""
    packages = set()
    for name in names:
        plain = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", name)
        found = glob.glob(f"/usr/lib/*/{plain}") + glob.glob(f"/lib/*/{plain}")
        if not found:
            sys.exit(f"{plain}: no such library here, so its licence is unknown")
        real = [str(pathlib.Path(path).resolve()) for path in found]
        # Where /lib is a link to /usr/lib, packages know their files by either name.
        paths = {variant for path in found + real for variant in (path, path.removeprefix("/usr"), "/usr" + path)}
        told = [subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True).stdout for path in sorted(paths)]
        owners = {text.split(":")[0] for text in told if text}
        if not owners:
            sys.exit(f"{plain}: no package has it, so its licence is unknown")
        packages |= owners
    return sorted(packages)


def main():
    wheel = pathlib.Path(sys.argv[1])
    with zipfile.ZipFile(wheel) as archive:
        files = {info: archive.read(info) for info in archive.infolist()}
    names = [info.filename for info in files]
    info_folder = next(name.split("/")[0] for name in names if ".dist-info/" in name)
    libraries = [name.split("/")[-1] for name in names if ".libs/" in name and ".so" in name]
    added = {}
    for package in packages_of(libraries):
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_bytes()
        added[f"{info_folder}/licenses/{package}.copyright"] = text
    record = f"{info_folder}/RECORD"
    lines = ""
    for name, text in added.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
        lines += f"{name},sha256={digest},{len(text)}\n"
    with tempfile.NamedTemporaryFile(dir=wheel.parent, suffix=".part", delete=False) as part:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for info, text in files.items():
                archive.writestr(info, text + lines.encode() if info.filename == record else text)
            for name, text in added.items():
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    pathlib.Path(part.name).chmod(0o644)
    pathlib.Path(part.name).replace(wheel)
    print(f"{wheel.name}: {len(libraries)} libraries, licences of {len(added)} packages")


if __name__ == "__main__":
    main()
