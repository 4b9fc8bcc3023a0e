// franz-go behind the host protocol.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	. "clients/gohost"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var (
	boot    = os.Args[1]
	mu      sync.Mutex
	members = map[string]*member{}
	shares  = map[string]*kgo.Client{}
	txns    = map[string]*kgo.Client{}
	adm     *kadm.Client
)

type member struct {
	name    string
	conf    Cmd
	cl      *kgo.Client
	mu      sync.Mutex // held while a batch is handled, and by "commit"
	done    map[string]map[int32]kgo.EpochOffset
	closing chan struct{}
}

func groupOpts(c Cmd) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(boot), kgo.ConsumerGroup(c.Group), kgo.ClientID(Or(c.M, "eos")),
		kgo.SessionTimeout(time.Duration(Or(c.Session, 6000)) * time.Millisecond),
		kgo.HeartbeatInterval(time.Duration(Or(c.Hb, 500)) * time.Millisecond),
		kgo.MetadataMaxAge(time.Second), kgo.MetadataMinAge(200 * time.Millisecond), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll(),
	}
	if c.Commit == "auto" {
		opts = append(opts, kgo.AutoCommitMarks(), kgo.AutoCommitInterval(time.Duration(Or(c.AutoMs, 1000))*time.Millisecond))
	} else {
		opts = append(opts, kgo.DisableAutoCommit())
	}
	if c.Isolation == "read_committed" {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if c.Instance != "" {
		opts = append(opts, kgo.InstanceID(c.Instance))
	}
	if c.Re2j != "" {
		opts = append(opts, kgo.ConsumeTopics(c.Re2j), kgo.ConsumeRegex())
	} else {
		opts = append(opts, kgo.ConsumeTopics(c.Topics...))
	}
	if c.Protocol == "consumer" {
		b := kgo.StickyBalancer()
		if c.Remote == "range" {
			b = kgo.RangeBalancer()
		}
		opts = append(opts, kgo.ServerSideBalancer(), kgo.Balancers(b))
	} else if len(c.Assignors) > 0 {
		var bs []kgo.GroupBalancer
		for _, a := range c.Assignors {
			bs = append(bs, map[string]func() kgo.GroupBalancer{"range": kgo.RangeBalancer, "roundrobin": kgo.RoundRobinBalancer,
				"sticky": kgo.StickyBalancer, "cooperative-sticky": kgo.CooperativeStickyBalancer}[a]())
		}
		opts = append(opts, kgo.Balancers(bs...))
	}
	if os.Getenv("CLIENT_LOG") != "" {
		opts = append(opts, kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelDebug, nil)))
	}
	return opts
}

func start(c Cmd) (M, error) {
	m := &member{name: c.M, conf: c, closing: make(chan struct{}), done: map[string]map[int32]kgo.EpochOffset{}}
	on := func(kind string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, ps map[string][]int32) {
			Event(m.name, kind, M{"parts": Parts(ps)})
		}
	}
	revoked := func(ctx context.Context, cl *kgo.Client, ps map[string][]int32) {
		var err error
		switch c.Commit {
		case "revoke":
			err = cl.CommitUncommittedOffsets(ctx)
		case "auto":
			err = cl.CommitMarkedOffsets(ctx)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, m.name, "commit on revoke:", err)
		}
		on("revoke")(ctx, cl, ps)
	}
	cl, err := kgo.NewClient(append(groupOpts(c), kgo.OnPartitionsAssigned(on("assign")),
		kgo.OnPartitionsRevoked(revoked), kgo.OnPartitionsLost(on("lost")))...)
	if err != nil {
		return nil, err
	}
	m.cl = cl
	mu.Lock()
	members[c.M] = m
	mu.Unlock()
	go m.run()
	return nil, nil
}

