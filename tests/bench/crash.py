"""`python -m tests.bench.crash [--kills 200] [--seed 1]`: the bot is killed in the middle of its work.

Each case starts `slack-bot run` with a SQLite file, asks it something in some threads, kills it with SIGKILL
(or ends it with SIGTERM) and starts it again; people write, answer and press Stop meanwhile. Judged is what
stands in the threads, and what the agent was asked. A case that is wrong is named; it can be run alone, and
`--keep DIR` writes its log and its threads there. With `--replicas 3` the store is a real Redis, and one of
three processes is killed. `--many 5` is the case of `tests.bench.crash_many`, with five seeds.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from tests.redis_server import running_redis

from . import crash_many
from .crash_cases import Case, plan
from .crash_judge import Report
from .crash_run import FASTER, LEASE, CrashRun, agents
from .figures import machine, percentile

_FATES = ("whole", "notice", "stopped", "lost", "silent", "doubled", "wrong")


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. Progress goes to stderr, the figures to stdout. 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="kills in all (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="cases at once (default: 2)")
    about = "one case alone, with its threads and the bot's log"
    parser.add_argument("--only", metavar="SEED:N", type=_case, help=about)
    parser.add_argument("--replicas", type=int, default=1, help="more than one: on a real Redis")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="where the logs of wrong cases are written")
    about = "kills under thirty answers instead, with so many seeds from --seed on"
    parser.add_argument("--many", metavar="SEEDS", type=int, default=0, help=about)
    args = parser.parse_args(argv)
    if args.many:
        return _many(range(args.seed, args.seed + args.many), args.keep)
    if args.only:
        return asyncio.run(_alone(args.only, args.replicas))
    what = f"{args.replicas} replicas, lease {LEASE:g} s" if args.replicas > 1 else "one process, SQLite"
    print(f"{what}, on {machine()}; Slack's retries {FASTER:g} times as fast")
    reports = asyncio.run(run(args.seed, args.kills, args.jobs, args.replicas, args.keep))
    print(summary(reports))
    return 1 if any(report.wrong for report in reports) else 0


def _case(text: str) -> Case:
    seed, number = text.split(":")
    return plan(int(seed), int(number))


async def run(seed: int, kills: int, jobs: int, replicas: int = 1, keep: Path | None = None) -> list[Report]:
    """Cases of `seed` until there were so many kills, in order. Logs of wrong ones go into `keep`."""
    reports: list[Report] = []
    numbers = iter(range(sys.maxsize))

    async def work(urls: Mapping[str, str]) -> None:
        for number in numbers:
            if sum(report.kills for report in reports) >= kills:
                return
            with _crash_run(plan(seed, number), urls, replicas) as crash_run:
                reports.append(await crash_run.run())
                if keep is not None and reports[-1].wrong:
                    _keep(keep, crash_run)
            _say(reports, kills)

    async with agents() as urls:
        await asyncio.gather(*(work(urls) for _ in range(jobs)))
    return sorted(reports, key=lambda report: report.case.number)


@contextmanager
def _crash_run(case: Case, urls: Mapping[str, str], replicas: int) -> Iterator[CrashRun]:
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        if replicas == 1:
            yield CrashRun(case, urls, Path(home))
        else:
            redis = stack.enter_context(running_redis(Path(home) / "redis"))
            yield CrashRun(case, urls, Path(home), redis.url, replicas)


def _keep(folder: Path, crash_run: CrashRun) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    case = crash_run.case
    found = [str(case), crash_run.log(), crash_run.thread_texts(), *crash_run.report.wrong]
    (folder / f"{case.seed}-{case.number}.txt").write_text("\n".join(found), "utf-8")


async def _alone(case: Case, replicas: int) -> int:
    print(case)
    async with agents() as urls:
        with _crash_run(case, urls, replicas) as crash_run:
            report = await crash_run.run()
            print(crash_run.log())
    print(crash_run.thread_texts())
    for fact in report.facts:
        print(f"{fact.asked.text}: {fact.fate}. {fact.why} {fact.note}")
    print("\n".join(report.wrong) or "right")
    return 1 if report.wrong else 0


def _many(seeds: Iterable[int], keep: Path | None) -> int:
    print(f"three replicas, lease {crash_many.PLAN.lease:g} s, on {machine()}")
    results = []
    for seed in seeds:
        folder = None if keep is None else keep / str(seed)
        results.append(asyncio.run(crash_many.run_many(replace(crash_many.PLAN, seed=seed), folder)))
        print(crash_many.line(results[-1]), flush=True)
    print(crash_many.medians(results))
    return 1 if any(each.result.wrong for each in results) else 0


def _say(reports: Sequence[Report], kills: int) -> None:
    report = reports[-1]
    done, wrong = sum(each.kills for each in reports), sum(bool(each.wrong) for each in reports)
    print(
        f".. {done} of {kills} kills, {wrong} of {len(reports)} cases wrong;"
        f" {name(report.case)} ({report.case.point}, {report.case.wire}):"
        f" {'; '.join(report.wrong) or 'right'}",
        file=sys.stderr,
        flush=True,
    )


def name(case: Case) -> str:
    """What `--only` takes."""
    return f"{case.seed}:{case.number}"


def summary(reports: Sequence[Report]) -> str:
    """The figures of all cases."""
    return "\n".join(
        [*_points(reports), "", *_totals(reports), "", *_notes(reports), "", *_wrong_cases(reports)]
    ).rstrip()


def _points(reports: Sequence[Report]) -> Iterator[str]:
    names = sorted({report.case.point for report in reports})
    wide = max(map(len, names), default=0)
    heads = ("cases", "kills", "asked", *_FATES, "twice", "left", "other")
    yield f"{'point':<{wide}}  {'  '.join(heads)}"
    for point in [*names, "all"]:
        of_it = [report for report in reports if point in ("all", report.case.point)]
        fates = Counter(fact.fate for report in of_it for fact in report.facts)
        figures = [
            len(of_it),
            sum(report.kills for report in of_it),
            fates.total(),
            *(fates[fate] for fate in _FATES),
            sum(len(report.asked_twice) for report in of_it),
            sum(len(report.left) for report in of_it),
            sum(len(report.problems) for report in of_it),
        ]
        cells = "  ".join(f"{figure:>{len(head)}}" for figure, head in zip(figures, heads, strict=True))
        yield f"{point:<{wide}}  {cells}"


def _totals(reports: Sequence[Report]) -> Iterator[str]:
    took = [seconds for report in reports for seconds in report.took]
    unmarked = [seconds for report in reports for seconds in report.took_unmarked]
    since = "the kill" if reports and reports[0].replicas > 1 else "connected"
    for values, whose in ((took, ""), (unmarked, ", of agents that do not mark their answer")):
        if values:
            p50, p99 = percentile(values, 0.5), percentile(values, 0.99)
            figures = f"p50 {p50:.2f} s, p99 {p99:.2f} s ({len(values)})"
            yield f"takeover, from {since} to new words{whose}: {figures}"
    if took:
        slow = sorted((-max(report.took), name(report.case)) for report in reports if report.took)
        yield f"the slowest: {', '.join(f'{-seconds:.2f} s in {case}' for seconds, case in slow[:5])}"
    yield f"the bench itself stood still for at most {max(each.stood_still for each in reports):.2f} s"
    missed = sum(report.kills == 0 and report.case.play == "kill" for report in reports)
    yield f"cases that did not come to their point: {missed}"


def _notes(reports: Sequence[Report]) -> Iterator[str]:
    """What readers were told in place of the rest, and for which kinds of agent."""
    notes = Counter(
        (fact.note.partition(" Reference")[0], fact.asked.kind, report.case.point)
        for report in reports
        for fact in report.facts
        if fact.fate == "notice"
    )
    for (note, kind, point), count in notes.most_common():
        yield f"{count} x {kind}, {point}: {note}"


def _wrong_cases(reports: Sequence[Report]) -> Iterator[str]:
    for report in reports:
        for why in report.wrong:
            case = report.case
            yield f"python -m tests.bench.crash --only {name(case)}   ({case.point}, {case.wire}) {why}"


if __name__ == "__main__":
    sys.exit(main())
