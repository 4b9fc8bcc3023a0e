#!/usr/bin/env bash
set -euo pipefail
rm -rf "$1/libs" "$1/classes"
mvn -q -B -f pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
  -DoutputDirectory="$1/libs" -DincludeScope=runtime
javac -nowarn -cp "$1/libs/*" -d "$1/classes" ../harness/springhost/*.java
