package dynamics

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// An Observer stands between the reflector and the queue, and between the queue and its known objects. Nothing else of the
// informer is touched: what it is told goes on at once.
type Observer struct {
	// Pending lists the keys with deltas in the queue, each with its first delta's type. Called under the queue's lock.
	Pending func() map[string]cache.DeltaType

	received []received
	resyncs  []resync
	current  resync
	syncing  bool
	ended    atomic.Bool

	// Deltas that went in, and that came out.
	in, out atomic.Int64
	// Deltas that are being processed; of a plain informer only.
	inProcess atomic.Int64
}

type received struct {
	version uint64
	at      int64
}

type resync struct {
	began, locked, released  int64
	known, enqueued, markers int
	skipped                  map[cache.DeltaType]int
}

// Received notes a watch event, decoded and about to be written.
func (o *Observer) Received(object any) {
	if object, ok := object.(v1.Object); ok {
		o.received = append(o.received, received{version(object), monotonic()})
	}
	o.in.Add(1)
}

// Replaced notes a list of so many objects.
func (o *Observer) Replaced(objects int) { o.in.Add(int64(objects)) }

// Resync notes when the queue's Resync is called, and what it did.
func (o *Observer) Resync(resync func() error) error {
	o.current.began, o.current.locked, o.syncing = monotonic(), 0, true
	err := resync()
	o.current.released, o.syncing = monotonic(), false
	if o.current.locked == 0 {
		// Nobody was asked for the known objects: the queue took the resync as one entry. That is all it did under its lock.
		o.current.locked, o.current.markers = o.current.released, 1
	}
	o.resyncs = append(o.resyncs, o.current)
	o.in.Add(int64(o.current.enqueued + o.current.markers))
	o.current.known, o.current.enqueued, o.current.markers, o.current.skipped = 0, 0, 0, nil
	return err
}

// listed is called under the queue's lock, before the resync looks at the first key.
func (o *Observer) listed(keys []string) {
	if !o.syncing {
		return
	}
	o.current.locked = monotonic()
	o.current.known, o.current.skipped = len(keys), map[cache.DeltaType]int{}
	if pending := o.Pending(); len(pending) > 0 {
		for _, key := range keys {
			if first, ok := pending[key]; ok {
				o.current.skipped[first]++
				o.current.enqueued--
			}
		}
	}
	o.current.enqueued += len(keys)
}

func (o *Observer) processing(deltas int, process func() error) error {
	o.out.Add(int64(deltas))
	o.inProcess.Store(int64(deltas))
	defer o.inProcess.Store(0)
	return process()
}

// knownObjects tells the observer when a resync asks for the keys.
type knownObjects struct {
	cache.KeyListerGetter
	observer *Observer
}

func (k knownObjects) ListKeys() []string {
	keys := k.KeyListerGetter.ListKeys()
	k.observer.listed(keys)
	return keys
}

// distributions counts what a shared informer gives to its listener: the mutation detector is asked just before.
type distributions struct {
	cache.MutationDetector
	count atomic.Int64
}

func (d *distributions) AddObject(object any) {
	d.count.Add(1)
	d.MutationDetector.AddObject(object)
}

// PendingEvents is Pending of a queue that is one list of deltas.
func PendingEvents(items *[]cache.Delta, keyOf func(any) (string, error)) func() map[string]cache.DeltaType {
	return func() map[string]cache.DeltaType {
		first := make(map[string]cache.DeltaType, len(*items))
		for _, delta := range *items {
			key, err := keyOf(delta.Object)
			if _, there := first[key]; err == nil && !there {
				first[key] = delta.Type
			}
		}
		return first
	}
}

// PendingKeys is Pending of a queue of keys.
func PendingKeys(items *map[string]cache.Deltas) func() map[string]cache.DeltaType {
	return func() map[string]cache.DeltaType {
		first := make(map[string]cache.DeltaType, len(*items))
		for key, deltas := range *items {
			first[key] = deltas[0].Type
		}
		return first
	}
}

// Subject is the queue of a running informer, taken apart. A line of client-go fills it in.
type Subject struct {
	// Lock is the queue's own.
	Lock *sync.RWMutex
	// Length is the number of keys or deltas that wait. It reads one word without the lock, which a handler may hold.
	Length func() int
	// KnownObjects is the queue's field; nil where it has none.
	KnownObjects *cache.KeyListerGetter
	// Pending is the observer's.
	Pending func() map[string]cache.DeltaType
	// Observe puts the observer between the reflector and the queue.
	Observe func(reflector *cache.Reflector, observer *Observer)
}

// A Line is a release of client-go.
type Line struct {
	// Take takes a queue apart.
	Take func(queue cache.Queue) Subject
	// WrapBatch wraps the function that processes batches; nil where the release has none.
	WrapBatch func(config *cache.Config, around func(deltas int, process func() error) error)
}
