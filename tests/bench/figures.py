"""What a measurement prints: figures with their units, and the machine they were taken on."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. `how` says in a few words what was measured, and on how many samples."""

    name: str
    value: float
    unit: str
    how: str


def progress(text: str) -> None:
    """Say what is being done, on stderr, at once."""
    print(f".. {text}", file=sys.stderr, flush=True)


def percentile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` (0 to 1) of `values` do not exceed. ValueError if empty."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def machine() -> str:
    """Processor, system, Python, and how busy the machine was, in one line."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{os.cpu_count()} x {_processor()}, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}, load {load}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def table(figures: Sequence[Figure]) -> str:
    """The figures, one a line."""
    names = max(len(figure.name) for figure in figures)
    rows = [(figure, f"{_number(figure.value)} {figure.unit}") for figure in figures]
    wide = max(len(shown) for _, shown in rows)
    return "\n".join(f"{figure.name:<{names}}  {shown:>{wide}}   {figure.how}" for figure, shown in rows)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
