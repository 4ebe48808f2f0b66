// Reads every test and every fuzz input of Go's internal/trace with Go's own reader. For each it
// writes NAME.trace, the bytes, and NAME.events, what the reader hands out, and prints a line: the
// name, a tab, and "ok" or the error. It stands inside Go's cmd tree when it is built, since only
// programs there may import internal/trace.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"internal/trace"
	"internal/trace/testtrace"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("conformance: ")
	if len(os.Args) != 3 {
		log.Fatal("usage: conformance TESTDATA DIRECTORY")
	}
	testdata, directory := os.Args[1], os.Args[2]
	for _, path := range matches(testdata, "tests", "*.test") {
		reader, _, expectation, err := testtrace.ParseFile(path)
		check(err)
		content, err := io.ReadAll(reader)
		check(err)
		name := strings.TrimSuffix(filepath.Base(path), ".test")
		check(expectation.Check(read(directory, name, content)))
	}
	for _, path := range matches(testdata, "fuzz", "FuzzReader", "*") {
		read(directory, "fuzz-"+filepath.Base(path), input(path))
	}
}

func matches(parts ...string) []string {
	paths, err := filepath.Glob(filepath.Join(parts...))
	check(err)
	if len(paths) == 0 {
		log.Fatalf("there is no %s", filepath.Join(parts...))
	}
	return paths
}

// The bytes of a fuzz input: its second line is the argument as Go source.
func input(path string) []byte {
	text, err := os.ReadFile(path)
	check(err)
	_, line, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSpace(line)
	quoted, isBytes := strings.CutPrefix(line, "[]byte(")
	if !isBytes {
		log.Fatalf("%s: not one argument of bytes", path)
	}
	content, err := strconv.Unquote(strings.TrimSuffix(quoted, ")"))
	check(err)
	return []byte(content)
}

func read(directory, name string, content []byte) error {
	base := filepath.Join(directory, name)
	check(os.WriteFile(base+".trace", content, 0o666))
	file, err := os.Create(base + ".events")
	check(err)
	out := bufio.NewWriter(file)
	verdict := events(content, out)
	check(out.Flush())
	check(file.Close())
	if verdict == nil {
		fmt.Printf("%s\tok\n", name)
	} else {
		first, _, _ := strings.Cut(verdict.Error(), "\n")
		fmt.Printf("%s\t%s\n", name, first)
	}
	return verdict
}

func events(content []byte, out io.Writer) error {
	reader, err := trace.NewReader(bytes.NewReader(content))
	if err != nil {
		return err
	}
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, event)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
