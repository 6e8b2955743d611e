# Sourced by the other scripts: goes to the root of the project and prepares a build.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Number of parallel jobs; OPLENS_JOBS overrides it.
job_count() { echo "${OPLENS_JOBS:-$(nproc)}"; }

# need_packages GROUP...: installs the packages of scripts/packages.txt that are missing. Without
# root it prints the command to run instead and stops.
need_packages() {
  command -v dpkg-query >/dev/null || {
    echo "not a Debian system: see scripts/packages.txt for the libraries that are needed" >&2
    return 0
  }
  local missing=() group name groups=" $* "
  while read -r name group; do
    case "$name" in '' | '#'*) continue ;; esac
    case "$groups" in *" $group "*) ;; *) continue ;; esac
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done <scripts/packages.txt
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ]; then
    echo "Missing packages. Install them, then run this again:" >&2
    echo "  sudo apt-get install -y ${missing[*]}" >&2
    exit 1
  fi
  echo "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure PRESET [CMake arguments]
configure() {
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  fi
  cmake --preset "$@"
}
