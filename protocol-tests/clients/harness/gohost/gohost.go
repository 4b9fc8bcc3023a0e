// Package gohost is the host side of the protocol for the Go clients.
package gohost

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// Cmd is one command line.
type Cmd struct {
	ID         int
	Op, M      string
	Group      string
	Topic      string
	Topics     []string
	Partitions int
	N, Start   int
	Instance   string
	Assignors  []string
	Protocol   string
	Remote     string
	Re2j       string
	Session    int
	Hb         int
	Batch      int
	Delay      int
	Commit     any // "batch", "auto" or "revoke" of start, a bool of txn_end
	AutoMs     int `json:"auto_ms"`
	Isolation  string
	In, Out    string
	Txid, As   string
	Prefix     string
	Abort      []int
	Ms         int
	Ack        map[string]string
	Key, Value string
}

// M is a JSON object.
type M = map[string]any

var out sync.Mutex

func emit(m M) {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	out.Lock()
	defer out.Unlock()
	os.Stdout.Write(append(b, '\n'))
}

// Event reports something that happened to a member.
func Event(member, kind string, more M) {
	e := M{"ev": kind, "m": member}
	for k, v := range more {
		e[k] = v
	}
	emit(e)
}

// Parts turns topic -> partitions into the protocol's names.
func Parts[I int | int32](m map[string][]I) []string {
	ps := []string{}
	for t, is := range m {
		for _, i := range is {
			ps = append(ps, fmt.Sprintf("%s/%d", t, i))
		}
	}
	return ps
}

// Manual says whether a member commits after each batch.
func (c Cmd) Manual() bool { return c.Commit == "batch" }

// Aborts says whether transaction i is to be aborted.
func (c Cmd) Aborts(i int) bool {
	for _, a := range c.Abort {
		if a == i {
			return true
		}
	}
	return false
}

// Or returns v, or d if v is zero.
func Or[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

// Serve answers each command by its handler, in its own goroutine, until stdin ends.
func Serve(ops map[string]func(Cmd) (M, error)) {
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		var c Cmd
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		go func() {
			fn, r, err := ops[c.Op], M{}, error(nil)
			if fn == nil {
				err = fmt.Errorf("not implemented: %s", c.Op)
			} else if r, err = fn(c); r == nil {
				r = M{}
			}
			r["id"], r["ok"] = c.ID, err == nil
			if err != nil {
				r["err"] = err.Error()
			}
			emit(r)
		}()
	}
}
