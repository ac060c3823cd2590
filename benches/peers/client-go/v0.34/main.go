// Command v0.34 replays traces on RealFIFO as client-go 0.34 has it: one event a pop.
package main

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"informer-bench/peers/client-go/replay"
)

func main() {
	replay.Main(map[string]replay.NewSubject{"real-fifo-per-event": realFIFO})
}

func realFIFO(_ replay.Header, setup *replay.Setup) *replay.Subject {
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ObjectType: &replay.Object{},
		Handler:    setup.Handler,
		Indexers:   setup.Indexers,
		Transform:  setup.Transform,
	})
	config := replay.ConfigOf(controller)
	setup.Known.Store = store
	queue := config.Queue.(*cache.RealFIFO)
	*replay.Field[cache.KeyListerGetter](queue, "knownObjects") = setup.Known
	items := replay.Field[[]cache.Delta](queue, "items")
	populated := replay.Field[bool](queue, "populated")
	count := replay.Field[int](queue, "initialPopulationCount")
	subject := &replay.Subject{
		Queue:          queue,
		Store:          store.(cache.Indexer),
		Process:        config.Process,
		Lock:           replay.Field[sync.RWMutex](queue, "lock"),
		Length:         func() int { return len(*items) },
		SyncedUnlocked: func() bool { return *populated && *count == 0 },
	}
	subject.Pending = subject.PendingDeltas(items)
	return subject
}
