// Command dynamics runs the informers of client-go 0.27 for loadgen.
package main

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"informer-bench/peers/client-go/dynamics"
	"informer-bench/peers/client-go/replay"
)

func main() { dynamics.Main(dynamics.Line{Take: take}) }

// observed is the queue as the reflector sees it.
type observed struct {
	*cache.DeltaFIFO
	observer *dynamics.Observer
}

func (o observed) Add(object any) error {
	o.observer.Received(object)
	return o.DeltaFIFO.Add(object)
}

func (o observed) Update(object any) error {
	o.observer.Received(object)
	return o.DeltaFIFO.Update(object)
}

func (o observed) Delete(object any) error {
	o.observer.Received(object)
	return o.DeltaFIFO.Delete(object)
}

func (o observed) Replace(list []any, resourceVersion string) error {
	o.observer.Replaced(len(list))
	return o.DeltaFIFO.Replace(list, resourceVersion)
}

func (o observed) Resync() error { return o.observer.Resync(o.DeltaFIFO.Resync) }

func take(any cache.Queue) dynamics.Subject {
	queue := any.(*cache.DeltaFIFO)
	keys := replay.Field[[]string](queue, "queue")
	return dynamics.Subject{
		Lock:         replay.Field[sync.RWMutex](queue, "lock"),
		Length:       func() int { return len(*keys) },
		KnownObjects: replay.Field[cache.KeyListerGetter](queue, "knownObjects"),
		Pending:      dynamics.PendingKeys(replay.Field[map[string]cache.Deltas](queue, "items")),
		Observe: func(reflector *cache.Reflector, observer *dynamics.Observer) {
			*replay.Field[cache.Store](reflector, "store") = observed{queue, observer}
		},
	}
}
