#!/usr/bin/env python3
"""Ours beside client-go's: run records in, a CSV line for each trial and the pairs as Markdown out.

    table.py DIRECTORY_OF_A_RUN... > table.md       (and dynamics.csv beside this file)
    table.py dynamics.csv > table.md                the same table from the CSV
"""
import csv, json, pathlib, statistics, sys

HERE = pathlib.Path(__file__).parent


def mean(values):
    values = list(values)
    return statistics.fmean(values) if values else 0.0


def line(record):
    variant, m = record["variant"], record["measurements"]
    ticks, points, latency = m["resync"]["ticks"], m["timeline"]["points"], m["latency"]
    seconds = m["window_ns"] / 1e9
    begins = [tick["at_ns"] for tick in ticks]
    gaps = [(b - a) / 1e9 for a, b in zip(begins, begins[1:])]
    skipped = [sum(tick["skipped_pending"].values()) / tick["known"] for tick in ticks if tick["known"]]
    by_sync = [tick["skipped_pending"].get("Sync", 0) / tick["known"] for tick in ticks if tick["known"]]
    # Resyncs that were not worked off when the next one began.
    stacked = [
        sum(1 for t in ticks[:i] if t["drain_ns"] is None or t["at_ns"] + t["drain_ns"] > tick["at_ns"])
        for i, tick in enumerate(ticks)
    ]
    load = variant["object_count"] * variant["handler_cost_ns"] / variant["resync_period_ns"]
    load += variant["churn_per_second"] * variant["handler_cost_ns"] / 1e9
    ms = lambda series, name: ((latency.get(series) or {}).get(name) or 0) / 1e6
    listener = [p["listener"] for p in points if p["listener"] is not None]
    return {
        "queue": variant["queue"],
        "informer": variant["informer"],
        "handler": variant["handler_cost_kind"],
        "cost_ms": variant["handler_cost_ns"] / 1e6,
        "load": round(load, 2),
        "round": record["round"],
        "implementation": record["implementation"],
        "outcome": record["outcome"]["kind"],
        "resyncs": m["resync"]["fired"],
        "resyncs_expected": m["resync"]["expected"],
        "interval_s": round(mean(gaps), 4),
        "interval_max_s": round(max(gaps, default=0), 4),
        "skipped_percent": round(100 * mean(skipped), 2),
        "skipped_by_sync_percent": round(100 * mean(by_sync), 2),
        "lock_wait_ms": round(mean(t["lock_wait_ns"] for t in ticks) / 1e6, 3),
        "lock_wait_max_ms": round(max((t["lock_wait_ns"] for t in ticks), default=0) / 1e6, 3),
        "lock_hold_ms": round(mean(t["lock_hold_ns"] for t in ticks) / 1e6, 3),
        "stacked_max": max(stacked, default=0),
        "source_mean": round(mean_in_source(m), 2),
        "queue_mean": round(mean(p["queue_keys"] for p in points), 1),
        "queue_max": max(p["queue_keys"] for p in points),
        "listener_mean": round(mean(listener), 1) if listener else "",
        "listener_max": max(listener) if listener else "",
        "live_p50_ms": round(ms("live", "p50_ns"), 2),
        "live_p99_ms": round(ms("live", "p99_ns"), 2),
        "wire_p50_ms": round(ms("live.wire", "p50_ns"), 3),
        "wire_p99_ms": round(ms("live.wire", "p99_ns"), 3),
        "handler_mean_ms": round(ms("live.handler", "mean_ns"), 4),
        "handler_p99_ms": round(ms("live.handler", "p99_ns"), 3),
        "live_per_s": round(m["notifications"]["live"] / seconds, 1),
        "sync_per_s": round(m["notifications"]["sync"] / seconds, 1),
        "client_cpu_s": round(m["cost"]["client_cpu_ns"] / 1e9, 3),
        "client_cpu_share_percent": round(m["cost"]["client_cpu_ns"] / m["window_ns"] * 100, 1),
    }


def mean_in_source(m):
    """Events between their commit and the reflector's hand, by Little's law: rate times mean time."""
    wire = m["latency"].get("live.wire") or {"count": 0, "mean_ns": 0}
    return wire["count"] / (m["window_ns"] / 1e9) * (wire["mean_ns"] or 0) / 1e9


def load_lines(paths):
    if len(paths) == 1 and paths[0].endswith(".csv"):
        with open(paths[0], newline="") as file:
            return list(csv.DictReader(file))
    lines, failed = [], 0
    for path in paths:
        for file in sorted(pathlib.Path(path).rglob("*.json")):
            record = json.loads(file.read_text())
            if "measurements" not in record:
                continue
            if record["measurements"] is None or record["outcome"]["kind"] != "verified":
                failed += 1
                print("not verified:", file, record["outcome"], file=sys.stderr)
                continue
            lines.append(line(record))
    with open(HERE / "dynamics.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    print(f"{len(lines)} verified trials, {failed} not", file=sys.stderr)
    return load_lines([str(HERE / "dynamics.csv")])


def pairs(lines):
    ours, theirs = {}, {}
    for one in lines:
        key = tuple(one[name] for name in ("queue", "informer", "handler", "load", "round"))
        (ours if one["implementation"].startswith("informer-bench") else theirs)[key] = one
    order = ["delta-fifo", "real-fifo-per-event", "real-fifo", "atomic-fifo"]
    keys = sorted(ours.keys() & theirs.keys(), key=lambda k: (order.index(k[0]), k[1], k[2], float(k[3]), k[4]))
    return [(key, ours[key], theirs[key]) for key in keys]


def both(a, b, name, digits):
    if a[name] == "":
        return "-"
    return f"{float(a[name]):.{digits}f} / {float(b[name]):.{digits}f}"


def main():
    columns = [
        ("interval, s", "interval_s", 3), ("skipped, %", "skipped_percent", 1),
        ("lock wait, ms", "lock_wait_ms", 2), ("stacked", "stacked_max", 0),
        ("source mean", "source_mean", 1), ("queue mean", "queue_mean", 0),
        ("listener max", "listener_max", 0),
        ("live p50, ms", "live_p50_ms", 1), ("live p99, ms", "live_p99_ms", 0),
        ("sync/s", "sync_per_s", 0), ("live/s", "live_per_s", 0), ("CPU, %", "client_cpu_share_percent", 0),
    ]
    print("| queue | informer | handler | load | " + " | ".join(c[0] for c in columns) + " |")
    print("|---" * (4 + len(columns)) + "|")
    for key, ours, theirs in pairs(load_lines(sys.argv[1:])):
        cells = [both(ours, theirs, name, digits) for _, name, digits in columns]
        print(f"| {key[0]} | {key[1]} | {key[2]} {float(ours['cost_ms']):g} ms | {key[3]} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
