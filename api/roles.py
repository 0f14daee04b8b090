"""What a credential may do besides reading. Only this module compares roles."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Each role includes those before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"

    def includes(self, other: Role) -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)

    @property
    def may_operate(self) -> bool:
        """Whether it may acknowledge alerts, dismiss findings, write notes and create embeds."""
        return self.includes(Role.OPERATOR)

    @property
    def may_administer(self) -> bool:
        """Whether it may correct and remove readings, plan maintenance, change rules and settings,
        read the audit log, and change others' notes."""
        return self.includes(Role.ADMINISTRATOR)
