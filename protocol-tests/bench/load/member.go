package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	memberIDRequired    = 79
	rebalanceInProgress = 27
)

// A member of a classic group.
type member struct {
	*conn
	group      string
	id         string
	generation int32
	metadata   []byte
}

var unique atomic.Int64

// fresh is a name that no run has used before.
func fresh(kind string) string {
	return fmt.Sprintf("%s-%d-%d", kind, time.Now().UnixNano(), unique.Add(1))
}

func (m *member) joinRequest() *kmsg.JoinGroupRequest {
	r := at(7, kmsg.NewPtrJoinGroupRequest())
	r.Group, r.MemberID, r.ProtocolType = m.group, m.id, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 300_000, 300_000
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = "range", m.metadata
	r.Protocols = []kmsg.JoinGroupRequestProtocol{protocol}
	return r
}

// askForID does the first of the two joins of KIP-394.
func (m *member) askForID() {
	r := do[*kmsg.JoinGroupResponse](m.conn, m.joinRequest())
	if r.ErrorCode != memberIDRequired {
		expect("a join without an id", r.ErrorCode)
	}
	m.id = r.MemberID
}

// enter joins and syncs; false if the group began anew meanwhile. The leader gives everybody the same partition.
func (m *member) enter() bool {
	joined := do[*kmsg.JoinGroupResponse](m.conn, m.joinRequest())
	expect("JoinGroup", joined.ErrorCode)
	m.generation = joined.Generation
	r := at(5, kmsg.NewPtrSyncGroupRequest())
	r.Group, r.MemberID, r.Generation = m.group, m.id, m.generation
	r.ProtocolType, r.Protocol = joined.ProtocolType, joined.Protocol
	if joined.LeaderID == m.id {
		for _, other := range joined.Members {
			part := kmsg.NewSyncGroupRequestGroupAssignment()
			part.MemberID, part.MemberAssignment = other.MemberID, assignment()
			r.GroupAssignment = append(r.GroupAssignment, part)
		}
	}
	synced := do[*kmsg.SyncGroupResponse](m.conn, r)
	if synced.ErrorCode != rebalanceInProgress {
		expect("SyncGroup", synced.ErrorCode)
	}
	return synced.ErrorCode == 0
}

func (m *member) heartbeatRequest() *kmsg.HeartbeatRequest {
	r := at(4, kmsg.NewPtrHeartbeatRequest())
	r.Group, r.MemberID, r.Generation = m.group, m.id, m.generation
	return r
}

// isStable says whether the member's generation is the group's, and not about to end.
func (m *member) isStable() bool {
	return do[*kmsg.HeartbeatResponse](m.conn, m.heartbeatRequest()).ErrorCode == 0
}

func (m *member) leave() {
	r := at(4, kmsg.NewPtrLeaveGroupRequest())
	r.Group = m.group
	gone := kmsg.NewLeaveGroupRequestMember()
	gone.MemberID = m.id
	r.Members = []kmsg.LeaveGroupRequestMember{gone}
	expect("LeaveGroup", do[*kmsg.LeaveGroupResponse](m.conn, r).ErrorCode)
}

// waitForCoordinator returns once groups are served.
func waitForCoordinator(c *conn, group string) {
	r := at(4, kmsg.NewPtrFindCoordinatorRequest())
	r.CoordinatorKeys = []string{group}
	for do[*kmsg.FindCoordinatorResponse](c, r).Coordinators[0].ErrorCode != 0 {
		time.Sleep(50 * time.Millisecond)
	}
}

// subscription is what a consumer of one topic says of itself, with at least so many bytes of its own.
func subscription(userBytes int) []byte {
	s := kmsg.NewConsumerMemberMetadata()
	s.Version, s.Topics = 1, []string{"orders"}
	if userBytes > 0 {
		s.UserData = make([]byte, userBytes)
	}
	return s.AppendTo(nil)
}

func assignment() []byte {
	a := kmsg.NewConsumerMemberAssignment()
	t := kmsg.NewConsumerMemberAssignmentTopic()
	t.Topic, t.Partitions = "orders", []int32{0}
	a.Version, a.Topics = 1, []kmsg.ConsumerMemberAssignmentTopic{t}
	return a.AppendTo(nil)
}

// newcomers are members of one group that have ids and have not joined yet, each with a connection of its own.
func newcomers(count, userBytes int) []*member {
	group := fresh("group")
	members := make([]*member, count)
	for i := range members {
		members[i] = &member{conn: dial(*address), group: group, metadata: subscription(userBytes)}
	}
	waitForCoordinator(members[0].conn, group)
	for _, m := range members {
		m.askForID()
	}
	return members
}

// settle lets all enter until each is in a generation that stands.
func settle(members []*member) {
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			for !m.enter() || !m.isStable() {
			}
		})
	}
	all.Wait()
}

// loners are members that are alone in their groups, each with a connection of its own.
func loners(count int) []*member {
	members := make([]*member, count)
	for i := range members {
		alone := newcomers(1, 0)
		settle(alone)
		members[i] = alone[0]
	}
	return members
}

func hangUp(members []*member) {
	for _, m := range members {
		m.Close()
	}
}
