"""What one submission may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Sizes in bytes; times in seconds that it computes.

    What its processes compute does not depend on what else the machine does. The clock ends only
    what sleeps or waits: after `patience` times as long, and all of it after `clock`.
    """

    start: float = 300.0
    cell: float = 60.0
    task: float = 20.0
    train: float = 120.0
    total: float = 900.0
    patience: float = 10.0
    clock: float = 3600.0
    starts: int = 12
    memory: int = 2 << 30
    address_space: int = 4 << 30
    processes: int = 64
    disk: int = 64 << 20
    printed: int = 10 << 20
    message: int = 12 << 20
    answers: int = 64 << 20
