package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Errand is one informer to run: where its scripted server is, and what to know of the script.
type Errand struct {
	Script   string       `json:"script"`
	URL      string       `json:"url"`
	Informer InformerSpec `json:"informer"`
	// The informer is done once its handlers know the object z/end and this is the last version it knows.
	FinalVersion string `json:"final_version"`
	// Instead, it is done when the server says that it has answered enough.
	Requests *int `json:"requests"`
}

// InformerSpec is how an informer is set up. One without handlers' periods is a plain one.
type InformerSpec struct {
	Plain    bool          `json:"plain"`
	ResyncMS int64         `json:"resync_ms"`
	PageSize int64         `json:"page_size"`
	Handlers []HandlerSpec `json:"handlers"`
}

// HandlerSpec is one handler of a shared informer. A late one is added when the first has been told of the object z/cue.
type HandlerSpec struct {
	ResyncMS int64 `json:"resync_ms"`
	Late     bool  `json:"late"`
}

// Outcome is what an informer made of a script; the server knows the requests.
type Outcome struct {
	Script         string            `json:"script"`
	TimedOut       bool              `json:"timed_out,omitempty"`
	Synced         bool              `json:"synced"`
	LastVersion    string            `json:"last_version"`
	Store          map[string]string `json:"store"`
	Handlers       [][]string        `json:"handlers"`
	HandlersSynced []bool            `json:"handlers_synced,omitempty"`
	Failures       []string          `json:"failures,omitempty"`
}

const (
	endKey = "z/end"
	cueKey = "z/cue"
	// A script takes no longer than this; one that does has gone wrong.
	scriptLimit = 60 * time.Second
	pollEvery   = 20 * time.Millisecond
	// How long the last version may take to be known after the end object.
	settleLimit = 2 * time.Second
	quiet       = 300 * time.Millisecond
	// Between the starts of two informers, so that they do not all wait for the processor at once.
	apart = 25 * time.Millisecond
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// informers runs all errands at once and writes their outcomes, a line each.
func informers(input io.Reader, output io.Writer) error {
	var errands []Errand
	if err := json.NewDecoder(input).Decode(&errands); err != nil {
		return err
	}
	outcomes := make([]*Outcome, len(errands))
	failures := make([]error, len(errands))
	var group sync.WaitGroup
	for i := range errands {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Duration(i) * apart)
			outcomes[i], failures[i] = errands[i].run()
		}()
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]string{"client_go": release}); err != nil {
		return err
	}
	for _, outcome := range outcomes {
		if err := encoder.Encode(outcome); err != nil {
			return err
		}
	}
	return nil
}

func (e *Errand) run() (*Outcome, error) {
	config := &rest.Config{Host: e.URL, QPS: -1}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	resource := client.Resource(pods)
	listWatch := &cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			return resource.List(context.Background(), options)
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			return resource.Watch(context.Background(), options)
		},
	}
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	stop := make(chan struct{})
	defer close(stop)
	var subject informer
	if e.Informer.Plain {
		subject = e.plain(listWatch, kind, stop)
	} else if subject, err = e.shared(listWatch, kind, stop); err != nil {
		return nil, err
	}
	timedOut := !e.wait(subject)
	outcome := subject.outcome()
	outcome.Script = e.Script
	outcome.TimedOut = timedOut
	return outcome, nil
}

// wait waits until the informer is done; false if it never was.
func (e *Errand) wait(subject informer) bool {
	if !within(scriptLimit, func() bool {
		if e.Requests != nil {
			return e.enough()
		}
		return !slices.ContainsFunc(subject.recorders(), func(r *eventRecorder) bool { return !r.ended.Load() })
	}) {
		return false
	}
	within(settleLimit, func() bool { return subject.lastVersion() == e.FinalVersion })
	time.Sleep(quiet)
	return true
}

