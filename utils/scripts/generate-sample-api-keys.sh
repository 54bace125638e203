#!/usr/bin/env bash
# Make the well-known sample key of an adapter, for trying Orbit out on this machine.
set -euo pipefail
unset CDPATH

case ${1:-} in
  -h | --help)
    cat <<'END'
Usage: generate-sample-api-keys.sh --adapter NAME [--config FILE] [--data DIR]

Make the sample key of an adapter, and show how to use it. The key is the adapter's
name without "intent-" before and "-example" after: "agent" for intent-agent-example.
The key alone goes to standard output.

A sample key can be guessed. It works only for clients on the server's own machine,
and not at all when the configuration sets access.sample_keys to false. For anything
else make a real key: orbit.sh keys create --adapter NAME
END
    exit 0
    ;;
esac

here=${BASH_SOURCE[0]}
while [ -L "$here" ]; do
  target=$(readlink "$here")
  case $target in
    /*) here=$target ;;
    *) here=$(dirname "$here")/$target ;;
  esac
done
exec "$(cd -P "$(dirname "$here")/../.." && pwd)/bin/orbit.sh" keys sample "$@"
