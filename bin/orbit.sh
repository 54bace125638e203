#!/usr/bin/env bash
# Orbit's command. It needs nothing but Python 3.11 or newer: on first use it makes
# .venv beside the project and installs Orbit into it; from then on it hands every
# command over at once and never touches the network.
#
#   ORBIT_PYTHON   the Python to make .venv with, instead of the best on PATH
#   ORBIT_LOCK     off: install what pip finds now, instead of what requirements/ locks
#
# Everything said here goes to standard error, so that the output of a command stays
# clean. Written for bash 3.2, which is what macOS has.
set -euo pipefail
unset CDPATH

here=${BASH_SOURCE[0]}
while [ -L "$here" ]; do
  target=$(readlink "$here")
  case $target in
    /*) here=$target ;;
    *) here=$(dirname "$here")/$target ;;
  esac
done
root=$(cd -P "$(dirname "$here")/.." && pwd)

venv=$root/.venv
python=$venv/bin/python
stamps=$venv/.orbit                # one file for each finished install: "base" and extras
unfinished=$venv/.orbit-installing # there while an install is under way
packages=$venv/.orbit-packages     # the names of what the lock brought
log=$venv/install.log
lock=$root/.venv.lock
requirements=$root/requirements

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "error: $1"
  exit 1
}

test_help() {
  cat <<'END'
Usage: orbit.sh test [PYTEST ARGUMENTS]

Install what the tests need and run them, from the project's folder, with one
process for each core, and list the slowest. Without arguments the whole suite
runs; otherwise for example:

  orbit.sh test tests/access -x
  orbit.sh test -n 0 --pdb          in this process alone
  orbit.sh test -m local_model      what runs a language model, alone
  orbit.sh test -m slow             benchmarks and installs, which seldom fail
  orbit.sh test -m browser          the console in a Chromium; needs the extra browser
  orbit.sh test -m ecosystem        the recipes of docs/ecosystem.md; installs what they use
  orbit.sh test -m chaos [--full]   what maltreats servers, alone
  orbit.sh test -m cluster [--full] replicas behind a balancer, maltreated, alone
END
}

install_help() {
  cat <<'END'
Usage: orbit.sh install [EXTRA...]

Install Orbit into .venv, or bring it up to date, with the extras named. Every
other command does the first part by itself when it is needed. Extras:

END
  known_extras | sed 's/^/  /'
}

# Set $base_python to a Python that is new enough, or end with what was found instead. One that
# was compiled without its optimisations (as pyenv does unless told) takes half as long again for
# everything, so it is taken only where there is no other.
find_python() {
  local seen="" first="" name path version
  set -- python3.11 python3.12 python3.13 python3.14 python3 python
  [ -z "${ORBIT_PYTHON:-}" ] || set -- "$ORBIT_PYTHON"
  for name in "$@"; do
    while IFS= read -r path; do
      version=$(version_of "$path") || continue
      if ! "$path" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        seen="$seen, $path is $version"
      elif [ -n "${ORBIT_PYTHON:-}" ] || is_optimised "$path"; then
        base_python=$path
        return
      else
        first=${first:-$path}
      fi
    done < <(type -ap "$name")
  done
  if [ -n "$first" ]; then
    base_python=$first
    return
  fi
  seen=${seen#, }
  [ -z "${ORBIT_PYTHON:-}" ] || fail "ORBIT_PYTHON must name a Python 3.11 or newer; ${seen:-$ORBIT_PYTHON does not run}"
  fail "Orbit needs Python 3.11 or newer; found: ${seen:-no Python at all}.
Install one (https://www.python.org/downloads/, or a package of your system), or name it:
  ORBIT_PYTHON=/path/to/python3.11 $0"
}

version_of() {
  "$1" -I -S -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null
}

# Whether $1 was compiled with its optimisations, as every system's own is, and can make a .venv.
is_optimised() {
  "$1" -I -c '
import ensurepip, sys, sysconfig, venv
options = sysconfig.get_config_var("CONFIG_ARGS") or ""
sys.exit(sys.base_prefix != "/usr" and "--enable-optimizations" not in options)' 2>/dev/null
}

known_extras() {
  awk '/^\[/ { on = ($0 == "[project.optional-dependencies]"); next } on && /^[a-z]/ { print $1 }' \
    "$root/pyproject.toml"
}

# What the install named $1 depends on: what pyproject.toml says of the package, the versions
# locked, the Python, the place.
key() {
  {
    awk '/^\[/ { keep = ($0 !~ /^\[(tool\.|dependency-groups)/ || $0 ~ /^\[tool\.setuptools/) } keep' "$root/pyproject.toml"
    cat "$requirements/base.txt" "$requirements/$1.txt" || true
    awk -F '[ .]+' '$1 == "version" { print "(" $3 ", " $4 ")" }' "$venv/pyvenv.cfg"
    printf '%s\n' "$root"
  } 2>/dev/null | cksum
}

# Whether the install named $1 was finished, and for what the project is now.
is_current() {
  [ ! -e "$unfinished" ] && [ -x "$python" ] && [ -f "$stamps/$1" ] && [ "$(cat "$stamps/$1")" = "$(key "$1")" ]
}

# Show one readable line for each package on a terminal, and keep all of it in the log.
show_progress() {
  local line file rest size
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [ -t 2 ] || continue
    case $line in
      *.metadata\ *) ;;
      *Downloading\ * | *"Using cached "* | Processing\ *.whl*)
        file=${line##*/}
        file=${file##*Downloading }
        file=${file##*cached }
        size=${file#* }
        file=${file%% *}
        rest=${file#*-}
        case $size in *B\)) ;; *) size="" ;; esac
        say "  ${file%%-*} ${rest%%-*} $size"
        ;;
      "Installing collected packages: "*)
        say "  unpacking $(printf '%s' "$line" | tr -cd , | wc -c | awk '{ print $1 + 1 }') packages, which takes a while"
        ;;
    esac
  done
}

