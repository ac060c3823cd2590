"""A plain informer with a DeltaFIFO and a sleeping handler, without lock, scheduler or network: what the way of counting does.

Usage: python3 model.py. Prints the median latency of live events for both ways of counting.
"""

import random
from collections import deque


def run(period, cost, rate, seconds, known=5_000, seed=1):
    """(scheduled, begin of the handler) of every live event that is due within `seconds`; the backlog is worked off after."""
    keys = random.Random(seed)
    pending, queue, handled = {}, deque(), []
    now, next_event, next_resync = 0.0, 0.0, period
    while True:
        while min(next_event, next_resync) <= now and min(next_event, next_resync) < seconds:
            if next_event <= next_resync:
                key = keys.randrange(known)
                if key not in pending:
                    queue.append(key)
                pending.setdefault(key, []).append(next_event)
                next_event += 1 / rate
            else:
                for key in range(known):
                    if key not in pending:
                        queue.append(key)
                        pending[key] = [None]
                next_resync += period
        if not queue:
            now = min(next_event, next_resync)
            if now >= seconds:
                return handled
            continue
        for event in pending.pop(queue.popleft()):
            if event is not None:
                handled.append((event, now))
            now += cost


def median(values):
    return sorted(values)[len(values) // 2]


# Period, cost, length of client-go's run, warm-up and window of ours, all in seconds.
for period, cost, length, warm_up, window in [
    (5, 0.003, 60, 11, 42),
    (10, 0.003, 100, 22, 72),
    (10, 0.006, 100, 22, 72),
]:
    theirs = [begin - due for due, begin in run(period, cost, 200, length) if begin <= length and due >= period]
    end = warm_up + window
    ours = [begin + cost - due for due, begin in run(period, cost, 200, end) if warm_up <= due < end]
    print(f"P {period} s, cost {cost * 1e3:g} ms: delivered within the run only {median(theirs):.1f} s, all that was due in the window {median(ours):.1f} s")
