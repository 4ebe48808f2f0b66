// Churn of 1,000 objects in Go: with an argument it is traced into that file, and with
// GODEBUG=traceallocfree=1 each allocation and free is in the trace. Prints nanoseconds and events.
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/trace"
	"time"
)

const (
	live  = 1000
	steps = 5_000_000
)

func main() {
	random := rand.New(rand.NewPCG(5, 11))
	sizes := make([]int, 1<<14)
	for i := range sizes {
		sizes[i] = min(max(int(math.Exp(4.5+1.2*random.NormFloat64())), 8), 512)
	}
	if len(os.Args) > 1 {
		file, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		defer file.Close()
		if err := trace.Start(file); err != nil {
			panic(err)
		}
		defer trace.Stop()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	objects := make([][]byte, live)
	for range steps {
		number := random.Uint64()
		object := make([]byte, sizes[number>>50])
		object[0] = byte(number)
		objects[number%live] = object
	}
	nanos := time.Since(begun).Nanoseconds()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(objects)
	fmt.Println(nanos, after.Mallocs-before.Mallocs+after.Frees-before.Frees)
}
