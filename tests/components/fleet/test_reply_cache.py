"""What a process remembers of the service's replies."""

from __future__ import annotations

from components.fleet.queries import MAX_LOCAL, SET_BACK_MS, Memory


def test_a_clock_set_back_makes_nothing_known_of_a_time_to_come() -> None:
    memory = Memory()
    memory.look(100_000)
    memory.keep("list", 1)
    memory.look(100_000 - SET_BACK_MS)  # as clocks do
    assert memory.local("list") == 1
    memory.look(60_000)
    assert memory.local("list") is None
    memory.keep("list", 2)
    memory.look(61_000)
    assert memory.local("list") == 2


def test_memory_is_bounded() -> None:
    memory = Memory()
    for n in range(MAX_LOCAL + 5):
        memory.keep(n, n)
        memory.local(0)
    assert memory.local(0) == 0
    assert memory.local(1) is None
