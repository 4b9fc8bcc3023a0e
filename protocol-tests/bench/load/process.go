package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpu is the processor time that the server has used so far. Linux counts it in ticks of 10 ms.
func cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", *pid))
	check(err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	check(err)
	system, err := strconv.Atoi(fields[12])
	check(err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident is the memory of the server that is in RAM, in KiB.
func resident() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", *pid))
	check(err)
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	check(err)
	return float64(kib)
}
