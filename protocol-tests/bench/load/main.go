// load drives a Kafka-compatible server with raw frames and prints what it measures, one figure a line: name, tab,
// value. run.py builds and calls it.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
)

var (
	address     = flag.String("server", "127.0.0.1:9092", "where the server listens")
	pid         = flag.Int("pid", 0, "the server's process")
	connections = flag.Int("connections", 16, "connections (echo, heartbeat, commit, groups, growth, churn)")
	depth       = flag.Int("depth", 16, "requests under way on each connection")
	seconds     = flag.Float64("seconds", 3, "how long to send requests")
	count       = flag.Int("count", 1_000, "members (classic, large, growth) or groups (groups, growth)")
	metadata    = flag.Int("metadata", 1_024, "bytes that a member says of itself (large)")
)

var workloads = map[string]func(){
	"echo":        echo,
	"heartbeat":   heartbeat,
	"commit":      commit,
	"classic":     classic,
	"large":       large,
	"groups":      groups,
	"growgroups":  growGroups,
	"growmembers": growMembers,
	"churn":       churn,
}

func main() {
	flag.Parse()
	for _, name := range flag.Args() {
		workload := workloads[name]
		if workload == nil {
			fmt.Fprintln(os.Stderr, "load: no workload is called", name)
			os.Exit(2)
		}
		workload()
	}
}

func report(name string, value float64) {
	fmt.Printf("%s\t%.3f\n", name, value)
}

func median(values []float64) float64 {
	return quantile(values, 0.5)
}

func quantile(values []float64, q float64) float64 {
	sort.Float64s(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}