make_venv() {
  local output
  say "Making .venv with Python $(version_of "$base_python") ($base_python)"
  if ! output=$("$base_python" -m venv --clear "$venv" 2>&1); then
    say "$output"
    fail "$base_python could not make $venv (some systems package this apart, as python3-venv)"
  fi
  # Until 3.11 a .venv came with it; nothing here needs it.
  "$python" -m pip --disable-pip-version-check uninstall --quiet --yes setuptools >/dev/null 2>&1 || true
}

# Have a wheel of llama-cpp-python where pip finds it, for there is none to download.
compile_llama() {
  local wheels
  wheels=$("$root/utils/scripts/build-llama-cpp.sh" "$python") \
    || fail "llama-cpp-python could not be compiled; it needs a C++ compiler (g++ or clang)"
  export PIP_FIND_LINKS="$wheels${PIP_FIND_LINKS:+ $PIP_FIND_LINKS}" PIP_PREFER_BINARY=1
}

pip() {
  "$python" -m pip --no-input --disable-pip-version-check "$@" </dev/null 2>&1
}

# The requirements of the lock's files $@, one a line, each with its hashes.
locked() {
  local name
  for name in "$@"; do cat "$requirements/$name.txt"; done \
    | awk '/^[a-z0-9]/ { line = ""; on = 1 } on { more = sub(/\\$/, ""); line = line $0; if (!more) { print line; on = 0 } }'
}

# Whether to install from the lock. Where it is not made for this Python or system, say so.
is_locked() {
  local before
  [ "${ORBIT_LOCK:-on}" != off ] && [ -f "$requirements/base.txt" ] || return
  before=$(awk -F "'" '/^environments = / { on = 1 } on && /python_full_version </ { print $2; exit }' "$root/pyproject.toml")
  "$python" -I -S -c '
import sys
before = tuple(map(int, sys.argv[1].split(".")))
here = sys.version_info < before and sys.platform in ("linux", "darwin")
sys.exit(not (here and sys.implementation.name == "cpython"))' "$before" && return
  say "What requirements/ locks is not for $("$python" -I -S -c 'import platform as p; print(p.python_implementation(), p.python_version(), "on", p.system())'): installing what pip finds"
  return 1
}

# Install the libraries of the lock's files $@: the versions and files that it names, no others.
install_locked() {
  local list=$venv/.orbit-locked.txt
  # The wheel that is compiled here has a hash of its own.
  locked "$@" | grep -v '^llama-cpp-python==' >"$list"
  pip install --progress-bar off --no-deps --require-hashes --requirement "$list" | show_progress || return
  case " $* " in *" llama-cpp "*)
    pip install --no-deps --no-index \
      "$(locked llama-cpp | sed -n 's/^\(llama-cpp-python==[^ ]*\).*/\1/p')" >>"$log" || return
    ;;
  esac
}

# Why the lock has nothing for this machine, in pip's words; fails when that is not the reason.
no_match() {
  ! grep -Eq 'DO NOT MATCH THE HASHES|Retrying \(Retry\(' "$log" \
    && grep -Eo -m 1 'No matching distribution found for [^ ]+|Failed (building wheel for|to build) [^ ]+|metadata-generation-failed|subprocess-exited-with-error' "$log"
}

# Install the project alone, made with the setuptools of the lock, which then goes.
install_project() {
  local tools=$venv/.orbit-build status=0
  {
    pip install --no-deps --require-hashes --target "$tools" --requirement "$requirements/build.txt" \
      && (cd "$root" && PYTHONPATH=$tools pip install --no-deps --no-build-isolation --editable .)
  } >>"$log" || status=$?
  rm -rf "$tools"
  return "$status"
}