func (m *member) run() {
	for {
		select {
		case <-m.closing:
			m.cl.CloseAllowingRebalance()
			Event(m.name, "closed", nil)
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		fs := m.cl.PollRecords(ctx, Or(m.conf.Batch, 100))
		cancel()
		var fatal error
		fs.EachError(func(_ string, _ int32, err error) {
			var ge *kgo.ErrGroupSession
			if errors.As(err, &ge) && (errors.Is(err, kerr.FencedInstanceID) || errors.Is(err, kerr.InconsistentGroupProtocol) ||
				errors.Is(err, kerr.UnreleasedInstanceID)) {
				fatal = err
			} else if !errors.Is(err, context.DeadlineExceeded) {
				fmt.Fprintln(os.Stderr, m.name, err)
			}
		})
		if fatal != nil {
			Event(m.name, "error", M{"err": fatal.Error()})
			m.cl.CloseAllowingRebalance()
			return
		}
		if fs.NumRecords() > 0 {
			m.mu.Lock()
			recs := [][]any{}
			fs.EachRecord(func(r *kgo.Record) {
				recs = append(recs, []any{r.Topic, r.Partition, r.Offset, string(r.Value)})
				if m.done[r.Topic] == nil {
					m.done[r.Topic] = map[int32]kgo.EpochOffset{}
				}
				m.done[r.Topic][r.Partition] = kgo.EpochOffset{Epoch: -1, Offset: r.Offset + 1}
			})
			Event(m.name, "recs", M{"recs": recs})
			time.Sleep(time.Duration(m.conf.Delay) * time.Millisecond)
			if m.conf.Commit == "auto" {
				m.cl.MarkCommitRecords(fs.Records()...)
			}
			if m.conf.Manual() {
				if err := m.cl.CommitUncommittedOffsets(context.Background()); err != nil {
					Event(m.name, "error", M{"err": err.Error()})
				}
			}
			m.mu.Unlock()
		}
		m.cl.AllowRebalance()
	}
}

// commit commits everything the member has read, whatever became of its membership since.
func commit(c Cmd) (M, error) {
	m := get(c)
	m.mu.Lock()
	defer m.mu.Unlock()
	var failed error
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	m.cl.CommitOffsetsSync(ctx, m.done, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, r *kmsg.OffsetCommitResponse, err error) {
		failed = err
		if r != nil {
			for _, t := range r.Topics {
				for _, p := range t.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						failed = err
					}
				}
			}
		}
	})
	return nil, failed
}

func get(c Cmd) *member {
	mu.Lock()
	defer mu.Unlock()
	return members[c.M]
}

func produce(c Cmd) (M, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(boot), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	var rs []*kgo.Record
	for i := c.Start; i < c.Start+c.N; i++ {
		rs = append(rs, &kgo.Record{Topic: c.Topic, Partition: int32(i % c.Partitions), Value: fmt.Appendf(nil, "%d", i)})
	}
	return nil, cl.ProduceSync(context.Background(), rs...).FirstErr()
}

func lag(c Cmd) (M, error) {
	done, err := adm.FetchOffsets(context.Background(), c.Group)
	if err != nil {
		return nil, err
	}
	ends, err := adm.ListEndOffsets(context.Background(), c.Topic)
	if err != nil {
		return nil, err
	}
	sum := int64(0)
	var bad error
	ends.Each(func(o kadm.ListedOffset) {
		if o.Err != nil {
			bad = o.Err
		}
		sum += o.Offset
		if at, ok := done.Lookup(o.Topic, o.Partition); ok && at.At > 0 {
			sum -= at.At
		}
	})
	return M{"lag": sum}, bad
}

func group(c Cmd) (M, error) {
	gs, err := adm.ListGroups(context.Background())
	if err != nil {
		return nil, err
	}
	g := gs[c.Group]
	return M{"type": g.GroupType, "state": g.State}, nil
}

// committedAre says whether the group's committed offsets are those of want.
func committedAre(group string, want map[int32]int64) (bool, error) {
	got, err := adm.FetchOffsets(context.Background(), group)
	if err != nil {
		return false, err
	}
	n, same := 0, true
	got.Each(func(o kadm.OffsetResponse) {
		n++
		same = same && want[o.Partition] == o.At
	})
	return same && n == len(want), nil
}

func eos(c Cmd) (M, error) {
	c.Topics, c.Isolation = []string{c.In}, "read_committed"
	opts := []kgo.Opt{kgo.TransactionalID(c.Txid), kgo.DefaultProduceTopic(c.Out), kgo.RequireStableFetchOffsets(),
		kgo.RecordPartitioner(kgo.ManualPartitioner())}
	s, err := kgo.NewGroupTransactSession(append(groupOpts(c), opts...)...)
	if err != nil {
		return nil, err
	}
	defer s.CloseAllowingRebalance()
	done, aborted, n, unchanged, known := 0, 0, 0, true, map[int32]int64{}
	for end := time.Now().Add(25 * time.Second); done < c.N && time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		fs := s.PollRecords(ctx, 10)
		cancel()
		if fs.NumRecords() == 0 {
			s.AllowRebalance()
			continue
		}
		for i := 0; ; i++ { // the offsets of a transaction that has just ended may take a moment to show
			if same, err := committedAre(c.Group, known); err != nil {
				return nil, err
			} else if same || i == 100 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err := s.Begin(); err != nil {
			return nil, err
		}
		var rs []*kgo.Record
		fs.EachRecord(func(r *kgo.Record) { rs = append(rs, &kgo.Record{Value: append([]byte("x"), r.Value...)}) })
		if err := s.ProduceSync(context.Background(), rs...).FirstErr(); err != nil {
			return nil, err
		}
		abort := c.Aborts(n)
		n++
		ok, err := s.End(context.Background(), kgo.TransactionEndTry(!abort))
		if err != nil || ok == abort {
			return nil, fmt.Errorf("end of transaction: committed %v, %v", ok, err)
		}
		if abort {
			aborted++
			same, err := committedAre(c.Group, known)
			if err != nil {
				return nil, err
			}
			unchanged = unchanged && same
		} else {
			done += len(rs)
			fs.EachRecord(func(r *kgo.Record) { known[r.Partition] = r.Offset + 1 })
		}
		s.AllowRebalance()
	}
	return M{"done": done, "aborted": aborted, "unchanged": unchanged}, nil
}

