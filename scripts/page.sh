#!/usr/bin/env bash
# scripts/page.sh: builds the page of `report` again from its lockfile, checks that report/page/dist is
# what comes out, and runs its tests in Chromium and Firefox. `scripts/page.sh --write` also keeps what was built.
#
# Installs what is missing, or without root says why and ends well; without Chromium (OPLENS_CHROMIUM,
# by default /usr/bin/chromium) the tests in a browser are skipped, without Firefox (OPLENS_FIREFOX, by default
# /usr/bin/firefox-esr) those in it. Building oplens needs none of them.
# OPLENS_BIN: where `report` and `prof` are, whose pages are tested too (build/release/bin).
set -euo pipefail
SECONDS=0
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# By the programs, not by the packages: Node.js may be another one than Debian's.
if [ "$(id -u)" -eq 0 ]; then
  # What cannot be installed is told where it is missed.
  command -v npm >/dev/null || (need_packages page) || true
  { [ -x "${OPLENS_CHROMIUM:-/usr/bin/chromium}" ] && [ -x "${OPLENS_FIREFOX:-/usr/bin/firefox-esr}" ]; } ||
    (need_packages browser) || true
fi
cd report/page

for program in node npm; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: no $program (Debian: nodejs, npm); report/page/dist is taken as it is"
    exit 0
  fi
done
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  echo "skipped: Node $(node --version) is older than 20; report/page/dist is taken as it is"
  exit 0
fi
export npm_config_omit_lockfile_registry_resolved=true

echo "== packages"
if ! npm ci --ignore-scripts --no-audit --no-fund; then
  echo "skipped: the packages of the lockfile cannot be fetched; report/page/dist is taken as it is"
  exit 0
fi

echo "== types"
node_modules/.bin/tsc --noEmit

echo "== build"
rm -rf test/out/dist
node build.mjs test/out/dist
if [ "${1-}" = --write ]; then cp test/out/dist/* dist/; fi
for file in page.html LICENSES.txt; do
  cmp "test/out/dist/$file" "dist/$file" || {
    echo "report/page/dist/$file is not what the sources give: run scripts/page.sh --write" >&2
    exit 1
  }
done

echo "== HTML"
# With data: the markers alone are no valid title.
node test/samples.mjs test/out hostile
node_modules/.bin/html-validate test/out/hostile.html

echo "== tests"
if [ ! -x "${OPLENS_CHROMIUM:-/usr/bin/chromium}" ]; then
  echo "tests in a browser are skipped: no ${OPLENS_CHROMIUM:-/usr/bin/chromium} (Debian: chromium)"
fi
if [ ! -x "${OPLENS_FIREFOX:-/usr/bin/firefox-esr}" ]; then
  echo "tests in Firefox are skipped: no ${OPLENS_FIREFOX:-/usr/bin/firefox-esr} (Debian: firefox-esr)"
fi
node --test --test-concurrency=1 --test-reporter=spec test/*.test.mjs
echo "the page took $SECONDS s"