# Remove what an earlier lock brought and the lock's files $@ do not have.
remove_unlocked() {
  local gone=""
  locked "$@" | sed 's/==.*//' | LC_ALL=C sort -u >"$packages.new"
  [ ! -f "$packages" ] || gone=$(LC_ALL=C comm -23 "$packages" "$packages.new")
  # shellcheck disable=SC2086 # one word for each package
  [ -z "$gone" ] || pip uninstall --yes $gone >>"$log" || return
  mv -f "$packages.new" "$packages"
}

# Install the project with every extra that it had, and the ones named.
install() {
  local extras="" extra begun=$SECONDS status=0 why=""
  if [ -e "$unfinished" ] || ! "$python" -I -m pip --version >/dev/null 2>&1 \
    || ! "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    make_venv
  fi
  for extra in $(ls "$stamps" 2>/dev/null) "$@"; do
    [ "$extra" = base ] && continue
    known_extras | grep -qx "$extra" || continue
    case " $extras " in *" $extra "*) ;; *) extras=$extras${extras:+ }$extra ;; esac
  done
  case " $extras " in *" llama-cpp "*) compile_llama ;; esac
  say "Installing Orbit${extras:+ with ${extras// /,}} and the libraries it uses (log: $log)"
  : >"$log"
  : >"$unfinished"
  # shellcheck disable=SC2086 # one word for each extra
  if is_locked; then
    if install_locked base $extras; then
      install_project && remove_unlocked base $extras || status=$?
    elif why=$(no_match); then
      say "What requirements/ locks cannot be installed here ($why): installing what pip finds"
    else
      status=1
    fi
  else
    why="no lock"
  fi
  if [ -n "$why" ]; then
    rm -f "$packages"
    (cd "$root" && pip install --progress-bar off --editable ".${extras:+[${extras// /,}]}") \
      | show_progress || status=$?
  fi
  # pip leaves the packages as they were when it fails by itself; only an install that
  # was cut short keeps the mark, and is begun anew from an empty .venv.
  rm -f "$unfinished"
  if [ "$status" != 0 ]; then
    say "pip ended with an error. The last lines of its log:"
    tail -n 15 "$log" | sed 's/^/  /' >&2
    ! grep -q 'DO NOT MATCH THE HASHES' "$log" \
      || say "A file is not the one that requirements/ locks: it was damaged or replaced on its way, or your index
makes its own. With ORBIT_LOCK=off it is installed as it is."
    fail "Orbit could not be installed; the whole log is $log"
  fi
  # Where modules may not be compiled as they are used, each command would do it anew.
  "$python" -m compileall -q "$root/server" >/dev/null || true
  mkdir -p "$stamps"
  for extra in base $extras; do key "$extra" >"$stamps/$extra"; done
  say "Installed in $((SECONDS - begun)) s"
}

# Make sure that the extra named (or just Orbit) is installed. Two at once take turns.
ensure() {
  local extra all=yes
  for extra in base "$@"; do is_current "$extra" || all=no; done
  [ "$all" = yes ] && return
  find_python
  [ -w "$root" ] || fail "Orbit is not installed yet, and $root is not writable"
  exec 9>"$lock"
  # The lock belongs to the open file, which this shell keeps; the kernel gives it back
  # however this shell ends.
  if ! "$base_python" -I -S -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)' 2>/dev/null; then
    say "Another orbit.sh is installing; waiting for it to finish"
    "$base_python" -I -S -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
  fi
  all=yes
  for extra in base "$@"; do is_current "$extra" || all=no; done
  [ "$all" = yes ] || install "$@"
  exec 9>&-
}

case ${1:-} in
  test)
    shift
    case ${1:-} in -h | --help)
      test_help
      exit 0
      ;;
    esac
    ensure test
    cd "$root"
    # Tests make and delete thousands of files; in memory, where there is room, that is quicker.
    room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
    if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "${room:-0}" -gt 4000000 ]; then
      export TMPDIR=/dev/shm
    fi
    # A process for each core, which takes over what another has not come to; files stay together.
    exec "$python" -m pytest -n auto --dist worksteal --durations 10 --durations-min 0.5 "$@"
    ;;
  install)
    shift
    case ${1:-} in -h | --help)
      install_help
      exit 0
      ;;
    esac
    for extra in "$@"; do
      known_extras | grep -qx -- "$extra" \
        || fail "there is no extra '$extra'; there are: $(known_extras | tr '\n' ' ')"
    done
    ensure "$@"
    say "Orbit is installed in $venv"
    ;;
  *)
    # Pressing Tab installs nothing.
    [ "${1:-}" != completion ] || [ $# -le 2 ] || is_current base || exit 0
    ensure
    export ORBIT_HOME=$root ORBIT_COMMAND=$0
    # -P: a folder named "server" where the user stands must not pass for Orbit.
    exec "$python" -P -m server "$@"
    ;;
esac
