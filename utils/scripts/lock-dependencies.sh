#!/usr/bin/env bash
# Write requirements/*.txt anew, after a change of the dependencies in pyproject.toml.
set -euo pipefail
unset CDPATH

case ${1:-} in
  -h | --help)
    cat <<'END'
Usage: lock-dependencies.sh [OPTIONS OF uv pip compile]

Write the lock, requirements/*.txt, anew: versions and hashes of everything that
orbit.sh installs, for every Python and system that Orbit runs on. Versions that
still fit stay as they are. Releases younger than a week are not taken.

  --upgrade                              take the newest of everything
  --upgrade-package NAME                 take the newest NAME
  --exclude-newer-package NAME=false     however young it is

Needs PyPI, or the index that UV_DEFAULT_INDEX names.
END
    exit 0
    ;;
esac

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${ORBIT_PYTHON:-python3.11}" -m venv "$tools"
"$tools/bin/python" -m pip --no-input --disable-pip-version-check install -q 'uv>=0.9.8,<1' </dev/null
cd "$root"
PYTHONDONTWRITEBYTECODE=1 "$tools/bin/python" -m utils.lock "$tools/bin/uv" --exclude-newer "7 days" "$@"
