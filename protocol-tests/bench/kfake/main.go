// kfake: franz-go's fake Kafka, one broker in memory, as a process of its own. It speaks like the other servers of
// the bench: `kfake HOST:PORT` prints `listening HOST:PORT` once it accepts connections.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: kfake HOST:PORT"))
	}
	address := os.Args[1]
	_, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.AllowAutoTopicCreation(),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) { return net.Listen(network, address) }),
	)
	if err != nil {
		fail(err)
	}
	fmt.Println("listening", address)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kfake:", err)
	os.Exit(2)
}
