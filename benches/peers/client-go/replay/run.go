// Package replay runs traces of operations against a queue of client-go and writes what became of each.
//
// It speaks lines of JSON. A line with "trace" begins a trace and is answered with the release; every other line is an
// operation and is answered with its outcome. See ../README.md.
package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Main replays standard input to standard output: traces, or with the argument "informers" whole informers.
func Main(presets map[string]NewSubject) {
	// Lookups that fail are logged as errors, many thousand times.
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	// The default handlers log, and sleep to bound how often.
	runtime.ErrorHandlers = nil
	work := func() error { return run(presets, os.Stdin, os.Stdout) }
	if len(os.Args) > 1 && os.Args[1] == "informers" {
		work = func() error { return informers(os.Stdin, os.Stdout) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(presets map[string]NewSubject, input io.Reader, output io.Writer) error {
	reader := bufio.NewReaderSize(input, 1<<20)
	writer := bufio.NewWriterSize(output, 1<<20)
	var subject *Subject
	var answer []byte
	for {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return writer.Flush()
		} else if err != nil {
			return err
		}
		answer = answer[:0]
		if bytes.HasPrefix(line, []byte(`{"trace"`)) {
			var header Header
			if err := json.Unmarshal(line, &header); err != nil {
				return err
			}
			if subject, err = newSubject(presets, header); err != nil {
				return err
			}
			answer = fmt.Appendf(answer, `{"client_go":%q}`, release)
		} else {
			var operation Operation
			if err := json.Unmarshal(line, &operation); err != nil {
				return fmt.Errorf("%w in %s", err, line)
			}
			answer = subject.apply(answer, &operation)
		}
		if _, err := writer.Write(append(answer, '\n')); err != nil {
			return err
		}
		// Whoever waits for an answer before the next question gets it.
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				return err
			}
		}
	}
}

func newSubject(presets map[string]NewSubject, header Header) (*Subject, error) {
	create, ok := presets[header.Preset]
	if !ok {
		return nil, fmt.Errorf("%s has no preset %q", release, header.Preset)
	}
	handler := &recorder{}
	setup := &Setup{Handler: handler, Known: &Known{}, Indexers: cache.Indexers{}}
	if header.Has(WithTransformer) {
		setup.Transform = transform
	}
	if header.Has(WithIndexes) {
		setup.Indexers = indexers()
	}
	subject := create(header, setup)
	subject.known = setup.Known
	handler.subject = subject
	return subject, nil
}

var release = func() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/client-go" {
				return module.Version
			}
		}
	}
	return "unknown"
}()
