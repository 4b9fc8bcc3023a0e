#!/usr/bin/env bash
exec "$1/target/debug/rdkafka-host" "$2"
