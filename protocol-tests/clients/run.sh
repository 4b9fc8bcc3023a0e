#!/usr/bin/env bash
# Usage: run.sh BOOTSTRAP [FILTER_REGEX]      (see README.md)
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export CLIENTS_CACHE="${CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rallypoint-clients}"
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/harness/main.py" "$@"
