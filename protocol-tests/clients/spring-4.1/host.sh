#!/usr/bin/env bash
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \
  -Dorg.slf4j.simpleLogger.defaultLogLevel="${CLIENT_LOG:-warn}" -Dorg.slf4j.simpleLogger.showDateTime=true \
  -cp "$1/classes:$1/libs/*" SpringHost "$2"
