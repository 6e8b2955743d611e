#!/usr/bin/env bash
# deb_test.sh pack BUILD_DIR SOURCE_DIR: builds the Debian packages of a build, looks at what they hold and lets
# lintian look. deb_test.sh install BUILD_DIR SOURCE_DIR [all]: installs them into a fresh system, runs the
# programs there and removes them again; with `all` also those whose dependencies are large. deb_test.sh inside
# BUILD_DIR SOURCE_DIR all|"" ROOT is what the latter calls in the new system.
#
# Exit code 77, with the reason: a tool, the rights or the network are missing.
set -euo pipefail
stage=$1
build=$(cd "$2" && pwd)
source=$(cd "$3" && pwd)
all=${4-}
root=${5-}
packages=$build/test-tmp/deb/packages
work=$build/test-tmp/deb/$stage
prefix=$(sed -n 's/^OPLENS_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "wrong: $*"
  exit 1
}
rm -rf "$work"
mkdir -p "$work"

# The package file of a name.
package() { echo "$packages/$1"_*.deb; }

# in_package NAME PATH...: whether the package has all of these.
in_package() {
  local name=$1 path
  shift
  dpkg-deb -c "$(package "$name")" | awk '{print $6}' >"$work/$name.list"
  for path; do
    grep -qx "\./$path" "$work/$name.list" || fail "$name lacks $path"
  done
}

pack() {
  local tool name
  for tool in cpack dpkg-deb dpkg-shlibdeps gzip; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
  done
  rm -rf "$packages"
  (cd "$build" && umask 022 && cpack -G DEB -B "$packages" >"$work/cpack.log" 2>&1) ||
    { cat "$work/cpack.log"; exit 1; }
  rm -rf "$packages/_CPack_Packages"

  for name in oplens "$prefix"{parse,prof,record,report}; do
    in_package oplens "usr/bin/$name" "usr/share/man/man1/$name.1.gz" \
      "usr/share/bash-completion/completions/$name" "usr/share/zsh/vendor-completions/_$name"
  done
  in_package oplens usr/share/doc/oplens/{README.md,copyright,changelog.Debian.gz,docs/views.md}
  in_package liboplens-dev usr/include/oplens/ops/op_model.h usr/lib/cmake/oplens/oplensConfig.cmake \
    usr/lib/liboplens_ops.a usr/share/doc/liboplens-dev/copyright
  if [ -e "$build/lib/liboplens_torch.so" ]; then
    in_package oplens-torch usr/lib/liboplens_torch.so usr/lib/oplens/oplens_annotate/__init__.py \
      usr/lib/python3/dist-packages/oplens_annotate
    dpkg-deb -f "$(package oplens-torch)" Depends | grep libtorch >/dev/null ||
      fail "oplens-torch does not depend on libtorch"
  fi
  dpkg-deb -f "$(package oplens)" Depends | grep libsqlite3-0 >/dev/null ||
    fail "oplens does not depend on what it is linked with"
  # No file is of two packages.
  cat "$work"/*.list | grep -v '/$' | sort | uniq -d | { ! grep .; } || fail "several packages have these"

  command -v lintian >/dev/null || { echo "lintian is not installed: packages not checked by it"; return 0; }
  # Root's own complaint about itself is not of the packages.
  lintian --allow-root --fail-on error --tag-display-limit 0 "$packages"/*.deb >"$work/lintian.log" 2>&1 ||
    { cat "$work/lintian.log"; fail "lintian finds errors"; }
  grep -c '^W:' "$work/lintian.log" | sed 's/$/ warnings of lintian/' || true
}

# What is done in the fresh system, whose root is $root.
inside() {
  echo "inside begins"
  cp "$source/examples/data/demo.sql" "$root/tmp/demo.sql"
  chroot "$root" "${prefix}prof" --quiet --csv /tmp/demo.sql >"$work/kernels.csv"
  cmp "$work/kernels.csv" <("$build/bin/prof" --quiet --csv "$source/examples/data/demo.sql") ||
    fail "prof of the package prints something else"
  chroot "$root" "${prefix}parse" --check /tmp/demo.sql | grep kernels >/dev/null || fail "parse --check"
  chroot "$root" "${prefix}report" --quiet -o /tmp/demo.html /tmp/demo.sql || fail report
  chroot "$root" "${prefix}record" --version >/dev/null || fail record
  if [ -e "$root/usr/bin/oplens" ]; then
    chroot "$root" oplens /tmp/demo.sql >"$work/screen.txt" || fail oplens
  fi
  gzip -dc "$root/usr/share/man/man1/${prefix}prof.1.gz" | grep '^\.SH EXAMPLES' >/dev/null || fail "manual page"
  if [ -n "$all" ] && [ -e "$(package oplens-torch)" ]; then
    chroot "$root" python3 -c "import oplens_annotate" || fail "the Python package"
  fi
  chroot "$root" sh -c "dpkg-query -W -f '\${Package}\n' | grep oplens | xargs dpkg --purge" \
    >"$work/purge.log" 2>&1 || { cat "$work/purge.log"; fail purge; }
  if grep -i warning "$work/purge.log"; then fail "something is left"; fi
  if find "$root/usr" -name '*oplens*' | grep .; then fail "these are left"; fi
}

install() {
  [ -e "$(package oplens)" ] || skip "there are no packages: run the stage pack"
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
  [ "$(id -u)" -eq 0 ] || skip "only root can set up a system here"
  unshare -m true 2>/dev/null || skip "file systems cannot be mounted here"
  local suite files names
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mapfile -t files < <(grep -lsw "$suite" /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources})
  [ ${#files[@]} -gt 0 ] || skip "the system has no list of packages of $suite"
  names=$(package oplens)
  if [ -n "$all" ]; then names=$(echo "$packages"/*.deb | tr ' ' ','); fi
  local self
  self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
  if ! mmdebstrap --variant=essential --mode=root --format=null --include="$names" \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --aptopt='Acquire::Languages "none"' --aptopt='Apt::Install-Recommends "false"' \
    --customize-hook="'$self' inside '$build' '$source' '$all' \"\$1\"" \
    "$suite" /dev/null "${files[@]}" >"$work/mmdebstrap.log" 2>&1; then
    if grep -qE "Failed to fetch|Could not resolve|Unable to connect" "$work/mmdebstrap.log"; then
      skip "packages of $suite cannot be fetched: $(grep -m1 -oE 'Failed to fetch.*' "$work/mmdebstrap.log")"
    fi
    tail -n 40 "$work/mmdebstrap.log"
    # What fails before our packages are unpacked is the system's.
    grep -qE "inside begins|Unpacking [a-z-]*oplens|unmet dependencies" "$work/mmdebstrap.log" ||
      skip "no system can be set up here: $(tail -n 1 "$work/mmdebstrap.log")"
    fail "the packages do not install and run"
  fi
  grep -qx "inside ok" "$work/mmdebstrap.log" || fail "the check inside did not run"
}

case "$stage" in
  pack) pack ;;
  install) install ;;
  inside) inside ;;
  *) fail "deb_test.sh pack|install BUILD_DIR SOURCE_DIR" ;;
esac
echo "$stage ok"
