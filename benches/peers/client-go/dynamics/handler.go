package dynamics

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// A delivery is one call of the handler. It keeps no object alive, so the collector has what it has in a controller.
type delivery struct {
	namespace, name string
	uid             types.UID
	call            string
	old, version    uint64
	began, returned int64
	initial, lost   bool
}

// Handler is the user's side: it spends its cost and notes when. Called by one goroutine at a time.
type Handler struct {
	cost              Cost
	lose, loseDeletes float64
	random            *rand.Rand

	deliveries []delivery
	staleKeys  map[string]struct{}
	// Read by the sampler.
	live, sync, handled, deletions, stale atomic.Int64
}

// OnAdd implements cache.ResourceEventHandler.
func (h *Handler) OnAdd(object any, isInInitialList bool) {
	h.called("add", 0, object.(v1.Object), isInInitialList)
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *Handler) OnUpdate(old, updated any) {
	h.called("update", version(old.(v1.Object)), updated.(v1.Object), false)
}

// OnDelete implements cache.ResourceEventHandler.
func (h *Handler) OnDelete(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		if object, ok := tombstone.Obj.(v1.Object); ok {
			h.called("delete_unknown", 0, object, false)
		}
		return
	}
	h.called("delete", 0, object.(v1.Object), false)
}

func (h *Handler) called(call string, old uint64, object v1.Object, initial bool) {
	one := delivery{
		namespace: object.GetNamespace(), name: object.GetName(), uid: object.GetUID(),
		call: call, old: old, version: version(object), began: monotonic(), initial: initial,
	}
	resync := call == "update" && one.old == one.version
	if share := h.share(call); !resync && !initial && share > 0 {
		one.lost = h.random.Float64() < share
	}
	// As in a controller that is ready when its cache has synced, the first list is free.
	if !initial {
		h.cost.spend()
	}
	one.returned = monotonic()
	switch {
	case initial:
	case resync:
		h.sync.Add(1)
	default:
		h.live.Add(1)
	}
	h.noteStale(one)
	h.deliveries = append(h.deliveries, one)
	if call == "delete" || call == "delete_unknown" {
		h.deletions.Add(1)
	}
	h.handled.Add(1)
}

func (h *Handler) share(call string) float64 {
	if call == "delete" || call == "delete_unknown" {
		return h.loseDeletes
	}
	return h.lose
}

func (h *Handler) noteStale(one delivery) {
	if h.lose == 0 {
		return
	}
	key := key(one.namespace, one.name)
	if one.lost && (one.call == "add" || one.call == "update") {
		h.staleKeys[key] = struct{}{}
	} else {
		delete(h.staleKeys, key)
	}
	h.stale.Store(int64(len(h.staleKeys)))
}

func key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func version(object v1.Object) uint64 {
	number, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	return number
}
