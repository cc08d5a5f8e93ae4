"""What each operation costs, beside the bare limit and the peers, in one run and by ratio.

    python benchmarks/run.py                    sayso, the bare loop, and every peer that is set up
    python benchmarks/run.py --quick            two rounds of the in-process workloads
    python benchmarks/run.py --work W2,W6 --rounds 3

The harness and the peers' adapters lie in ../shared/bench (`--harness DIR`); `sh setup.sh` there makes the peers'
environments. Rounds are interleaved and each job is a fresh process, so that the machine's noise falls on all alike.
"""

import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
HOME = Path(os.environ.get("BENCH_HOME", Path(tempfile.gettempdir()) / "sayso-bench"))

# What the project promises, as (workload, variant, metric, promise, unit).
PROMISES = [
    ("W1", "", "wall_ms", 200.0, "ms to import"),
    ("W2", "stream", "median_us", 300.0, "us a turn with pause and resume"),
    ("W6", "", "us_per_delta", 4.0, "us a streamed delta"),
    ("W7", "", "median_us", 5000.0, "us for 20 approvals"),
    ("W3", "disk", "median_us", None, "us a durable turn, rebuilt for the resume"),
    ("W4", "", "t200_ms", 3.0, "ms for turn 200 of one session"),
]
# The bare loop on the machine on which the promises were made: a slower machine is allowed as much slower.
BARE_THERE = {("W1", "", "wall_ms"): 105.0, ("W2", "stream", "median_us"): 6.0, ("W6", "", "us_per_delta"): 0.4}


def peers(harness: Path) -> dict[str, tuple[Path, Path]]:
    """Name -> (file, interpreter) of everything that can run here."""
    found = {
        "sayso": (HERE / "p_sayso.py", Path(sys.executable)),
        "bare": (harness / "p_bare.py", Path(sys.executable)),
    }
    for path in sorted(harness.glob("p_*.py")):
        python = HOME / "venvs" / path.stem[2:] / "bin" / "python"
        if python.exists():
            found[path.stem[2:]] = (path, python)
    return found


def run_one(file: Path, python: Path, harness: Path, job: str, quick: bool) -> dict[str, object] | None:
    """One job in a fresh process; None if that peer does not have it."""
    disk = HOME / "disk"
    disk.mkdir(parents=True, exist_ok=True)
    command = [str(python), str(file), "--only", job, "--budget", "2" if quick else "4", "--disk", str(disk)]
    env = dict(os.environ, PYTHONHASHSEED="0", PYTHONPATH=str(harness))
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once, not at every start
    done = subprocess.run(command, cwd=harness, env=env, capture_output=True, text=True, timeout=600)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"ok": False, "error": done.stderr[-300:]} if done.returncode else None
    parsed: dict[str, object] = json.loads(lines[0])
    return parsed


def measure(args: argparse.Namespace) -> dict[tuple[str, str], dict[str, dict[str, float]]]:
    """(workload, variant) -> peer -> metric -> median over the rounds."""
    jobs = list(dict.fromkeys((w, v) for w, v, *_ in PROMISES))
    if args.work:
        jobs = [(w, v) for w, v in jobs if w in args.work.split(",")]
    who = peers(args.harness)
    raw: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = collections.defaultdict(
        lambda: collections.defaultdict(lambda: collections.defaultdict(list))
    )
    for n in range(args.rounds):
        for job in jobs:
            names = list(who)
            for name in names[n % len(names) :] + names[: n % len(names)]:
                row = run_one(*who[name], args.harness, ":".join(job), args.quick)
                if row is None:
                    continue
                if not row.get("ok"):
                    print(f"{name} {':'.join(job)} failed: {row.get('error')}", file=sys.stderr)
                    continue
                metrics = row["metrics"]
                assert isinstance(metrics, dict)
                for metric, value in metrics.items():
                    if isinstance(value, int | float):
                        raw[job][name][metric].append(float(value))
                print(f"round {n + 1}: {name} {':'.join(job)}", file=sys.stderr, flush=True)
    return {
        job: {name: {m: statistics.median(xs) for m, xs in ms.items()} for name, ms in by.items()}
        for job, by in raw.items()
    }


def report(found: dict[tuple[str, str], dict[str, dict[str, float]]]) -> None:
    """One line a promise: what was measured, the promise here, the bare loop, each peer by ratio."""
    for work, variant, metric, promise, unit in PROMISES:
        rows = found.get((work, variant), {})
        if "sayso" not in rows or metric not in rows["sayso"]:
            continue
        mine = rows["sayso"][metric]
        bare = rows.get("bare", {}).get(metric)
        line = f"{mine:10.2f} {unit}"
        if promise is not None:
            there = BARE_THERE.get((work, variant, metric))
            scale = bare / there if bare and there else 1.0
            line += f"; promised {promise:g}, here {promise * scale:.2f}"
        if bare:
            line += f"; bare {bare:.2f}"
        for name, by in rows.items():
            if name not in ("sayso", "bare") and metric in by:
                line += f"; {name} {by[metric] / mine:.1f}x"
        print(line)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--harness", type=Path, default=HERE.parent.parent / "shared" / "bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", default="", help="W2,W6")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if not (args.harness / "_harness.py").exists():
        print(f"The peers' harness is not at {args.harness}; give its folder with --harness DIR.", file=sys.stderr)
        return 2
    args.harness = args.harness.resolve()
    report(measure(args))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
