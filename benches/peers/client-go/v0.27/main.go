// Command v0.27 replays traces on DeltaFIFO as client-go 0.27 has it.
package main

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"informer-bench/peers/client-go/replay"
)

func main() {
	replay.Main(map[string]replay.NewSubject{"delta-fifo": deltaFIFO})
}

func deltaFIFO(header replay.Header, setup *replay.Setup) *replay.Subject {
	var listerWatcher cache.ListerWatcher
	var objectType runtime.Object = &replay.Object{}
	store, controller := cache.NewTransformingIndexerInformer(
		listerWatcher, objectType, 0, setup.Handler, setup.Indexers, setup.Transform)
	config := replay.ConfigOf(controller)
	setup.Known.Store = store
	queue := config.Queue.(*cache.DeltaFIFO)
	if !header.Has(replay.NoKnownObjects) && !header.Has(replay.EmitSync) {
		*replay.Field[cache.KeyListerGetter](queue, "knownObjects") = setup.Known
	} else {
		options := cache.DeltaFIFOOptions{
			EmitDeltaTypeReplaced: !header.Has(replay.EmitSync),
			Transformer:           setup.Transform,
		}
		if !header.Has(replay.NoKnownObjects) {
			options.KnownObjects = setup.Known
		}
		queue = cache.NewDeltaFIFOWithOptions(options)
	}
	keys := replay.Field[[]string](queue, "queue")
	populated := replay.Field[bool](queue, "populated")
	count := replay.Field[int](queue, "initialPopulationCount")
	subject := &replay.Subject{
		Queue:           queue,
		Store:           store,
		Process:         config.Process,
		Lock:            replay.Field[sync.RWMutex](queue, "lock"),
		Length:          func() int { return len(*keys) },
		SyncedUnlocked:  func() bool { return *populated && *count == 0 },
		AddIfNotPresent: queue.AddIfNotPresent,
		Requeue:         cache.ErrRequeue{},
	}
	subject.Pending = subject.PendingKeys(keys, replay.Field[map[string]cache.Deltas](queue, "items"))
	return subject
}
