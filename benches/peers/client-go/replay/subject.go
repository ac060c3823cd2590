package replay

import (
	"errors"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Queue is what the queues of all releases have in common.
type Queue interface {
	Add(object any) error
	Update(object any) error
	Delete(object any) error
	Replace(list []any, resourceVersion string) error
	Resync() error
	Pop(process cache.PopProcessFunc) (any, error)
	HasSynced() bool
	Close()
}

// Process applies popped deltas to the store and calls the handler.
type Process = func(deltas any, isInInitialList bool) error

// ProcessBatch is Process for deltas of several keys.
type ProcessBatch = func(deltas []cache.Delta, isInInitialList bool) error

// Subject is a queue, the store behind it and what is needed to look inside. A line of client-go fills it in.
type Subject struct {
	Queue        Queue
	Store        cache.Indexer
	Process      Process
	ProcessBatch ProcessBatch
	// Lock is the queue's own.
	Lock *sync.RWMutex
	// Length is the number of keys or deltas that wait.
	Length func() int
	// Pending lists what waits, each as one text.
	Pending func(b []byte) []byte
	// SyncedUnlocked is HasSynced for callers under the lock.
	SyncedUnlocked func() bool

	// Below: nil where the release has no such thing.

	PopBatch        func(batch ProcessBatch, single Process) error
	Bookmark        func(resourceVersion string) error
	AddIfNotPresent func(deltas any) error
	Requeue         error
	StoreVersion    func() string
	// AppendInfo writes the payloads that only newer releases have.
	AppendInfo func(b []byte, payload any, appendObject func([]byte, any) []byte) ([]byte, bool)

	known      *Known
	calls      []string
	closed     bool
	lastPopped cache.Deltas
	lastQueue  string
	lastStore  string
}

// A NewSubject makes the queue of a trace.
type NewSubject = func(header Header, setup *Setup) *Subject

// Setup is what a line needs to make a Subject.
type Setup struct {
	Handler cache.ResourceEventHandler
	Known   *Known
	// Transform is nil where the trace has no transformer.
	Transform cache.TransformFunc
	// Indexers are those of the store.
	Indexers cache.Indexers
}

// PendingDeltas is Pending of a queue that is one list of deltas.
func (s *Subject) PendingDeltas(items *[]cache.Delta) func(b []byte) []byte {
	return func(b []byte) []byte {
		return appendStrings(b, "queue", len(*items), func(b []byte, i int) []byte {
			return s.appendDelta(b, (*items)[i])
		})
	}
}

// PendingKeys is Pending of a queue of keys.
func (s *Subject) PendingKeys(queue *[]string, items *map[string]cache.Deltas) func(b []byte) []byte {
	return func(b []byte) []byte {
		return appendStrings(b, "queue", len(*queue), func(b []byte, i int) []byte {
			b = append(appendEscaped(b, (*queue)[i]), ':')
			for _, delta := range (*items)[(*queue)[i]] {
				b = s.appendDelta(append(b, ' '), delta)
			}
			return b
		})
	}
}

// recorder is the handler.
type recorder struct{ subject *Subject }

func (r *recorder) call(parts ...any) {
	var b []byte
	for _, part := range parts {
		if text, ok := part.(string); ok {
			b = append(b, text...)
		} else {
			b = appendObject(b, part)
		}
	}
	r.subject.calls = append(r.subject.calls, string(b))
}

// OnAdd implements cache.ResourceEventHandler.
func (r *recorder) OnAdd(object any, isInInitialList bool) {
	if isInInitialList {
		r.call("add! ", object)
	} else {
		r.call("add ", object)
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (r *recorder) OnUpdate(old, updated any) { r.call("update ", old, " > ", updated) }

// OnDelete implements cache.ResourceEventHandler.
func (r *recorder) OnDelete(object any) { r.call("delete ", object) }

func uid(text string) types.UID { return types.UID(text) }

var errRefused = errors.New("transformer refused")

// class is an error without its wording.
func class(err error) string {
	var keyError cache.KeyError
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, cache.ErrFIFOClosed):
		return "closed"
	case errors.Is(err, cache.ErrZeroLengthDeltasObject):
		return "zero-length"
	case errors.As(err, &keyError):
		return "key"
	// Not wrapped everywhere.
	case strings.Contains(err.Error(), errRefused.Error()):
		return "transform"
	case strings.Contains(err.Error(), "running index"):
		return "not-empty"
	case strings.Contains(err.Error(), "indexer conflict"):
		return "conflict"
	default:
		return "other: " + err.Error()
	}
}
