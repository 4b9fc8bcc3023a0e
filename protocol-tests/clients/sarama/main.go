// sarama behind the host protocol.
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

	"github.com/IBM/sarama"
)

var (
	boot    = []string{os.Args[1]}
	mu      sync.Mutex
	members = map[string]*member{}
)

func config() *sarama.Config {
	conf := sarama.NewConfig()
	conf.Version = sarama.MaxVersion
	conf.Metadata.RefreshFrequency = time.Second
	conf.Producer.Return.Successes = true
	conf.Producer.Partitioner = sarama.NewManualPartitioner
	conf.Consumer.Return.Errors = true
	conf.Consumer.Offsets.Initial = sarama.OffsetOldest
	conf.Consumer.MaxWaitTime = 100 * time.Millisecond
	return conf
}

func groupConfig(c Cmd) *sarama.Config {
	conf := config()
	conf.ClientID = c.M
	conf.Consumer.Offsets.AutoCommit.Enable = c.Commit == "auto"
	conf.Consumer.Offsets.AutoCommit.Interval = time.Duration(Or(c.AutoMs, 1000)) * time.Millisecond
	group := &conf.Consumer.Group
	group.InstanceId = c.Instance
	group.Session.Timeout = time.Duration(Or(c.Session, 6000)) * time.Millisecond
	group.Heartbeat.Interval = time.Duration(Or(c.Hb, 500)) * time.Millisecond
	group.Rebalance.Timeout = 10 * time.Second
	group.Rebalance.Retry.Backoff = 200 * time.Millisecond
	strategies := map[string]func() sarama.BalanceStrategy{
		"range":              sarama.NewBalanceStrategyRange,
		"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
		"sticky":             sarama.NewBalanceStrategySticky,
		"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
	}
	if len(c.Assignors) > 0 {
		group.Rebalance.GroupStrategies = nil
	}
	for _, name := range c.Assignors {
		group.Rebalance.GroupStrategies = append(group.Rebalance.GroupStrategies, strategies[name]())
	}
	return conf
}

// member is one sarama.ConsumerGroup and its handler.
type member struct {
	conf   Cmd
	group  sarama.ConsumerGroup
	cancel context.CancelFunc
	errs   chan error // of commits

	mu      sync.Mutex
	session sarama.ConsumerGroupSession
}

func start(c Cmd) (M, error) {
	group, err := sarama.NewConsumerGroup(boot, c.Group, groupConfig(c))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{conf: c, group: group, cancel: cancel, errs: make(chan error, 100)}
	mu.Lock()
	members[c.M] = m
	mu.Unlock()
	go func() {
		for err := range group.Errors() {
			log.Println(c.M, err)
			select {
			case m.errs <- err:
			default:
			}
		}
	}()
	go m.run(ctx)
	return nil, nil
}

func (m *member) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := m.group.Consume(ctx, m.conf.Topics, m)
		if err != nil && ctx.Err() == nil {
			log.Println(m.conf.M, err)
		}
		if errors.Is(err, sarama.ErrInconsistentGroupProtocol) || errors.Is(err, sarama.ErrFencedInstancedId) {
			Event(m.conf.M, "error", M{"err": coded(err).Error()})
			m.group.Close()
			return
		}
	}
	if err := m.group.Close(); err != nil {
		log.Println(m.conf.M, err)
	}
	Event(m.conf.M, "closed", nil)
}

func (m *member) Setup(s sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session = s
	return nil
}

func (m *member) Cleanup(s sarama.ConsumerGroupSession) error {
	if m.conf.Commit == "revoke" {
		s.Commit()
	}
	return nil
}

func (m *member) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	own := []string{fmt.Sprintf("%s/%d", claim.Topic(), claim.Partition())}
	Event(m.conf.M, "assign", M{"parts": own})
	defer Event(m.conf.M, "revoke", M{"parts": own})
	for {
		select {
		case msg, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			m.handle(s, batch(msg, claim.Messages(), Or(m.conf.Batch, 100)))
		case <-s.Context().Done():
			return nil
		}
	}
}

