// Package dynamics runs client-go's own informers against a server and tells what they did and when: where a backlog sits, what
// a resync skips, how long a live event waits. `loadgen run --informer client-go` starts it, one process a trial.
//
// Lines of JSON on stdin and stdout. The first line is the trial's settings, answered when the informer has synced; then each
// line is a command, answered by one line: `"sample"`, `"end_resyncs"` and `"report"`, after which the program ends.
package dynamics

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
)

// As long as the caller waits.
const syncLimit = 90 * time.Second

type synced struct {
	Release string `json:"release"`
	Go      string `json:"go"`
	Known   int    `json:"known"`
}

type sample struct {
	CPUTime      int64  `json:"cpu_ns"`
	Resident     int64  `json:"rss_bytes"`
	ResidentPeak int64  `json:"rss_peak_bytes"`
	Keys         int64  `json:"queue_keys"`
	Deltas       int64  `json:"queue_deltas"`
	InProcess    int64  `json:"in_process"`
	Listener     *int64 `json:"listener"`
	Live         int64  `json:"live"`
	Sync         int64  `json:"sync"`
	Stale        int64  `json:"stale"`
	Handled      int64  `json:"handled"`
	Seen         uint64 `json:"seen"`
}

type report struct {
	// key, uid, call, old version, version, began, returned, in the first list, lost on purpose.
	Deliveries [][9]any `json:"deliveries"`
	// version, at.
	Received [][2]any     `json:"received"`
	Resyncs  []resyncLine `json:"resyncs"`
	// key, uid, version.
	Cache [][3]string `json:"cache"`
}

type resyncLine struct {
	Began    int64          `json:"began_ns"`
	Locked   int64          `json:"locked_ns"`
	Released int64          `json:"released_ns"`
	Known    int            `json:"known"`
	Enqueued int            `json:"enqueued"`
	Markers  int            `json:"markers"`
	Skipped  map[string]int `json:"skipped_pending"`
}

// Main serves one trial.
func Main(line Line) {
	stdin, err := pollable(0)
	if err == nil {
		err = serve(line, stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pollable is a pipe that the runtime polls. A read that waits in the kernel instead keeps the processor for up to 10 ms before
// the runtime takes it away; where there is one only, a handler that computes would stand still at each command.
func pollable(descriptor int) (*os.File, error) {
	if err := syscall.SetNonblock(descriptor, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(descriptor), "commands"), nil
}

func serve(line Line, stdin io.Reader, stdout io.Writer) error {
	commands := json.NewDecoder(bufio.NewReader(stdin))
	answers := json.NewEncoder(stdout)
	var settings Settings
	if err := commands.Decode(&settings); err != nil {
		return fmt.Errorf("no settings: %w", err)
	}
	handler := &Handler{
		cost: settings.Cost, lose: settings.Lose, loseDeletes: settings.LoseDeletes,
		random: rand.New(rand.NewPCG(settings.Seed, 0)), staleKeys: map[string]struct{}{},
	}
	stop := make(chan struct{})
	informer, err := start(line, settings, handler, stop)
	if err != nil {
		return err
	}
	limit, done := context.WithTimeout(context.Background(), syncLimit)
	defer done()
	if err := informer.waitUntilSynced(limit); err != nil {
		return fmt.Errorf("not synced: %w", err)
	}
	known := len(informer.store.ListKeys())
	if err := answers.Encode(synced{release(), runtime.Version(), known}); err != nil {
		return err
	}
	for {
		var command string
		if err := commands.Decode(&command); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch command {
		case "sample":
			err = answers.Encode(informer.sample())
		case "end_resyncs":
			informer.observer.ended.Store(true)
			err = answers.Encode(struct{}{})
		case "report":
			close(stop)
			return answers.Encode(informer.report())
		default:
			err = fmt.Errorf("no command %q", command)
		}
		if err != nil {
			return err
		}
	}
}

func (i *informer) sample() sample {
	keys, deltas := i.queueLength()
	resident, peak := residentMemory()
	return sample{
		CPUTime: cpuTime(), Resident: resident, ResidentPeak: peak,
		Keys: keys, Deltas: deltas, InProcess: i.observer.inProcess.Load(), Listener: i.listenerPending(),
		Live: i.handler.live.Load(), Sync: i.handler.sync.Load(), Stale: i.handler.stale.Load(),
		Handled: i.handler.handled.Load(), Seen: i.seen(),
	}
}

// report is asked for when nothing is under way.
func (i *informer) report() report {
	told := report{
		Deliveries: make([][9]any, 0, len(i.handler.deliveries)),
		Received:   make([][2]any, 0, len(i.observer.received)),
	}
	for _, one := range i.handler.deliveries {
		told.Deliveries = append(told.Deliveries, [9]any{
			key(one.namespace, one.name), one.uid, one.call, one.old, one.version, one.began, one.returned, one.initial, one.lost,
		})
	}
	for _, one := range i.observer.received {
		told.Received = append(told.Received, [2]any{one.version, one.at})
	}
	for _, one := range i.observer.resyncs {
		skipped := map[string]int{}
		for deltaType, count := range one.skipped {
			skipped[string(deltaType)] = count
		}
		told.Resyncs = append(told.Resyncs, resyncLine{
			one.began, one.locked, one.released, one.known, one.enqueued, one.markers, skipped,
		})
	}
	for _, one := range i.store.List() {
		object := one.(v1.Object)
		told.Cache = append(told.Cache, [3]string{key(object.GetNamespace(), object.GetName()), string(object.GetUID()), object.GetResourceVersion()})
	}
	return told
}

// release is the version of client-go that was built in.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/client-go" {
				return module.Version
			}
		}
	}
	return "unknown"
}
