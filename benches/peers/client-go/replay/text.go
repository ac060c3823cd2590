package replay

import (
	"slices"
	"strconv"

	"k8s.io/client-go/tools/cache"
)

// The texts below are those of benches/src/differential/text.rs, byte by byte.

var letters = map[cache.DeltaType]string{
	cache.Added: "A", cache.Updated: "U", cache.Deleted: "D", cache.Replaced: "R", cache.Sync: "S",
	"ReplacedAll": "RA", "SyncAll": "SA", "Bookmark": "B",
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends the inside of a JSON string.
func appendEscaped(b []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

func appendObject(b []byte, object any) []byte {
	switch o := object.(type) {
	case *Object:
		if o.Namespace != "" {
			b = append(appendEscaped(b, o.Namespace), '/')
		}
		b = append(appendEscaped(b, o.Name), '@')
		b = append(appendEscaped(b, o.ResourceVersion), '/')
		b = append(appendEscaped(b, string(o.UID)), '=')
		return strconv.AppendInt(b, o.Value, 10)
	case *Keyless:
		return strconv.AppendInt(append(b, "keyless="...), o.Value, 10)
	case cache.DeletedFinalStateUnknown:
		b = append(appendEscaped(append(b, "†"...), o.Key), '(')
		if o.Obj != nil {
			b = appendObject(b, o.Obj)
		}
		return append(b, ')')
	default:
		return append(b, "?"...)
	}
}

func (s *Subject) appendDelta(b []byte, delta cache.Delta) []byte {
	b = append(b, letters[delta.Type]...)
	if s.AppendInfo != nil {
		if appended, ok := s.AppendInfo(b, delta.Object, appendObject); ok {
			return appended
		}
	}
	return appendObject(append(b, ' '), delta.Object)
}

// appendStrings appends a field that is an array of strings; none if there are none.
func appendStrings(b []byte, name string, count int, element func(b []byte, i int) []byte) []byte {
	if count == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i := range count {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(element(append(b, '"'), i), '"')
	}
	return append(b, ']')
}

// appendTexts appends a field that is an array of strings that are escaped already.
func appendTexts(b []byte, name string, texts []string) []byte {
	return appendStrings(b, name, len(texts), func(b []byte, i int) []byte { return append(b, texts[i]...) })
}

// sortedObjects gives the texts of what upstream returns in a map's order.
func sortedObjects(found []any) []string {
	texts := make([]string, len(found))
	for i, object := range found {
		texts[i] = string(appendObject(nil, object))
	}
	slices.Sort(texts)
	return texts
}
