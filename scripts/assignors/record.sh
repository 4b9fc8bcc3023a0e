#!/usr/bin/env bash
# Records anew what Kafka's assignors give, into protocol-tests/golden/assignors/.
#   KAFKA_LIBS=<folder with the jars of Kafka 4.4.0> scripts/assignors/record.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${KAFKA_LIBS:?the folder with the jars of Kafka}"

classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -encoding UTF-8 -cp "$KAFKA_LIBS/*" -d "$classes" scripts/assignors/*.java

record() { # FILE CLASS ARGUMENTS
  local file=protocol-tests/golden/assignors/$1.txt class=$2
  shift 2
  {
    echo "# Apache Kafka 4.4.0, scripts/assignors/$class.java ${*@Q}"
    echo
    java -Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -Dorg.slf4j.simpleLogger.defaultLogLevel=off -cp "$KAFKA_LIBS/*:$classes" "$class" "$@"
  } >"$file"
}

record uniform RecordBroker uniform 1 60
record range RecordBroker range 1 20
for assignor in range roundrobin; do record client-$assignor RecordClient $assignor 1 30; done
for assignor in sticky cooperative-sticky; do record client-$assignor RecordClient $assignor 1 60; done
record lives RecordLives '3 orders:7' '2 orders:3,payments:3' '3 t0:2,t1:2,t2:2,t3:2 leave:m2' '3 orders:8 join' \
  '3 orders:6 join,leave:m2,grow:orders:12' '1 orders:4,payments:5 join,join,join,leave:m1,leave:m2' \
  '12 orders:30,payments:31 join,leave:m5,leave:m11,join,grow:payments:40,join' '2 orders:1 join,leave:m1,leave:m2'
