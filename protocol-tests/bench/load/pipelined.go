package main

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A sender keeps requests under way on one connection: `next` makes each, `code` reads the error off its response.
type sender struct {
	*conn
	next func() kmsg.Request
	code func(kmsg.Response) int16
}

// pipelined lets all send for a while, `depth` requests at a time, each with a write of its own. It reports requests
// a second, how long such a batch takes, and the server's CPU time a request.
func pipelined(name string, senders []sender) {
	var all sync.WaitGroup
	counts := make([]int, len(senders))
	times := make([][]float64, len(senders))
	cpuBefore, began := cpu(), time.Now()
	until := began.Add(time.Duration(*seconds * float64(time.Second)))
	for i, s := range senders {
		all.Go(func() {
			batch := make([]kmsg.Request, *depth)
			for {
				t := time.Now()
				if t.After(until) {
					return
				}
				for j := range batch {
					batch[j] = s.next()
					s.send(batch[j])
				}
				for _, request := range batch {
					expect(name, s.code(s.receive(request)))
				}
				counts[i] += len(batch)
				times[i] = append(times[i], float64(time.Since(t).Microseconds())/1_000)
			}
		})
	}
	all.Wait()
	took, used := time.Since(began), cpu()-cpuBefore
	total, latencies := 0, []float64{}
	for i := range senders {
		total += counts[i]
		latencies = append(latencies, times[i]...)
	}
	report(name+"_per_second", float64(total)/took.Seconds())
	report(name+"_cpu_us", float64(used.Microseconds())/float64(total))
	report(name+"_batch_ms_p50", median(latencies))
	report(name+"_batch_ms_p99", quantile(latencies, 0.99))
}

// always sends the same request.
func always(request kmsg.Request) func() kmsg.Request {
	return func() kmsg.Request { return request }
}

func heartbeatCode(r kmsg.Response) int16 { return r.(*kmsg.HeartbeatResponse).ErrorCode }

// echo is heartbeat without a group, for a server that answers whatever comes.
func echo() {
	senders := make([]sender, *connections)
	for i := range senders {
		m := &member{conn: dial(*address), group: fresh("group"), id: "bench-01234567-89ab-cdef-0123-456789abcdef"}
		senders[i] = sender{m.conn, always(m.heartbeatRequest()), heartbeatCode}
	}
	pipelined("heartbeat", senders)
}

// heartbeat: members that are alone in their groups say that they are there.
func heartbeat() {
	members := loners(*connections)
	senders := make([]sender, len(members))
	for i, m := range members {
		senders[i] = sender{m.conn, always(m.heartbeatRequest()), heartbeatCode}
	}
	pipelined("heartbeat", senders)
	hangUp(members)
}

// commit: such members commit the offsets of eight partitions.
func commit() {
	const partitions = 8
	members := loners(*connections)
	topic := createTopic(members[0].conn, partitions)
	senders := make([]sender, len(members))
	for i, m := range members {
		r := at(8, kmsg.NewPtrOffsetCommitRequest())
		r.Group, r.MemberID, r.Generation = m.group, m.id, m.generation
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = topic
		for number := range int32(partitions) {
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.LeaderEpoch = number, 42, -1
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = []kmsg.OffsetCommitRequestTopic{t}
		senders[i] = sender{m.conn, always(r), func(r kmsg.Response) int16 {
			return r.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[partitions-1].ErrorCode
		}}
	}
	pipelined("commit", senders)
	hangUp(members)
}

func createTopic(c *conn, partitions int32) string {
	r := at(7, kmsg.NewPtrCreateTopicsRequest())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = fresh("topic"), partitions, 1
	r.Topics, r.TimeoutMillis = []kmsg.CreateTopicsRequestTopic{t}, 60_000
	expect("CreateTopics", do[*kmsg.CreateTopicsResponse](c, r).Topics[0].ErrorCode)
	m := at(9, kmsg.NewPtrMetadataRequest())
	name := kmsg.NewMetadataRequestTopic()
	name.Topic = &t.Topic
	m.Topics = []kmsg.MetadataRequestTopic{name}
	for do[*kmsg.MetadataResponse](c, m).Topics[0].ErrorCode != 0 {
		time.Sleep(10 * time.Millisecond)
	}
	return t.Topic
}
