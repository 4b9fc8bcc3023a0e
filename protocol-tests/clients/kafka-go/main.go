// kafka-go (segmentio) behind the host protocol.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	. "clients/gohost"

	"github.com/segmentio/kafka-go"
)

var (
	boot    = os.Args[1]
	client  = &kafka.Client{Addr: kafka.TCP(os.Args[1]), Timeout: 15 * time.Second}
	mu      sync.Mutex
	members = map[string]*member{}
)

// member is one kafka.ConsumerGroup, with a partition reader for each partition of its generation.
type member struct {
	conf   Cmd
	group  *kafka.ConsumerGroup
	cancel context.CancelFunc

	mu   sync.Mutex
	gen  *kafka.Generation
	done map[string]map[int]int64 // what was read in this generation
}

func start(c Cmd) (M, error) {
	balancers := map[string]kafka.GroupBalancer{"range": kafka.RangeGroupBalancer{}, "roundrobin": kafka.RoundRobinGroupBalancer{}}
	conf := kafka.ConsumerGroupConfig{
		ID: c.Group, Brokers: []string{boot}, Topics: c.Topics, StartOffset: kafka.FirstOffset,
		Dialer:            &kafka.Dialer{ClientID: c.M, Timeout: 10 * time.Second, DualStack: true},
		SessionTimeout:    time.Duration(Or(c.Session, 6000)) * time.Millisecond,
		HeartbeatInterval: time.Duration(Or(c.Hb, 500)) * time.Millisecond,
		RebalanceTimeout:  10 * time.Second,
		JoinGroupBackoff:  200 * time.Millisecond,
		ErrorLogger:       log.Default(),
	}
	for _, name := range c.Assignors {
		conf.GroupBalancers = append(conf.GroupBalancers, balancers[name])
	}
	if os.Getenv("CLIENT_LOG") != "" {
		conf.Logger = log.Default()
	}
	group, err := kafka.NewConsumerGroup(conf)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{conf: c, group: group, cancel: cancel}
	mu.Lock()
	members[c.M] = m
	mu.Unlock()
	go m.run(ctx)
	return nil, nil
}

func (m *member) run(ctx context.Context) {
	for ctx.Err() == nil {
		gen, err := m.group.Next(ctx)
		if errors.Is(err, kafka.InconsistentGroupProtocol) {
			Event(m.conf.M, "error", M{"err": err.Error()})
			m.group.Close()
			return
		}
		if err != nil {
			log.Println(m.conf.M, err)
			continue
		}
		m.generation(gen)
	}
	if err := m.group.Close(); err != nil {
		log.Println(m.conf.M, err)
	}
	Event(m.conf.M, "closed", nil)
}

func (m *member) generation(gen *kafka.Generation) {
	m.mu.Lock()
	m.gen, m.done = gen, map[string]map[int]int64{}
	m.mu.Unlock()
	own := map[string][]int{}
	for topic, assigned := range gen.Assignments {
		for _, a := range assigned {
			own[topic] = append(own[topic], a.ID)
		}
	}
	Event(m.conf.M, "own", M{"parts": Parts(own)})
	gen.Start(func(ctx context.Context) {
		<-ctx.Done()
		Event(m.conf.M, "own", M{"parts": []string{}})
	})
	for topic, assigned := range gen.Assignments {
		for _, a := range assigned {
			gen.Start(func(ctx context.Context) { m.read(ctx, gen, topic, a.ID, a.Offset) })
		}
	}
}

// read reads one partition until its generation ends, and commits after each batch if it is to.
func (m *member) read(ctx context.Context, gen *kafka.Generation, topic string, partition int, from int64) {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{boot}, Topic: topic, Partition: partition, MaxWait: 100 * time.Millisecond})
	defer r.Close()
	if err := r.SetOffset(from); err != nil {
		log.Println(m.conf.M, err)
	}
	for {
		msg, err := r.FetchMessage(ctx)
		if err != nil {
			if !errors.Is(err, kafka.ErrGenerationEnded) {
				log.Println(m.conf.M, err)
			}
			return
		}
		m.handle(gen, batch(r, msg, Or(m.conf.Batch, 100)))
	}
}

