package main

import (
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// manyGroups makes groups of one member each, over a few connections.
func manyGroups(count int) []*member {
	members := make([]*member, count)
	conns := dialAll()
	waitForCoordinator(conns[0], fresh("group"))
	eachConn(conns, func(i int, c *conn) {
		for k := i; k < count; k += len(conns) {
			m := &member{conn: c, group: fresh("group"), metadata: subscription(0)}
			m.askForID()
			if !m.enter() {
				panic("a group of one began anew")
			}
			members[k] = m
		}
	})
	return members
}

func dialAll() []*conn {
	conns := make([]*conn, *connections)
	for i := range conns {
		conns[i] = dial(*address)
	}
	return conns
}

func eachConn(conns []*conn, work func(i int, c *conn)) {
	var all sync.WaitGroup
	for i, c := range conns {
		all.Go(func() { work(i, c) })
	}
	all.Wait()
}

// groups: what a group of one member takes in memory, and how long it takes to list them.
func groups() {
	before := resident()
	members := manyGroups(*count)
	report("bytes_a_group", (resident()-before)*1_024/float64(*count))
	c, times := members[0].conn, []float64{}
	for range 5 {
		began := time.Now()
		c.send(at(4, kmsg.NewPtrListGroupsRequest()))
		c.await()
		times = append(times, since(began))
	}
	report("list_ms", median(times))
	if listed := len(do[*kmsg.ListGroupsResponse](c, at(4, kmsg.NewPtrListGroupsRequest())).Groups); listed < *count {
		panic(fmt.Sprintf("%d of %d groups are listed", listed, *count))
	}
}

// growGroups: heartbeats and joins where there are many groups.
func growGroups() {
	members := manyGroups(*count)
	senders := make([]sender, *connections)
	for i := range senders {
		own := []kmsg.Request{}
		for k := i; k < len(members); k += len(senders) {
			own = append(own, members[k].heartbeatRequest())
		}
		if len(own) == 0 {
			own = append(own, members[i%len(members)].heartbeatRequest())
		}
		senders[i] = sender{members[i%len(members)].conn, cycle(own), heartbeatCode}
		if i >= len(members) {
			senders[i].conn = dial(*address)
		}
	}
	pipelined("heartbeat", senders)
	const joins = 2_000
	used := cpu()
	manyGroups(joins)
	report("join_cpu_us", float64((cpu()-used).Microseconds())/joins)
}

// growMembers: heartbeats and joins in a consumer group of many members (KIP-848), which needs no connection for each.
func growMembers() {
	conns := dialAll()
	topic := createTopic(conns[0], 100)
	group := fresh("group")
	waitForCoordinator(conns[0], group)
	members := make([][]*kmsg.ConsumerGroupHeartbeatRequest, len(conns))
	enter := func(count int) {
		eachConn(conns, func(i int, c *conn) {
			for k := i; k < count; k += len(conns) {
				members[i] = append(members[i], joinConsumerGroup(c, group, topic))
			}
		})
	}
	enter(*count)
	for changes := int64(1); changes > 0; changes = catchUp(conns, members) {
		time.Sleep(assignmentInterval)
	}
	senders := []sender{}
	for i, c := range conns {
		own := []kmsg.Request{}
		for _, r := range members[i] {
			own = append(own, r)
		}
		if len(own) > 0 {
			senders = append(senders, sender{c, cycle(own), func(r kmsg.Response) int16 {
				return r.(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode
			}})
		}
	}
	pipelined("heartbeat", senders)
	const joins = 500
	used := cpu()
	enter(joins)
	time.Sleep(assignmentInterval)
	catchUp(conns[:1], members) // the assignor runs for all of them
	report("join_cpu_us", float64((cpu()-used).Microseconds())/joins)
}

// assignmentInterval is longer than a group waits until it asks its assignor again (consumer.assignment.interval.ms).
const assignmentInterval = 1_200 * time.Millisecond

// catchUp lets each member heartbeat once, and counts those that were told something new.
func catchUp(conns []*conn, members [][]*kmsg.ConsumerGroupHeartbeatRequest) int64 {
	var changes atomic.Int64
	eachConn(conns, func(i int, c *conn) {
		for _, r := range members[i] {
			a := do[*kmsg.ConsumerGroupHeartbeatResponse](c, r)
			expect("ConsumerGroupHeartbeat", a.ErrorCode)
			if a.MemberEpoch != r.MemberEpoch || a.Assignment != nil {
				changes.Add(1)
			}
			r.MemberEpoch = a.MemberEpoch
		}
	})
	return changes.Load()
}

// joinConsumerGroup lets a new member in and gives the heartbeat that it sends from then on.
func joinConsumerGroup(c *conn, group, topic string) *kmsg.ConsumerGroupHeartbeatRequest {
	var id [16]byte
	rand.Read(id[:])
	r := at(1, kmsg.NewPtrConsumerGroupHeartbeatRequest())
	r.Group, r.MemberID = group, fmt.Sprintf("%x", id)
	r.RebalanceTimeoutMillis, r.SubscribedTopicNames = 300_000, []string{topic}
	r.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	a := do[*kmsg.ConsumerGroupHeartbeatResponse](c, r)
	expect("a join of a consumer group", a.ErrorCode)
	next := at(1, kmsg.NewPtrConsumerGroupHeartbeatRequest())
	next.Group, next.MemberID, next.MemberEpoch, next.RebalanceTimeoutMillis = group, r.MemberID, a.MemberEpoch, -1
	return next
}

func cycle(requests []kmsg.Request) func() kmsg.Request {
	i := -1
	return func() kmsg.Request {
		i = (i + 1) % len(requests)
		return requests[i]
	}
}

// churn: many connections come, send a few requests each, and go. What the server holds is told before, with all of
// them open, and for ten seconds after.
func churn() {
	report("resident_kib_before", resident())
	conns := dialAll()
	eachConn(conns, func(_ int, c *conn) {
		do[*kmsg.ApiVersionsResponse](c, at(3, kmsg.NewPtrApiVersionsRequest()))
		do[*kmsg.MetadataResponse](c, at(9, kmsg.NewPtrMetadataRequest()))
		waitForCoordinator(c, "a group")
		m := &member{conn: c, group: "a group that nobody is in", id: "nobody"}
		for range *depth {
			c.send(m.heartbeatRequest())
		}
		for range *depth {
			c.receive(m.heartbeatRequest())
		}
	})
	report("resident_kib_open", resident())
	for _, c := range conns {
		c.Close()
	}
	for second := 1; second <= 10; second++ {
		time.Sleep(time.Second)
		report(fmt.Sprintf("resident_kib_%ds", second), resident())
	}
}
