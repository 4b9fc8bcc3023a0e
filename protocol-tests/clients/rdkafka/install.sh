#!/usr/bin/env bash
set -euo pipefail
cargo build --locked --target-dir "$1/target"