// batch is the first message and those that come within a moment.
func batch(r *kafka.Reader, first kafka.Message, size int) []kafka.Message {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	msgs := []kafka.Message{first}
	for len(msgs) < size {
		msg, err := r.FetchMessage(ctx)
		if err != nil {
			break
		}
		msgs = append(msgs, msg)
	}
	return msgs
}

func (m *member) handle(gen *kafka.Generation, msgs []kafka.Message) {
	recs := [][]any{}
	for _, msg := range msgs {
		recs = append(recs, []any{msg.Topic, msg.Partition, msg.Offset, string(msg.Value)})
	}
	Event(m.conf.M, "recs", M{"recs": recs})
	time.Sleep(time.Duration(m.conf.Delay) * time.Millisecond)
	last := msgs[len(msgs)-1]
	m.mu.Lock()
	if m.gen == gen {
		if m.done[last.Topic] == nil {
			m.done[last.Topic] = map[int]int64{}
		}
		m.done[last.Topic][last.Partition] = last.Offset + 1
	}
	m.mu.Unlock()
	if m.conf.Manual() {
		if err := gen.CommitOffsets(map[string]map[int]int64{last.Topic: {last.Partition: last.Offset + 1}}); err != nil {
			log.Println(m.conf.M, "commit:", err)
		}
	}
}

// commit commits what the member has read in its generation.
func commit(c Cmd) (M, error) {
	m := get(c)
	m.mu.Lock()
	defer m.mu.Unlock()
	return nil, m.gen.CommitOffsets(m.done)
}

func get(c Cmd) *member {
	mu.Lock()
	defer mu.Unlock()
	return members[c.M]
}

func produce(c Cmd) (M, error) {
	w := &kafka.Writer{
		Addr: kafka.TCP(boot), Topic: c.Topic, RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond,
		Balancer: kafka.BalancerFunc(func(msg kafka.Message, _ ...int) int { return msg.WriterData.(int) }),
	}
	defer w.Close()
	var msgs []kafka.Message
	for i := c.Start; i < c.Start+c.N; i++ {
		msgs = append(msgs, kafka.Message{Value: fmt.Appendf(nil, "%d", i), WriterData: i % c.Partitions})
	}
	return nil, w.WriteMessages(context.Background(), msgs...)
}

func create(c Cmd) (M, error) {
	r, err := client.CreateTopics(context.Background(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: c.Topic, NumPartitions: c.Partitions, ReplicationFactor: 1}}})
	if err != nil {
		return nil, err
	}
	return nil, r.Errors[c.Topic]
}

func lag(c Cmd) (M, error) {
	var asked []int
	var ends []kafka.OffsetRequest
	for i := range c.Partitions {
		asked, ends = append(asked, i), append(ends, kafka.LastOffsetOf(i))
	}
	done, err := client.OffsetFetch(context.Background(), &kafka.OffsetFetchRequest{GroupID: c.Group, Topics: map[string][]int{c.Topic: asked}})
	if err != nil {
		return nil, err
	}
	end, err := client.ListOffsets(context.Background(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{c.Topic: ends}})
	if err != nil {
		return nil, err
	}
	sum := int64(0)
	for _, p := range end.Topics[c.Topic] {
		sum += p.LastOffset
	}
	for _, p := range done.Topics[c.Topic] {
		sum -= max(p.CommittedOffset, 0)
	}
	return M{"lag": sum}, done.Error
}

func main() {
	Serve(map[string]func(Cmd) (M, error){
		"create": create, "produce": produce, "lag": lag, "start": start, "commit": commit,
		"close": func(c Cmd) (M, error) { get(c).cancel(); return nil, nil },
	})
}
