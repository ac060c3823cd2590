package dynamics

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	clockMonotonic      = 1
	clockProcessCPUTime = 2
)

func clock(id uintptr) int64 {
	var now syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return now.Nano()
}

var (
	started   = time.Now()
	startedAt = clock(clockMonotonic)
)

// monotonic is CLOCK_MONOTONIC in nanoseconds, the same in every process of the machine. The system call is made once: Go's own
// monotonic clock is the same one, read without a call.
func monotonic() int64 { return startedAt + int64(time.Since(started)) }

func cpuTime() int64 { return clock(clockProcessCPUTime) }

// residentMemory is the resident set in bytes, now and at its highest.
func residentMemory() (now, peak int64) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		kilobytes, _ := strconv.ParseInt(words[1], 10, 64)
		switch words[0] {
		case "VmRSS:":
			now = kilobytes << 10
		case "VmHWM:":
			peak = kilobytes << 10
		}
	}
	return now, peak
}

// A Cost is what one call of the handler spends.
type Cost struct {
	Kind        string        `json:"kind"`
	Nanoseconds time.Duration `json:"ns"`

	// At most one of the two is above zero.
	owed, credit time.Duration
}

// Shortest sleep that is asked for.
const sleepPortion = 200 * time.Microsecond

// spend sleeps so that the mean is exact: costs add up to a portion, and what a sleep overshot is taken off the next.
func (c *Cost) spend() {
	switch c.Kind {
	case "none":
	case "spin":
		for end := monotonic() + int64(c.Nanoseconds); monotonic() < end; {
		}
	case "sleep":
		paid := min(c.credit, c.Nanoseconds)
		c.credit -= paid
		c.owed += c.Nanoseconds - paid
		if c.owed < sleepPortion {
			return
		}
		began := monotonic()
		time.Sleep(c.owed)
		actual := time.Duration(monotonic() - began)
		c.credit += max(0, actual-c.owed)
		c.owed = max(0, c.owed-actual)
	default:
		panic(fmt.Sprintf("no cost %q", c.Kind))
	}
}