func within(limit time.Duration, done func() bool) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(pollEvery) {
		if done() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// enough asks the server whether it has answered enough.
func (e *Errand) enough() bool {
	response, err := http.Get(e.URL + "/enough")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return err == nil && strings.TrimSpace(string(answer)) == "true"
}

type informer interface {
	recorders() []*eventRecorder
	lastVersion() string
	outcome() *Outcome
}

type plainInformer struct {
	store      cache.Store
	controller cache.Controller
	recorder   *eventRecorder
	failed     *failures
}

func (e *Errand) plain(listWatch cache.ListerWatcher, kind runtime.Object, stop chan struct{}) informer {
	recorder := &eventRecorder{}
	period := time.Duration(e.Informer.ResyncMS) * time.Millisecond
	store, controller := cache.NewIndexerInformer(listWatch, kind, period, recorder, cache.Indexers{})
	config := ConfigOf(controller)
	config.WatchListPageSize = e.Informer.PageSize
	failed := &failures{}
	config.WatchErrorHandler = failed.note
	go controller.Run(stop)
	return &plainInformer{store: store, controller: controller, recorder: recorder, failed: failed}
}

func (p *plainInformer) recorders() []*eventRecorder { return []*eventRecorder{p.recorder} }

func (p *plainInformer) lastVersion() string { return p.controller.LastSyncResourceVersion() }

func (p *plainInformer) outcome() *Outcome {
	return &Outcome{
		Synced:      p.controller.HasSynced(),
		LastVersion: p.lastVersion(),
		Store:       versions(p.store),
		Handlers:    [][]string{p.recorder.texts()},
		Failures:    p.failed.texts(),
	}
}

type sharedInformer struct {
	shared        cache.SharedIndexInformer
	lock          sync.Mutex
	all           []*eventRecorder
	registrations []cache.ResourceEventHandlerRegistration
	failed        *failures
}

func (e *Errand) shared(listWatch cache.ListerWatcher, kind runtime.Object, stop chan struct{}) (informer, error) {
	period := time.Duration(e.Informer.ResyncMS) * time.Millisecond
	shared := cache.NewSharedIndexInformer(listWatch, kind, period, cache.Indexers{})
	subject := &sharedInformer{shared: shared, failed: &failures{}}
	if err := shared.SetWatchErrorHandler(subject.failed.note); err != nil {
		return nil, err
	}
	for i, spec := range e.Informer.Handlers {
		recorder := &eventRecorder{}
		subject.all = append(subject.all, recorder)
		subject.registrations = append(subject.registrations, nil)
		if spec.Late {
			first := subject.all[0]
			earlier := first.onCue
			first.onCue = func() {
				if earlier != nil {
					earlier()
				}
				// Not from the handler's call, which may hold up what it waits for.
				go func() { _ = subject.add(i, spec) }()
			}
		} else if err := subject.add(i, spec); err != nil {
			return nil, err
		}
	}
	go shared.Run(stop)
	return subject, nil
}

func (s *sharedInformer) add(place int, spec HandlerSpec) error {
	period := time.Duration(spec.ResyncMS) * time.Millisecond
	registration, err := s.shared.AddEventHandlerWithResyncPeriod(s.all[place], period)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.registrations[place] = registration
	return err
}

func (s *sharedInformer) recorders() []*eventRecorder { return s.all }

func (s *sharedInformer) lastVersion() string { return s.shared.LastSyncResourceVersion() }

func (s *sharedInformer) outcome() *Outcome {
	outcome := &Outcome{
		Synced:      s.shared.HasSynced(),
		LastVersion: s.lastVersion(),
		Store:       versions(s.shared.GetStore()),
		Failures:    s.failed.texts(),
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for i, recorder := range s.all {
		outcome.Handlers = append(outcome.Handlers, recorder.texts())
		registration := s.registrations[i]
		outcome.HandlersSynced = append(outcome.HandlersSynced, registration != nil && registration.HasSynced())
	}
	return outcome
}

// failures notes what list-and-watch cycles failed with: the part that a reflector acts on.
type failures struct {
	lock sync.Mutex
	all  []string
}

func (f *failures) note(_ *cache.Reflector, err error) {
	class := "other"
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		class = "expired"
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.all = append(f.all, class)
}

func (f *failures) texts() []string {
	f.lock.Lock()
	defer f.lock.Unlock()
	return slices.Clone(f.all)
}

func versions(store cache.Store) map[string]string {
	all := map[string]string{}
	for _, key := range store.ListKeys() {
		if object, exists, err := store.GetByKey(key); err == nil && exists {
			all[key] = versionOf(object)
		}
	}
	return all
}

// eventRecorder is a handler that notes its calls up to the object z/end.
type eventRecorder struct {
	onCue func()
	lock  sync.Mutex
	all   []string
	ended atomic.Bool
}

func (r *eventRecorder) OnAdd(object any, isInInitialList bool) {
	verb := "add"
	if isInInitialList {
		verb = "add!"
	}
	r.note(object, fmt.Sprintf("%s %s@%s", verb, keyOf(object), versionOf(object)))
}

func (r *eventRecorder) OnUpdate(old, object any) {
	r.note(object, fmt.Sprintf("update %s@%s > %s", keyOf(object), versionOf(old), versionOf(object)))
}

func (r *eventRecorder) OnDelete(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		r.note(nil, fmt.Sprintf("delete †%s@%s", tombstone.Key, versionOf(tombstone.Obj)))
		return
	}
	r.note(nil, fmt.Sprintf("delete %s@%s", keyOf(object), versionOf(object)))
}

func (r *eventRecorder) note(object any, text string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.ended.Load() {
		return
	}
	r.all = append(r.all, text)
	if object == nil {
		return
	}
	switch keyOf(object) {
	case endKey:
		r.ended.Store(true)
	case cueKey:
		if r.onCue != nil {
			r.onCue()
			r.onCue = nil
		}
	}
}

func (r *eventRecorder) texts() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return append([]string{}, r.all...)
}

func keyOf(object any) string {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return "?"
	}
	return key
}

func versionOf(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "?"
	}
	return accessor.GetResourceVersion()
}
