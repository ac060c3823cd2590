package replay

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Object is what the traces queue: real metadata and one number.
type Object struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Value int64
}

// DeepCopyObject implements runtime.Object.
func (o *Object) DeepCopyObject() runtime.Object {
	copied := *o
	return &copied
}

// Keyless is an object without metadata, for which every key function fails.
type Keyless struct{ Value int64 }

// Spec is an object as a trace writes it.
type Spec struct {
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	Version   string `json:"rv"`
	UID       string `json:"uid"`
	Value     int64  `json:"value"`
	Keyless   bool   `json:"keyless"`
}

func (s *Spec) object() any {
	if s.Keyless {
		return &Keyless{Value: s.Value}
	}
	object := &Object{Value: s.Value}
	object.Namespace = s.Namespace
	object.Name = s.Name
	object.ResourceVersion = s.Version
	object.SetUID(uid(s.UID))
	return object
}

func objects(specs []*Spec) []any {
	made := make([]any, len(specs))
	for i, spec := range specs {
		made[i] = spec.object()
	}
	return made
}

// What the transformer does with these values; any other gets transformedBy added.
const (
	transformedBy = 1000
	refusedValue  = 13
	spoiledValue  = 11
)

// transform is deterministic, and never fails for what it has transformed before, since releases differ in how often they call it.
func transform(object any) (any, error) {
	switch o := object.(type) {
	case cache.DeletedFinalStateUnknown:
		// What it holds has been transformed before, as TransformFunc's documentation says.
		return o, nil
	case *Object:
		switch o.Value {
		case refusedValue:
			return nil, errRefused
		case spoiledValue:
			return &Keyless{Value: o.Value}, nil
		}
		copied := *o
		copied.Value += transformedBy
		return &copied, nil
	default:
		return object, nil
	}
}

// indexers are those of a trace that asks for them; "bits" has none, one or more values, one of them twice.
func indexers() cache.Indexers {
	return cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"bits": func(object any) ([]string, error) {
			o, ok := object.(*Object)
			if !ok {
				return nil, fmt.Errorf("no object: %T", object)
			}
			var values []string
			for bit := range 3 {
				if o.Value>>bit&1 == 1 {
					values = append(values, "bit"+strconv.Itoa(bit))
				}
			}
			if o.Value>>3&1 == 1 && len(values) > 0 {
				values = append(values, values[0])
			}
			return values, nil
		},
	}
}
