//go:build !go1.23

package main

// Go 1.22 has no coroutines.
func switchOver() {}
