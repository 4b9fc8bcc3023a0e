package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// classic: a group forms; then one member leaves and the others rebalance, a few times.
func classic() {
	const rebalances = 5
	members := newcomers(*count, 0)
	began, used := time.Now(), cpu()
	settle(members)
	report("form_ms", since(began))
	report("form_cpu_ms", float64((cpu() - used).Milliseconds()))
	for !allStable(members) {
		settle(members)
	}
	var times []float64
	used = cpu()
	for range rebalances {
		last := len(members) - 1
		gone := members[last]
		members = members[:last]
		began = time.Now()
		gone.leave()
		gone.Close()
		enterTogether(members)
		times = append(times, since(began))
	}
	report("rebalance_ms", median(times))
	report("rebalance_cpu_ms", float64((cpu()-used).Milliseconds())/rebalances)
	hangUp(members)
}

// large: a group forms whose members have much to say. Meanwhile somebody else's heartbeats in the same shard tell how
// long a single request held it up.
func large() {
	members := newcomers(*count, *metadata)
	bystander := &member{conn: dial(*address), group: neighbour(members[0].group), metadata: subscription(0)}
	bystander.askForID()
	bystander.enter()
	var over atomic.Bool
	longest := make(chan float64)
	go func() {
		most := 0.0
		for !over.Load() {
			t := time.Now()
			expect("a bystander's heartbeat", do[*kmsg.HeartbeatResponse](bystander.conn, bystander.heartbeatRequest()).ErrorCode)
			most = max(most, since(t))
		}
		longest <- most
	}()
	began, used := time.Now(), cpu()
	settle(members)
	report("form_ms", since(began))
	report("form_cpu_ms", float64((cpu() - used).Milliseconds()))
	over.Store(true)
	report("bystander_ms_max", <-longest)
	hangUp(members)
}

// enterTogether lets all enter a group that waits for all of them.
func enterTogether(members []*member) {
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			for !m.enter() {
			}
		})
	}
	all.Wait()
	if !allStable(members[:1]) {
		panic("the group began anew although nobody came or went")
	}
}

// neighbour is the name of another group in the same partition of __consumer_offsets (of 50).
func neighbour(group string) string {
	for {
		if name := fresh("bystander"); partitionOf(name) == partitionOf(group) {
			return name
		}
	}
}

// partitionOf chooses as Kafka does, by Java's hash of the text.
func partitionOf(group string) int32 {
	var hash int32
	for _, c := range []byte(group) {
		hash = 31*hash + int32(c)
	}
	return (hash & 0x7fffffff) % 50
}

func allStable(members []*member) bool {
	for _, m := range members {
		if !m.isStable() {
			return false
		}
	}
	return true
}

func since(began time.Time) float64 {
	return float64(time.Since(began).Microseconds()) / 1_000
}
