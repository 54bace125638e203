#!/usr/bin/env bash
# Compile llama-cpp-python into a wheel, once; later runs find it and end at once.
#
#   build-llama-cpp.sh PYTHON     prints the folder that holds the wheel
#
#   ORBIT_WHEELS   that folder, instead of orbit/wheels in the user's cache
#
# Compiled for every processor of this kind, not for the one that it is compiled on: such
# a library ends a server on another machine, and under some virtual machines on the same.
# Only what the server uses is compiled. Needs a C++ compiler; CMake and Ninja come from
# PyPI where there are none. Written for bash 3.2.
set -euo pipefail
root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${1:?name the Python to build with}
wheels=${ORBIT_WHEELS:-${XDG_CACHE_HOME:-$HOME/.cache}/orbit/wheels}
wanted=$(sed -n 's/^\(llama-cpp-python==[^ ]*\).*/\1/p' "$root/requirements/llama-cpp.txt")
[ -n "$wanted" ] || { echo "error: requirements/llama-cpp.txt locks no llama-cpp-python" >&2; exit 1; }

mkdir -p "$wheels"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheel() { "$python" -m pip --no-input --disable-pip-version-check wheel -q --no-deps -w "$work/out" "$@" </dev/null; }

if ! wheel --no-index --find-links "$wheels" "$wanted" >/dev/null 2>&1; then
  begun=$SECONDS
  echo "Compiling $wanted, which takes some minutes, once (into $wheels)" >&2
  # A library of llama.cpp's own programs, which its build would compile and nobody use.
  printf 'set(LLAMA_BUILD_COMMON OFF)\n' >"$work/less.cmake"
  export CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama.cpp_INCLUDE=$work/less.cmake ${CMAKE_ARGS:-}"
  # pip's own cache may hold one that was compiled otherwise.
  awk '/^llama-cpp-python==/ { on = 1 } on; on && !/\\$/ { exit }' "$root/requirements/llama-cpp.txt" >"$work/source.txt"
  wheel --no-cache-dir --no-binary llama-cpp-python --require-hashes --requirement "$work/source.txt" >&2
  mv -f "$work"/out/llama_cpp_python-*.whl "$wheels/"
  echo "Compiled in $((SECONDS - begun)) s" >&2
fi
echo "$wheels"
