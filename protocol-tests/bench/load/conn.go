package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A conn is one connection: requests go out one by one, responses come back in order.
type conn struct {
	net.Conn
	in          *bufio.Reader
	format      *kmsg.RequestFormatter
	correlation int32
	out         []byte
	frame       []byte
}

func dial(address string) *conn {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	check(err)
	return &conn{Conn: c, in: bufio.NewReaderSize(c, 16<<10), format: kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench"))}
}

// send writes one request with a write of its own.
func (c *conn) send(request kmsg.Request) {
	c.correlation++
	c.out = c.format.AppendRequest(c.out[:0], request, c.correlation)
	_, err := c.Write(c.out)
	check(err)
}

// await reads the frame of the next response.
func (c *conn) await() []byte {
	var length [4]byte
	_, err := io.ReadFull(c.in, length[:])
	check(err)
	size := int(binary.BigEndian.Uint32(length[:]))
	if cap(c.frame) < size {
		c.frame = make([]byte, size)
	}
	frame := c.frame[:size]
	_, err = io.ReadFull(c.in, frame)
	check(err)
	return frame
}

// receive reads the response to the oldest request that has none.
func (c *conn) receive(request kmsg.Request) kmsg.Response {
	body := c.await()[4:] // the correlation id
	if request.IsFlexible() && request.Key() != 18 {
		body = body[1:] // the header has no tags
	}
	response := request.ResponseKind()
	response.SetVersion(request.GetVersion())
	check(response.ReadFrom(body))
	return response
}

// do sends a request and waits for its response.
func do[R kmsg.Response](c *conn, request kmsg.Request) R {
	c.send(request)
	return c.receive(request).(R)
}

// at gives a request its version.
func at[R kmsg.Request](version int16, request R) R {
	request.SetVersion(version)
	return request
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// expect ends the run on an error code that nobody expects: a server that refuses is not measured.
func expect(what string, code int16) {
	if code != 0 {
		panic(fmt.Sprintf("%s was answered with error %d", what, code))
	}
}