func txnBegin(c Cmd) (M, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(boot), kgo.TransactionalID(c.Txid), kgo.DefaultProduceTopic(c.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, err
	}
	if err := cl.BeginTransaction(); err != nil {
		return nil, err
	}
	for i := range c.N {
		if err := cl.ProduceSync(context.Background(), kgo.StringRecord(fmt.Sprint(c.Prefix, i))).FirstErr(); err != nil {
			return nil, err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	txns[Or(c.As, c.Txid)] = cl
	return nil, nil
}

func txnEnd(c Cmd) (M, error) {
	mu.Lock()
	cl := txns[c.Txid]
	mu.Unlock()
	return nil, cl.EndTransaction(context.Background(), kgo.TransactionEndTry(c.Commit == true))
}

func shareStart(c Cmd) (M, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(boot), kgo.ShareGroup(c.Group), kgo.ConsumeTopics(c.Topic),
		kgo.ShareMaxRecords(int32(Or(c.Batch, 10))), kgo.ShareMaxRecordsStrict(), kgo.FetchMaxWait(300*time.Millisecond))
	mu.Lock()
	defer mu.Unlock()
	shares[c.M] = cl
	return nil, err
}

func sharePoll(c Cmd) (M, error) {
	mu.Lock()
	cl := shares[c.M]
	mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.Ms)*time.Millisecond)
	fs := cl.PollRecords(ctx, Or(c.Batch, 10))
	cancel()
	recs := [][]any{}
	fs.EachRecord(func(r *kgo.Record) {
		recs = append(recs, []any{r.Topic, r.Partition, r.Offset, string(r.Value), r.DeliveryCount()})
		r.Ack(map[string]kgo.AckStatus{"": kgo.AckAccept, "RELEASE": kgo.AckRelease, "REJECT": kgo.AckReject}[c.Ack[string(r.Value)]])
	})
	ctx, cancel = context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return M{"recs": recs}, cl.FlushAcks(ctx)
}

func ok(err error) (M, error) { return nil, err }

func main() {
	cl, err := kgo.NewClient(kgo.SeedBrokers(boot), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		panic(err)
	}
	adm = kadm.NewClient(cl)
	ctx := context.Background()
	Serve(map[string]func(Cmd) (M, error){
		"create": func(c Cmd) (M, error) {
			r, err := adm.CreateTopic(ctx, int32(c.Partitions), 1, nil, c.Topic)
			return ok(errors.Join(err, r.Err))
		},
		"grow": func(c Cmd) (M, error) {
			r, err := adm.UpdatePartitions(ctx, c.Partitions, c.Topic)
			return ok(errors.Join(err, r.Error()))
		},
		"groupconfig": func(c Cmd) (M, error) {
			req := kmsg.NewPtrIncrementalAlterConfigsRequest()
			res := kmsg.NewIncrementalAlterConfigsRequestResource()
			res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, c.Group
			kv := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			kv.Name, kv.Value = c.Key, &c.Value
			res.Configs = append(res.Configs, kv)
			req.Resources = append(req.Resources, res)
			r, err := req.RequestWith(ctx, cl)
			if err == nil {
				err = kerr.ErrorForCode(r.Resources[0].ErrorCode)
			}
			return ok(err)
		},
		"produce": produce, "lag": lag, "group": group, "start": start, "commit": commit, "eos": eos,
		"close":       func(c Cmd) (M, error) { close(get(c).closing); return nil, nil },
		"txn_begin":   txnBegin,
		"txn_end":     txnEnd,
		"share_start": shareStart, "share_poll": sharePoll,
		"share_close": func(c Cmd) (M, error) {
			mu.Lock()
			defer mu.Unlock()
			shares[c.M].Close()
			return nil, nil
		},
	})
}
