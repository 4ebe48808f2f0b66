// Prints the side data of the AllocFree experiment as Go's own reader hands it out: for each
// generation the bytes of every batch, then what they say, kind by kind. It stands inside Go's
// cmd tree when it is built, since only programs there may import internal/trace.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"internal/trace"
	"io"
	"log"
	"os"
)

// What follows a kind byte: how many numbers and texts one record has, and what it is called.
type record struct {
	kind   byte
	name   string
	fields string // n: a number, t: a text
}

var records = []record{
	{0, "type", "nnnnt"},
	{1, "info", "nnnn"},
	{64, "build", "tt"},
	{66, "class", "nn"},
	{67, "site", "nnnn"},
	{68, "thread", "nnnt"},
}

const closing = 69

func main() {
	log.SetFlags(0)
	log.SetPrefix("side_data: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: side_data TRACE")
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	reader, err := trace.NewReader(bufio.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return
		}
		if err != nil {
			out.Flush()
			log.Fatal(err)
		}
		if event.Kind() == trace.EventSync {
			sync := event.Sync()
			fmt.Fprintf(out, "generation %d\n", sync.N)
			write(out, sync.ExperimentalBatches["AllocFree"])
		}
	}
}

func write(out io.Writer, batches []trace.ExperimentalBatch) {
	for _, batch := range batches {
		fmt.Fprintf(out, "batch %d %s\n", int64(batch.Thread), hex.EncodeToString(batch.Data))
	}
	for _, record := range records {
		for _, batch := range batches {
			if len(batch.Data) > 0 && batch.Data[0] == record.kind {
				writeRecords(out, record, &fields{batch.Data[1:]})
			}
		}
	}
	for _, batch := range batches {
		if len(batch.Data) > 0 && batch.Data[0] == closing {
			writeClosing(out, &fields{batch.Data[1:]})
		}
	}
}

func writeRecords(out io.Writer, record record, in *fields) {
	for len(in.rest) > 0 {
		fmt.Fprint(out, record.name)
		for _, field := range record.fields {
			if field == 'n' {
				fmt.Fprintf(out, " %d", in.number())
			} else {
				fmt.Fprintf(out, " %q", hex.EncodeToString(in.text()))
			}
		}
		fmt.Fprintln(out)
	}
}

func writeClosing(out io.Writer, in *fields) {
	fmt.Fprintf(out, "closing %d\n", in.number())
	for range 9 {
		fmt.Fprintf(out, "count %d %d %d\n", in.number(), in.number(), in.number())
	}
	for len(in.rest) > 0 {
		fmt.Fprintf(out, "cpu %d %d\n", in.number(), in.number())
	}
}

// What is left of a batch.
type fields struct{ rest []byte }

func (f *fields) number() uint64 {
	number, length := binary.Uvarint(f.rest)
	if length <= 0 {
		log.Fatal("a number of a batch is cut short or too long")
	}
	f.rest = f.rest[length:]
	return number
}

func (f *fields) text() []byte {
	length := f.number()
	if length > uint64(len(f.rest)) {
		log.Fatal("a text is longer than its batch")
	}
	text := f.rest[:length]
	f.rest = f.rest[length:]
	return text
}
