// Command dynamics runs the informers of client-go 0.35 for loadgen.
package main

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"informer-bench/peers/client-go/dynamics"
	"informer-bench/peers/client-go/replay"
)

func main() { dynamics.Main(dynamics.Line{Take: take, WrapBatch: wrapBatch}) }

func wrapBatch(config *cache.Config, around func(deltas int, process func() error) error) {
	process := config.ProcessBatch
	config.ProcessBatch = func(deltas []cache.Delta, isInInitialList bool) error {
		return around(len(deltas), func() error { return process(deltas, isInInitialList) })
	}
}

// observed is the queue as the reflector sees it.
type observed struct {
	*cache.RealFIFO
	observer *dynamics.Observer
}

func (o observed) Add(object any) error {
	o.observer.Received(object)
	return o.RealFIFO.Add(object)
}

func (o observed) Update(object any) error {
	o.observer.Received(object)
	return o.RealFIFO.Update(object)
}

func (o observed) Delete(object any) error {
	o.observer.Received(object)
	return o.RealFIFO.Delete(object)
}

func (o observed) Replace(list []any, resourceVersion string) error {
	o.observer.Replaced(len(list))
	return o.RealFIFO.Replace(list, resourceVersion)
}

func (o observed) Resync() error { return o.observer.Resync(o.RealFIFO.Resync) }

func take(any cache.Queue) dynamics.Subject {
	queue := any.(*cache.RealFIFO)
	items := replay.Field[[]cache.Delta](queue, "items")
	return dynamics.Subject{
		Lock:         replay.Field[sync.RWMutex](queue, "lock"),
		Length:       func() int { return len(*items) },
		KnownObjects: replay.Field[cache.KeyListerGetter](queue, "knownObjects"),
		Pending:      dynamics.PendingEvents(items, cache.DeletionHandlingMetaNamespaceKeyFunc),
		Observe: func(reflector *cache.Reflector, observer *dynamics.Observer) {
			*replay.Field[cache.ReflectorStore](reflector, "store") = observed{queue, observer}
		},
	}
}
