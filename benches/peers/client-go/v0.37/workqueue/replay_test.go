// Package workqueue replays traces on the work queue of client-go, with a fake clock.
//
// It is a test, since only a test may wait until every goroutine of the queue waits (testing/synctest): built with
// "go test -c" and run by benches/peers/client-go/check. It speaks lines as package replay does.
package workqueue

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	clock "k8s.io/utils/clock/testing"
)

type header struct {
	Options []string `json:"options"`
}

type operation struct {
	Work        string `json:"work"`
	Item        string `json:"item"`
	Place       int    `json:"place"`
	Nanoseconds int64  `json:"nanoseconds"`
}

type subject struct {
	limiter    workqueue.TypedRateLimiter[string]
	queue      workqueue.TypedRateLimitingInterface[string]
	clock      *clock.FakeClock
	processing []string
	drained    chan struct{}
	drains     int
}

func TestReplay(t *testing.T) {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	writer := bufio.NewWriterSize(os.Stdout, 1<<20)
	line, err := reader.ReadBytes('\n')
	for err == nil {
		var h header
		if err := json.Unmarshal(line, &h); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(writer, "{\"client_go\":%q}\n", release()); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { line, err = replay(t, h, reader, writer) })
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
}

// replay answers the operations of one trace and gives the header of the next.
func replay(t *testing.T, h header, reader *bufio.Reader, writer *bufio.Writer) ([]byte, error) {
	s := newSubject(h)
	defer s.end()
	for {
		// Whoever waits for an answer before the next question gets it.
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := reader.ReadBytes('\n')
		if err != nil || bytes.HasPrefix(line, []byte(`{"trace"`)) {
			return line, err
		}
		var o operation
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatal(err)
		}
		answer := fmt.Appendf(nil, `{"result":%q`, s.apply(&o))
		if _, err := writer.Write(append(s.appendState(answer), "}\n"...)); err != nil {
			t.Fatal(err)
		}
	}
}

func newSubject(h header) *subject {
	fake := clock.NewFakeClock(time.Now())
	limiter := newLimiter(h)
	return &subject{
		limiter: limiter,
		clock:   fake,
		drained: make(chan struct{}, 1000),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
			workqueue.TypedRateLimitingQueueConfig[string]{Clock: fake}),
	}
}

// end ends the goroutines of the queue, for they must not outlive the trace.
func (s *subject) end() {
	for _, item := range s.processing {
		s.queue.Done(item)
	}
	s.queue.ShutDown()
	synctest.Wait()
}

// newLimiter makes what benches/src/differential/work.rs makes.
func newLimiter(h header) workqueue.TypedRateLimiter[string] {
	exponential := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 320*time.Millisecond)
	}
	fastSlow := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemFastSlowRateLimiter[string](5*time.Millisecond, 20*time.Millisecond, 3)
	}
	bucket := func() workqueue.TypedRateLimiter[string] {
		return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(7.3), 3)}
	}
	has := func(option string) bool { return slices.Contains(h.Options, option) }
	switch {
	case has("limiter-exponential"):
		return exponential()
	case has("limiter-fast-slow"):
		return fastSlow()
	case has("limiter-bucket"):
		return bucket()
	case has("limiter-max-of"):
		return workqueue.NewTypedMaxOfRateLimiter(exponential(), fastSlow(), bucket())
	case has("limiter-max-wait"):
		return workqueue.NewTypedWithMaxWaitRateLimiter(exponential(), 33*time.Millisecond)
	case has("limiter-item-based"):
		return workqueue.DefaultTypedItemBasedRateLimiter[string]()
	default:
		return workqueue.DefaultTypedControllerRateLimiter[string]()
	}
}

func (s *subject) apply(o *operation) string {
	switch o.Work {
	case "add":
		s.queue.Add(o.Item)
	case "add_after":
		s.queue.AddAfter(o.Item, time.Duration(o.Nanoseconds))
	case "add_rate_limited":
		s.queue.AddRateLimited(o.Item)
	case "forget":
		s.queue.Forget(o.Item)
	case "when":
		return strconv.FormatInt(s.limiter.When(o.Item).Nanoseconds(), 10)
	case "requeues":
		return strconv.Itoa(s.queue.NumRequeues(o.Item))
	case "get":
		// A get of an empty queue would wait.
		if s.queue.Len() == 0 && !s.queue.ShuttingDown() {
			return "empty"
		}
		item, shutdown := s.queue.Get()
		if shutdown {
			return "shut down"
		}
		s.processing = append(s.processing, item)
		return "got " + item
	case "done":
		if len(s.processing) == 0 {
			return "nothing"
		}
		place := o.Place % len(s.processing)
		item := s.processing[place]
		s.processing = slices.Delete(s.processing, place, place+1)
		s.queue.Done(item)
		return "done " + item
	case "step":
		s.clock.Step(time.Duration(o.Nanoseconds))
		// The bucket reads the machine's clock, which is a fake one in here, too.
		time.Sleep(time.Duration(o.Nanoseconds))
	case "shut_down":
		s.queue.ShutDown()
	case "drain":
		go func() {
			s.queue.ShutDownWithDrain()
			s.drained <- struct{}{}
		}()
	default:
		panic("unknown operation " + o.Work)
	}
	return "ok"
}

func (s *subject) appendState(b []byte) []byte {
	synctest.Wait()
	b = fmt.Appendf(b, `,"len":%d`, s.queue.Len())
	if s.queue.ShuttingDown() {
		b = append(b, `,"shutting_down":true`...)
	}
	for len(s.drained) > 0 {
		<-s.drained
		s.drains++
	}
	if s.drains > 0 {
		b = fmt.Appendf(b, `,"drained":%d`, s.drains)
	}
	return b
}

// release is read off a path, since the build information of a test lists no modules.
func release() string {
	function := reflect.ValueOf(workqueue.DefaultTypedControllerRateLimiter[string]).Pointer()
	file, _ := runtime.FuncForPC(function).FileLine(function)
	_, version, found := strings.Cut(file, "k8s.io/client-go@")
	if !found {
		return "unknown"
	}
	version, _, _ = strings.Cut(version, "/")
	return version
}
