package replay

import (
	"fmt"
	"reflect"
	"unsafe"

	"k8s.io/client-go/tools/cache"
)

// Field is a pointer to an unexported field. It panics where the field is gone or has another type, so a release that moved
// it is noticed at the first trace.
func Field[T any](structure any, name string) *T {
	value := reflect.ValueOf(structure).Elem().FieldByName(name)
	if !value.IsValid() || value.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("%T has no field %s of type %s", structure, name, reflect.TypeFor[T]()))
	}
	return (*T)(unsafe.Pointer(value.UnsafeAddr()))
}

// ConfigOf is what a stock informer runs: its own queue, made as the release makes it, and its own Process, which is
// otherwise out of reach.
func ConfigOf(controller cache.Controller) *cache.Config {
	return Field[cache.Config](controller, "config")
}
