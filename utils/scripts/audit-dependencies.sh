#!/usr/bin/env bash
# Ask a database of advisories about every version that requirements/ locks.
set -euo pipefail
unset CDPATH

case ${1:-} in
  -h | --help)
    cat <<'END'
Usage: audit-dependencies.sh [OPTIONS OF pip-audit]

Look up everything that requirements/ locks in a database of known weaknesses:
PyPI's by default, or another, as with

  audit-dependencies.sh --vulnerability-service osv --osv-url https://osv.example.org/v1/query

Exit code: 0 nothing is known, 1 something is, 3 the database could not be asked.
END
    exit 0
    ;;
esac

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unasked() {
  printf 'NOT AUDITED: %s\n' "$1" >&2
  exit 3
}

"${ORBIT_PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip --no-input --disable-pip-version-check install -q 'pip-audit>=2.9,<3' </dev/null >"$work/log" 2>&1 \
  || { tail -n 3 "$work/log" >&2; unasked "pip-audit cannot be installed"; }

# Every version once, whichever file and Python it is for: an advisory is about a version.
sed -n 's/^\([a-z0-9][^ ]*==[^ ]*\).*/\1/p' "$root"/requirements/*.txt | sort -u >"$work/all"
# pip-audit takes one version of a package at a time.
awk -F== '{ print $0 > ("'"$work"'/" ++seen[$1] ".txt") }' "$work/all"
found=0
for list in "$work"/*.txt; do
  status=0
  "$work/venv/bin/pip-audit" --progress-spinner off --disable-pip --no-deps --format json \
    --requirement "$list" --output "$list.json" "$@" >"$work/log" 2>&1 || status=$?
  [ -s "$list.json" ] || { tail -n 3 "$work/log" >&2; unasked "the database of advisories does not answer"; }
  # A package that the database does not know is skipped, and counts as sound for pip-audit.
  "$work/venv/bin/python" - "$list.json" <<'END' || status=$?
import json, sys

packages = json.load(open(sys.argv[1]))["dependencies"]
skipped = [each["name"] for each in packages if "skip_reason" in each]
for each in packages:
    for known in each.get("vulns", ()):
        fixed = ", ".join(known["fix_versions"]) or "no version yet"
        print(f"{each['name']} {each['version']}: {known['id']}, mended in {fixed}")
if len(skipped) == len(packages):
    sys.exit(3)
if skipped:
    print(f"not known to the database: {', '.join(skipped)}", file=sys.stderr)
END
  case $status in
    0) ;;
    1) found=1 ;;
    3) unasked "the database of advisories knows none of these packages" ;;
    *) tail -n 3 "$work/log" >&2; unasked "pip-audit failed" ;;
  esac
done
[ "$found" = 1 ] || printf 'Nothing is known against the %d versions that requirements/ locks\n' "$(wc -l <"$work/all")"
exit "$found"