// batch is the first message and those that wait behind it.
func batch(first *sarama.ConsumerMessage, more <-chan *sarama.ConsumerMessage, size int) []*sarama.ConsumerMessage {
	msgs := []*sarama.ConsumerMessage{first}
	for len(msgs) < size {
		select {
		case msg, ok := <-more:
			if !ok {
				return msgs
			}
			msgs = append(msgs, msg)
		default:
			return msgs
		}
	}
	return msgs
}

func (m *member) handle(s sarama.ConsumerGroupSession, msgs []*sarama.ConsumerMessage) {
	recs := [][]any{}
	for _, msg := range msgs {
		recs = append(recs, []any{msg.Topic, msg.Partition, msg.Offset, string(msg.Value)})
	}
	Event(m.conf.M, "recs", M{"recs": recs})
	time.Sleep(time.Duration(m.conf.Delay) * time.Millisecond)
	s.MarkMessage(msgs[len(msgs)-1], "")
	if m.conf.Manual() {
		s.Commit()
	}
}

// commit commits what the session has marked; sarama reports a refusal on its error channel.
func commit(c Cmd) (M, error) {
	m := get(c)
	m.mu.Lock()
	s := m.session
	m.mu.Unlock()
	for len(m.errs) > 0 {
		<-m.errs
	}
	s.Commit()
	select {
	case err := <-m.errs:
		return nil, coded(err)
	case <-time.After(300 * time.Millisecond):
		return nil, nil
	}
}

// coded puts the code of a Kafka error before its text, which does not name the error.
func coded(err error) error {
	var code sarama.KError
	if errors.As(err, &code) {
		return fmt.Errorf("[%d] %w", code, err)
	}
	return err
}

func get(c Cmd) *member {
	mu.Lock()
	defer mu.Unlock()
	return members[c.M]
}

func produce(c Cmd) (M, error) {
	p, err := sarama.NewSyncProducer(boot, config())
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var msgs []*sarama.ProducerMessage
	for i := c.Start; i < c.Start+c.N; i++ {
		msgs = append(msgs, &sarama.ProducerMessage{
			Topic: c.Topic, Partition: int32(i % c.Partitions), Value: sarama.StringEncoder(fmt.Sprint(i))})
	}
	return nil, p.SendMessages(msgs)
}

func create(c Cmd) (M, error) {
	admin, err := sarama.NewClusterAdmin(boot, config())
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	return nil, admin.CreateTopic(c.Topic, &sarama.TopicDetail{NumPartitions: int32(c.Partitions), ReplicationFactor: 1}, false)
}

func lag(c Cmd) (M, error) {
	client, err := sarama.NewClient(boot, config())
	if err != nil {
		return nil, err
	}
	admin, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	asked := map[string][]int32{c.Topic: {}}
	for i := range int32(c.Partitions) {
		asked[c.Topic] = append(asked[c.Topic], i)
	}
	done, err := admin.ListConsumerGroupOffsets(c.Group, asked)
	if err != nil {
		return nil, err
	}
	sum := int64(0)
	for _, i := range asked[c.Topic] {
		end, err := client.GetOffset(c.Topic, i, sarama.OffsetNewest)
		if err != nil {
			return nil, err
		}
		sum += end
		if at := done.GetBlock(c.Topic, i); at != nil {
			sum -= max(at.Offset, 0)
		}
	}
	return M{"lag": sum}, nil
}

func main() {
	if os.Getenv("CLIENT_LOG") != "" {
		sarama.Logger = log.Default()
		sarama.DebugLogger = log.Default()
	}
	Serve(map[string]func(Cmd) (M, error){
		"create": create, "produce": produce, "lag": lag, "start": start, "commit": commit,
		"close": func(c Cmd) (M, error) { get(c).cancel(); return nil, nil },
	})
}
