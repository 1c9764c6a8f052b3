"""Speed of reverb_tf beside dm-reverb, both measured in one run: `python -m benchmarks.compare`.

Each library has a server process and a client process of its own, in its own environment. The
rounds of the two alternate, so that what else the machine does hits both. Absolute figures depend
on the machine; the ratio is what to look at. `CPU us` is the CPU time of an item or call, in the
client plus in the server process; other work on the machine disturbs it less than it does the rate.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import sys
from typing import NamedTuple

from benchmarks import cases
from benchmarks.pipes import Peer


class Round(NamedTuple):
    """One round of one case."""

    value: float  # In the unit of the row.
    client_us: float  # CPU time of an operation in the client process, in microseconds.
    server_us: float  # The same in the server process.


@dataclasses.dataclass
class Side:
    """One library: its processes, and the rounds of the current row by case."""

    name: str
    server: Peer
    client: Peer
    rounds: dict[str, list[Round]] = dataclasses.field(default_factory=dict)

    def measure(self, case: str) -> None:
        """Runs one round of a case; raises RuntimeError with its error if it failed."""
        before = self.client.cpu_seconds(), self.server.cpu_seconds()
        answer = self.client.ask(case)
        after = self.client.cpu_seconds(), self.server.cpu_seconds()
        if "error" in answer:
            raise RuntimeError(f"{self.name}, {case}: {answer['error']}")
        spent = [(b - a) / answer["count"] * 1e6 for a, b in zip(before, after, strict=True)]
        self.rounds.setdefault(case, []).append(Round(answer["value"], *spent))

    def best(self, less_is_better: bool) -> tuple[str, Round, list[Round]]:
        """Name, medians and rounds of the best case of the row."""
        medians = {
            case: Round(*map(statistics.median, zip(*rounds, strict=True)))
            for case, rounds in self.rounds.items()
        }
        case = (min if less_is_better else max)(medians, key=lambda name: medians[name].value)
        return case, medians[case], self.rounds[case]


def _start(stack: contextlib.ExitStack, name: str, python: str, seconds: float) -> Side:
    server = stack.enter_context(Peer(python, "benchmarks.serve", name))
    address = f"localhost:{server.read()['port']}"
    client = stack.enter_context(Peer(python, "benchmarks.measure", name, address, str(seconds)))
    return Side(name, server, client)


def _measure_row(row: cases.Row, sides: list[Side], rounds: int) -> None:
    """Fills in the rounds of both sides. The first round only warms up."""
    ways = {"reverb_tf": row.ours, "reverb": row.reference}
    for side in sides:
        side.rounds.clear()
    for turn in range(rounds + 1):
        for side in sides if turn % 2 else reversed(sides):
            for case in ways[side.name]:
                side.measure(case.__name__)
    for side in sides:
        for case, measured in side.rounds.items():
            del measured[0]
            side.client.ask(f"done {case}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _show(row: cases.Row, sides: list[Side]) -> dict:
    """Prints the line of a row; returns it for the JSON file."""
    result = {"title": row.title, "unit": row.unit}
    line = f"{row.title:<34}{row.unit:>10}"
    for side in sides:
        case, median, rounds = side.best(row.less_is_better)
        values = [measured.value for measured in rounds]
        result[side.name] = {
            "case": case,
            "median": median._asdict(),
            "rounds": [measured._asdict() for measured in rounds],
        }
        spread = f"({_number(min(values))} .. {_number(max(values))})"
        cpu = f"{_number(median.client_us)} + {_number(median.server_us)}"
        line += f"{_number(median.value):>10} {spread:<20}{cpu:>14}"
    if len(sides) == 2:
        ours, reference = (result[side.name]["median"]["value"] for side in sides)
        result["ratio"] = reference / ours if row.less_is_better else ours / reference
        line += f"{result['ratio']:>7.2f}x"
    if len(row.reference) > 1:
        line += "  best of its ways: " + ", ".join(result[side.name]["case"] for side in sides)
    print(line, flush=True)
    return result


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(cases.ROWS)}; all")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each side")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a round")
    parser.add_argument("--ours", default=".venv/bin/python", help="Python that has reverb_tf")
    parser.add_argument("--reference", default=".peer/bin/python", help="Python that has dm-reverb")
    parser.add_argument("--json", help="file to write the figures to")
    options = parser.parse_args(argv)
    unknown = set(options.rows) - set(cases.ROWS)
    if unknown:
        parser.error(
            f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(cases.ROWS)}"
        )
    return options


def main(argv: list[str] | None = None) -> int:
    """The command. Exit code 1 if neither library is there."""
    options = _parse(argv)
    environments = {"reverb_tf": options.ours, "reverb": options.reference}
    found = {name: python for name, python in environments.items() if os.path.exists(python)}
    for name in environments.keys() - found.keys():
        print(f"{name} is not measured: there is no {environments[name]}.", file=sys.stderr)
    with contextlib.ExitStack() as stack:
        sides = [_start(stack, name, python, options.seconds) for name, python in found.items()]
        head = "".join(f"{side.name:>10} {'(least .. most)':<20}{'CPU us':>14}" for side in sides)
        print(f"{'median of ' + str(options.rounds) + ' rounds':<44}{head}{'ratio':>8}")
        results = []
        for name in options.rows or cases.ROWS:
            _measure_row(cases.ROWS[name], sides, options.rounds)
            results.append(_show(cases.ROWS[name], sides))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
