#!/usr/bin/env bash
CLIENT_MODULES="$1/node_modules" NODE_NO_WARNINGS=1 exec node "$(dirname "$0")/host.mjs" "$2"
