package dynamics

import (
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"informer-bench/peers/client-go/replay"
)

// Settings are those of one trial.
type Settings struct {
	Server string `json:"server"`
	// Informer is `plain` or `shared`.
	Informer    string        `json:"informer"`
	Resync      time.Duration `json:"resync_ns"`
	Cost        Cost          `json:"cost"`
	Lose        float64       `json:"lose"`
	LoseDeletes float64       `json:"lose_deletes"`
	Seed        uint64        `json:"seed"`
}

// informer is one of client-go's two, with what is known of it.
type informer struct {
	line     Line
	observer Observer
	handler  *Handler

	store      cache.Store
	controller func() cache.Controller
	run        func(stop <-chan struct{})
	hasSynced  func() bool
	// Of a shared informer only.
	distributed *distributions

	hook    sync.Once
	subject Subject
}

// start makes the stock informer and runs it.
func start(line Line, settings Settings, handler *Handler, stop <-chan struct{}) (*informer, error) {
	client, err := restClient(settings.Server)
	if err != nil {
		return nil, err
	}
	i := &informer{line: line, handler: handler}
	pods := cache.NewListWatchFromClient(client, "pods", v1.NamespaceAll, fields.Everything())
	listWatch := &cache.ListWatch{
		ListFunc: func(options v1.ListOptions) (runtime.Object, error) {
			i.hook.Do(i.observe)
			return pods.List(options)
		},
		WatchFunc: func(options v1.ListOptions) (watch.Interface, error) {
			i.hook.Do(i.observe)
			return pods.Watch(options)
		},
	}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if settings.Informer == "shared" {
		err = i.makeShared(listWatch, settings.Resync, indexers)
	} else {
		i.makePlain(listWatch, settings.Resync, indexers)
	}
	if err == nil {
		go i.run(stop)
	}
	return i, err
}

func (i *informer) makePlain(listWatch cache.ListerWatcher, resync time.Duration, indexers cache.Indexers) {
	store, controller := cache.NewIndexerInformer(listWatch, &corev1.Pod{}, resync, i.handler, indexers)
	config := replay.ConfigOf(controller)
	process := config.Process
	config.Process = func(deltas any, isInInitialList bool) error {
		return i.observer.processing(len(deltas.(cache.Deltas)), func() error {
			return process(deltas, isInInitialList)
		})
	}
	if i.line.WrapBatch != nil {
		i.line.WrapBatch(config, i.observer.processing)
	}
	i.store, i.run, i.hasSynced = store, controller.Run, controller.HasSynced
	i.controller = func() cache.Controller { return controller }
}

func (i *informer) makeShared(listWatch cache.ListerWatcher, resync time.Duration, indexers cache.Indexers) error {
	shared := cache.NewSharedIndexInformer(listWatch, &corev1.Pod{}, resync, indexers)
	detector := replay.Field[cache.MutationDetector](shared, "cacheMutationDetector")
	i.distributed = &distributions{MutationDetector: *detector}
	*detector = i.distributed
	registration, err := shared.AddEventHandler(i.handler)
	if err != nil {
		return err
	}
	i.store, i.run, i.hasSynced = shared.GetStore(), shared.Run, registration.HasSynced
	i.controller = func() cache.Controller { return *replay.Field[cache.Controller](shared, "controller") }
	return nil
}

// observe runs in the reflector's first request, when everything is made and before anything is written: the reflector looks
// at its store and at ShouldResync only after the answer.
func (i *informer) observe() {
	controller := i.controller()
	reflector := *replay.Field[*cache.Reflector](controller, "reflector")
	subject := i.line.Take(replay.ConfigOf(controller).Queue)
	i.observer.Pending = subject.Pending
	if subject.KnownObjects != nil {
		subject.Lock.Lock()
		*subject.KnownObjects = knownObjects{*subject.KnownObjects, &i.observer}
		subject.Lock.Unlock()
	}
	shouldResync := reflector.ShouldResync
	reflector.ShouldResync = func() bool {
		return !i.observer.ended.Load() && (shouldResync == nil || shouldResync())
	}
	subject.Observe(reflector, &i.observer)
	i.subject = subject
}

func (i *informer) waitUntilSynced(limit context.Context) error {
	for !i.hasSynced() {
		select {
		case <-limit.Done():
			return limit.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// listenerPending is what was given to the listener and not handled, the call that runs included. Deletions are left out while
// they wait. Nil for a plain informer.
func (i *informer) listenerPending() *int64 {
	if i.distributed == nil {
		return nil
	}
	deletions := i.handler.deletions.Load()
	pending := max(0, i.distributed.count.Load()-(i.handler.handled.Load()-deletions))
	return &pending
}

// seen is the version that the reflector wrote last.
func (i *informer) seen() uint64 {
	number, _ := strconv.ParseUint(i.controller().LastSyncResourceVersion(), 10, 64)
	return number
}

// queueLength is the number of entries and of deltas.
func (i *informer) queueLength() (entries, deltas int64) {
	entries = int64(i.subject.Length())
	if i.distributed != nil {
		return entries, entries
	}
	return entries, max(entries, i.observer.in.Load()-i.observer.out.Load())
}

func restClient(server string) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return rest.RESTClientFor(&rest.Config{
		Host:    server,
		APIPath: "/api",
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &corev1.SchemeGroupVersion,
			NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
		},
	})
}
