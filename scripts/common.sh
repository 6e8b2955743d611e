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

# first_python: the system's, if there is one.
first_python() {
  if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi
}

# cuda_headers: prints the folder with the headers of CUPTI, NVTX and CUDA's runtime where no CUDA Toolkit is installed:
# those of PyPI's wheels, unpacked once into build/python. Nothing where there is a toolkit.
cuda_headers() {
  local toolkit folder=$PWD/build/python/cuda-13.0
  for toolkit in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda "$(dirname "$(dirname "$(command -v nvcc)")")"; do
    if [ -e "$toolkit/include/cupti.h" ] || [ -e "$toolkit/extras/CUPTI/include/cupti.h" ]; then
      if [ -z "${OPLENS_HEADERS_OF_WHEELS:-}" ]; then return; fi
    fi
  done
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/wheels"
    "$(first_python)" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder/wheels" \
      nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 nvidia-nvtx==13.0.85 >&2 ||
      return 1
    "$(first_python)" - "$folder" <<'EOF' >&2 || return 1
import glob, sys, zipfile
for path in glob.glob(sys.argv[1] + "/wheels/*.whl"):
    wheel = zipfile.ZipFile(path)
    wheel.extractall(sys.argv[1], [name for name in wheel.namelist() if "/include/" in name])
EOF
    rm -rf "$folder/wheels"
    touch "$folder/complete"
  fi
  echo "$folder/nvidia/cu13/include"
}

# use_ccache: has CMake compile with ccache where it is installed, as configure() says.
use_ccache() {
  command -v ccache >/dev/null || return 0
  local launcher="env;CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD};CCACHE_MAXSIZE=${CCACHE_MAXSIZE-4G}"
  launcher+=";CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros,include_file_mtime,include_file_ctime}"
  launcher+=";$(command -v ccache)"
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-$launcher}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-$launcher}
}

# configure PRESET [CMake arguments]: with ccache where it is installed, in its own folder (~/.cache/ccache, or
# CCACHE_DIR). A copy of the project in another folder finds what this one compiled, precompiled headers too, and so
# does who builds again without this script: what ccache must know stands in the build files.
configure() {
  use_ccache
  local headers
  headers=$(cuda_headers)
  cmake --preset "$@" ${headers:+"-DOPLENS_CUDA_HEADERS=$headers"}
}

# part NAME COMMAND...: runs the command; a line "NAME WALL USER SYSTEM", in seconds, goes into the file
# OPLENS_MINUTES where that is set.
part() {
  local status=0 LC_NUMERIC=C TIMEFORMAT="$1 %R %U %S"
  shift
  if [ -z "${OPLENS_MINUTES:-}" ]; then
    "$@"
    return
  fi
  { time "$@" 2>&3 || status=$?; } 3>&2 2>>"$OPLENS_MINUTES"
  return "$status"
}

# print_minutes: what part() wrote, as a line.
print_minutes() {
  awk '{ name = $1; for (i = 2; i < NF - 2; ++i) name = name " " $i
         wall += $(NF - 2); cpu += $(NF - 1) + $NF
         line = line sprintf("%s %.1f (%.1f), ", name, $(NF - 2) / 60, ($(NF - 1) + $NF) / 60) }
       END { printf "== minutes, and those of CPU: %sall %.1f (%.1f)\n", line, wall / 60, cpu / 60 }' "$OPLENS_MINUTES"
}
