// Command v0.37 replays traces on RealFIFO as client-go 0.36 and later have it: atomic, unlocked while processing.
package main

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"informer-bench/peers/client-go/replay"
)

func main() {
	replay.Main(map[string]replay.NewSubject{"atomic-fifo": atomicFIFO})
}

func atomicFIFO(header replay.Header, setup *replay.Setup) *replay.Subject {
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ObjectType: &replay.Object{},
		Handler:    setup.Handler,
		Indexers:   setup.Indexers,
		Transform:  setup.Transform,
	})
	config := replay.ConfigOf(controller)
	setup.Known.Store = store
	queue := config.Queue.(*cache.RealFIFO)
	*replay.Field[int](queue, "batchSize") = header.Batch
	items := replay.Field[[]cache.Delta](queue, "items")
	synced := replay.Field[bool](queue, "syncedClosed")
	subject := &replay.Subject{
		Queue:          queue,
		Store:          store.(cache.Indexer),
		Process:        config.Process,
		ProcessBatch:   config.ProcessBatch,
		Lock:           replay.Field[sync.RWMutex](queue, "lock"),
		Length:         func() int { return len(*items) },
		SyncedUnlocked: func() bool { return *synced },
		PopBatch: func(batch replay.ProcessBatch, single replay.Process) error {
			return queue.PopBatch(batch, single)
		},
		Bookmark:     queue.Bookmark,
		StoreVersion: store.LastStoreSyncResourceVersion,
		AppendInfo:   appendInfo,
	}
	subject.Pending = subject.PendingDeltas(items)
	return subject
}

func appendInfo(b []byte, payload any, appendObject func([]byte, any) []byte) ([]byte, bool) {
	switch info := payload.(type) {
	case cache.ReplacedAllInfo:
		b = append(append(b, " @"...), info.ResourceVersion...)
		for _, object := range info.Objects {
			b = appendObject(append(b, ' '), object)
		}
		return b, true
	case cache.BookmarkInfo:
		return append(append(b, " @"...), info.ResourceVersion...), true
	case cache.SyncAllInfo:
		return b, true
	default:
		return b, false
	}
}
