//go:build go1.23

package main

import "iter"

// Goes to and fro between two coroutines.
func switchOver() {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	for range 10 {
		next()
	}
	stop()
}
