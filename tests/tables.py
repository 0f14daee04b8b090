"""Tables of cheap cases: one test runs them all.

As a test of its own each case costs about six milliseconds, and time to collect it in each test
process: more than most cases need. Failures are named case by case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Case = dict[str, Any]
Test = Callable[..., None]


def cases(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, also stacked, but with all cases in one test. They share its
    fixtures, so it is for tests that don't change them."""
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    rows = [(value,) if len(columns) == 1 else tuple(value) for value in values]
    above = [dict(zip(columns, row, strict=True)) for row in rows]

    def decorate(test: Test) -> Test:
        plain: Test = getattr(test, "plain", test)
        below: list[Case] = getattr(test, "cases", [{}])
        table = [one | other for one in above for other in below]
        assert table, f"{plain.__name__} has no case"

        @wraps(plain)
        def run(**fixtures: Any) -> None:
            tried = [_failure(plain, fixtures, case) for case in table]
            failures = [error for error in tried if error is not None]
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} cases failed", failures)

        needed = inspect.signature(plain).parameters.values()
        run.__signature__ = inspect.Signature(  # pyright: ignore[reportAttributeAccessIssue]
            [parameter for parameter in needed if parameter.name not in table[0]]
        )
        vars(run).update(plain=plain, cases=table)
        return run

    return decorate


def _failure(test: Test, fixtures: Case, case: Case) -> Exception | None:
    """A case's failure with the case's name; None if it passed."""
    try:
        test(**fixtures, **case)
    except Exception as error:  # noqa: BLE001 - the caller raises it with those of other cases
        error.add_note(f"in the case {', '.join(f'{name}={v!r}' for name, v in case.items())}")
        return error
    return None
