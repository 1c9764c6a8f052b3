"""Settings of an example, each one a flag of its command."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

_Settings = TypeVar("_Settings", bound="Settings")


def setting(default: Any, text: str) -> Any:
    """A field of a `Settings`: its default, and the help of its flag."""
    return dataclasses.field(default=default, metadata={"help": text})


@dataclasses.dataclass(frozen=True)
class Settings:
    """Base of the examples' settings. Immutable; travels to other processes as JSON."""

    PROGRAM: ClassVar[str]
    DESCRIPTION: ClassVar[str]

    def to_json(self) -> str:
        """The settings as text."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls: type[_Settings], text: str) -> _Settings:
        """The settings of `to_json`."""
        return cls(**json.loads(text))

    @classmethod
    def from_flags(cls: type[_Settings], argv: Sequence[str] | None = None) -> _Settings:
        """Parses the command line; exits with usage help if it cannot."""
        parser = argparse.ArgumentParser(
            prog=f"python -m {cls.PROGRAM}",
            description=cls.DESCRIPTION,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        for field in dataclasses.fields(cls):
            parser.add_argument(
                f"--{field.name}",
                type=type(field.default),
                default=field.default,
                help=field.metadata["help"],
            )
        return cls(**vars(parser.parse_args(argv)))
