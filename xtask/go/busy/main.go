// A program that does a little of all that Go traces: goroutines that run, wait, switch and end,
// system calls, garbage collection, stopped worlds, tasks, regions, messages and samples.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"time"
)

type node struct {
	next *node
	data [80]byte
}

var (
	kept      []*node
	keptMutex sync.Mutex
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: busy TRACE MILLISECONDS")
	}
	milliseconds, err := strconv.Atoi(os.Args[2])
	check(err)
	file, err := os.Create(os.Args[1])
	check(err)
	runtime.GOMAXPROCS(4)
	profile, err := os.CreateTemp("", "busy")
	check(err)
	defer os.Remove(profile.Name())
	check(pprof.StartCPUProfile(profile))
	check(trace.Start(file))
	work(time.Now().Add(time.Duration(milliseconds) * time.Millisecond))
	trace.Stop()
	pprof.StopCPUProfile()
	check(file.Close())
}

func work(end time.Time) {
	ctx, task := trace.NewTask(context.Background(), "outer \"quoted\" täsk\x01\xff")
	defer task.End()
	var group sync.WaitGroup
	jobs := []func(){collect, locked, func() { echo(20) }}
	for worker := range 4 {
		jobs = append(jobs, func() { annotated(ctx, worker) })
	}
	for _, job := range jobs {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				job()
			}
		}()
	}
	group.Wait()
}

// Tasks in a task, regions in a region, messages, contention, files, sleep.
func annotated(ctx context.Context, worker int) {
	ctx, task := trace.NewTask(ctx, fmt.Sprint("inner ", worker))
	defer task.End()
	for round := range 20 {
		trace.WithRegion(ctx, "region", func() {
			trace.WithRegion(ctx, "nested", func() { spin(50 * time.Microsecond) })
			trace.Logf(ctx, "cat\n", "round %d \u200b \U0001F600", round)
		})
		keptMutex.Lock()
		if len(kept) > 10000 {
			kept = nil
		}
		for range 50 {
			kept = append(kept, new(node))
		}
		keptMutex.Unlock()
	}
	_, err := os.ReadDir("/proc/self/task")
	check(err)
	time.Sleep(100 * time.Microsecond)
	runtime.Gosched()
}

func spin(duration time.Duration) (sum int) {
	for begun := time.Now(); time.Since(begun) < duration; {
		for i := range 1000 {
			sum += i * sum
		}
	}
	return sum
}

// Channels, a timer, the collector, and worlds that stop.
func collect() {
	channel := make(chan int)
	go func() { channel <- 1 }()
	<-channel
	select {
	case <-channel:
	case <-time.After(time.Millisecond):
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	runtime.GOMAXPROCS(2 + int(stats.NumGC)%3)
}

// A goroutine with a thread of its own, and coroutines.
func locked() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	switchOver()
	time.Sleep(time.Millisecond)
}

// The network poller.
func echo(rounds int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	go func() {
		server, err := listener.Accept()
		if err != nil {
			return
		}
		defer server.Close()
		buffer := make([]byte, 16)
		for {
			length, err := server.Read(buffer)
			if err != nil {
				return
			}
			server.Write(buffer[:length])
		}
	}()
	client, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	defer client.Close()
	buffer := make([]byte, 16)
	for range rounds {
		client.Write([]byte("hello"))
		client.Read(buffer)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
