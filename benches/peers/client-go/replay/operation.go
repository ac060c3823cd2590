package replay

import "slices"

// Header begins a trace and says how the queue is set up.
type Header struct {
	Trace  string `json:"trace"`
	Preset string `json:"preset"`
	// Options are what differs from an informer's queue; see the constants.
	Options []string `json:"options"`
	// Batch is the most deltas of one batch; upstream has 1000.
	Batch int `json:"batch"`
}

// The options of a header.
const (
	// NoKnownObjects is a queue without known objects.
	NoKnownObjects = "no-known-objects"
	// EmitSync lets the items of a list be Sync deltas, as the bare constructor of DeltaFIFO does.
	EmitSync = "emit-sync"
	// WithTransformer sets the transformer.
	WithTransformer = "transformer"
	// WithIndexes gives the store two indexes.
	WithIndexes = "indexes"
)

// Has says whether an option is set.
func (h *Header) Has(option string) bool { return slices.Contains(h.Options, option) }

// Operation is one line of a trace after its header.
type Operation struct {
	Op      string      `json:"op"`
	Object  *Spec       `json:"object"`
	Key     string      `json:"key"`
	Objects []*Spec     `json:"objects"`
	Version string      `json:"rv"`
	Process string      `json:"process"`
	During  []Operation `json:"during"`
	Failing []string    `json:"failing"`
	Missing []string    `json:"missing"`
	Index   string      `json:"index"`
	Value   string      `json:"value"`
}
