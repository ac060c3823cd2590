package replay

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// Known stands between a queue and the store it knows: keys come sorted, since a map's order is random, and lookups fail
// where the trace says so.
type Known struct {
	Store   cache.KeyListerGetter
	failing []string
	missing []string
}

var errLookup = errors.New("lookup fails")

// ListKeys implements cache.KeyLister.
func (k *Known) ListKeys() []string {
	keys := k.Store.ListKeys()
	slices.Sort(keys)
	return keys
}

// GetByKey implements cache.KeyGetter.
func (k *Known) GetByKey(key string) (any, bool, error) {
	if slices.Contains(k.failing, key) {
		return nil, false, errLookup
	}
	if slices.Contains(k.missing, key) {
		return nil, false, nil
	}
	return k.Store.GetByKey(key)
}
