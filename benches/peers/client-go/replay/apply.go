package replay

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

var errSkipped = errors.New("not processed")

// apply runs one operation and appends its outcome, without the final newline.
func (s *Subject) apply(b []byte, operation *Operation) []byte {
	s.calls = s.calls[:0]
	b = append(b, `{"result":"`...)
	switch operation.Op {
	case "pop":
		b = s.pop(b, operation)
	case "lookup":
		b = s.lookup(append(b, `ok"`...), operation)
	default:
		b = append(appendEscaped(b, s.write(operation)), '"')
	}
	if s.Queue.HasSynced() {
		b = append(b, `,"synced":true`...)
	}
	b = s.appendIfChanged(b, &s.lastQueue, "queue", s.Pending)
	b = s.appendIfChanged(b, &s.lastStore, "store", s.stored)
	return append(b, '}')
}

// appendIfChanged appends a field where it differs from the last outcome's.
func (s *Subject) appendIfChanged(b []byte, last *string, name string, field func([]byte) []byte) []byte {
	before := len(b)
	b = field(b)
	if string(b[before:]) == *last {
		return b[:before]
	}
	*last = string(b[before:])
	if len(b) == before {
		b = append(append(append(b, `,"`...), name...), `":[]`...)
	}
	return b
}

func (s *Subject) stored(b []byte) []byte {
	keys := s.Store.ListKeys()
	slices.Sort(keys)
	b = appendStrings(b, "store", len(keys), func(b []byte, i int) []byte {
		object, _, _ := s.Store.GetByKey(keys[i])
		return appendObject(b, object)
	})
	if s.StoreVersion != nil {
		if version := s.StoreVersion(); version != "" {
			b = append(appendEscaped(append(b, `,"store_rv":"`...), version), '"')
		}
	}
	return b
}

// write runs an operation that pops nothing and gives its class.
func (s *Subject) write(operation *Operation) string {
	switch operation.Op {
	case "add":
		return class(s.Queue.Add(operation.Object.object()))
	case "update":
		return class(s.Queue.Update(operation.Object.object()))
	case "delete":
		return class(s.Queue.Delete(operation.Object.object()))
	case "tombstone":
		return class(s.Queue.Delete(operation.tombstone()))
	case "replace":
		return class(s.Queue.Replace(objects(operation.Objects), operation.Version))
	case "resync":
		return class(s.Queue.Resync())
	case "bookmark":
		return class(s.Bookmark(operation.Version))
	case "close":
		s.Queue.Close()
		s.closed = true
		return "ok"
	case "restore":
		return s.restore()
	case "restore_nothing":
		return class(s.AddIfNotPresent(cache.Deltas{}))
	case "faults":
		s.known.failing, s.known.missing = operation.Failing, operation.Missing
		return "ok"
	case "store_add":
		return class(s.Store.Add(operation.Object.object()))
	case "store_delete":
		return class(s.Store.Delete(operation.Object.object()))
	case "store_replace":
		return class(s.Store.Replace(objects(operation.Objects), operation.Version))
	case "add_indexers":
		return class(s.Store.AddIndexers(cache.Indexers{operation.Index: cache.MetaNamespaceIndexFunc}))
	default:
		panic("unknown operation " + operation.Op)
	}
}

func (o *Operation) tombstone() cache.DeletedFinalStateUnknown {
	tombstone := cache.DeletedFinalStateUnknown{Key: o.Key}
	if o.Object != nil {
		tombstone.Obj = o.Object.object()
	}
	return tombstone
}

// restore puts back what was popped last.
func (s *Subject) restore() string {
	if s.lastPopped == nil {
		return "nothing"
	}
	// The queue goes on writing to what it is given.
	return class(s.AddIfNotPresent(slices.Clone(s.lastPopped)))
}

func (s *Subject) pop(b []byte, operation *Operation) []byte {
	// A pop of an empty queue would wait for ever.
	if s.Length() == 0 && !s.closed {
		return append(b, `empty"`...)
	}
	start := len(b)
	single := func(popped any, isInInitialList bool) error {
		b = s.popped(b, popped.(cache.Deltas), isInInitialList, operation)
		return s.process(operation, func() error { return s.Process(popped, isInInitialList) })
	}
	batch := func(popped []cache.Delta, isInInitialList bool) error {
		b = s.popped(b, popped, isInInitialList, operation)
		return s.process(operation, func() error { return s.ProcessBatch(popped, isInInitialList) })
	}
	var err error
	if s.PopBatch != nil {
		err = s.PopBatch(batch, single)
	} else {
		_, err = s.Queue.Pop(single)
	}
	// An error of the processing is dropped, as a controller does.
	if len(b) == start {
		return append(append(b, class(err)...), '"')
	}
	return appendTexts(b, "calls", s.calls)
}

// popped appends what the process function was handed, and runs what the trace says happens meanwhile.
func (s *Subject) popped(b []byte, deltas cache.Deltas, isInInitialList bool, operation *Operation) []byte {
	s.lastPopped = slices.Clone(deltas)
	b = append(b, `popped"`...)
	b = appendStrings(b, "deltas", len(deltas), func(b []byte, i int) []byte { return s.appendDelta(b, deltas[i]) })
	if isInInitialList {
		b = append(b, `,"initial":true`...)
	}
	if s.SyncedUnlocked() {
		b = append(b, `,"synced_inside":true`...)
	}
	if s.Lock.TryLock() {
		s.Lock.Unlock()
		b = append(b, `,"unlocked":true`...)
		b = appendStrings(b, "during", len(operation.During), func(b []byte, i int) []byte {
			return append(b, s.write(&operation.During[i])...)
		})
	}
	return b
}

func (s *Subject) process(operation *Operation, process func() error) error {
	switch operation.Process {
	case "skip":
		return errSkipped
	case "requeue":
		return s.Requeue
	}
	err := process()
	// Upstream reads these from a map: deletions that a list made, and everything that a resync touches.
	switch s.lastPopped[0].Type {
	case "ReplacedAll":
		deletions := 0
		for deletions < len(s.calls) && strings.HasPrefix(s.calls[deletions], "delete ") {
			deletions++
		}
		slices.Sort(s.calls[:deletions])
	case "SyncAll":
		slices.Sort(s.calls)
	}
	return err
}

func (s *Subject) lookup(b []byte, operation *Operation) []byte {
	name, value := operation.Index, operation.Value
	if found, err := s.Store.ByIndex(name, value); err != nil {
		b = append(b, `,"by_index":"unknown"`...)
	} else {
		b = appendTexts(b, "by_index", sortedObjects(found))
	}
	if keys, err := s.Store.IndexKeys(name, value); err != nil {
		b = append(b, `,"index_keys":"unknown"`...)
	} else {
		b = appendStrings(b, "index_keys", len(keys), func(b []byte, i int) []byte { return appendEscaped(b, keys[i]) })
	}
	object := operation.Object.object()
	if found, err := s.Store.Index(name, object); err != nil {
		b = append(b, `,"index":"unknown"`...)
	} else {
		b = appendTexts(b, "index", sortedObjects(found))
	}
	values := s.Store.ListIndexFuncValues(name)
	slices.Sort(values)
	b = appendStrings(b, "values", len(values), func(b []byte, i int) []byte { return appendEscaped(b, values[i]) })
	if found, exists, err := s.Store.Get(object); err == nil && exists {
		b = append(appendObject(append(b, `,"get":"`...), found), '"')
	}
	return b
}
