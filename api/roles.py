"""What a credential may do with what it sees. Nothing else compares roles."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Each includes the ones before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"

    def includes(self, other: Role) -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)

    @property
    def may_operate(self) -> bool:
        """Acknowledge alerts, dismiss findings, write notes, make embeds."""
        return self.includes(Role.OPERATOR)

    @property
    def may_administer(self) -> bool:
        """Correct and remove readings, plan maintenance, change rules and settings, read the audit
        log, change others' notes."""
        return self.includes(Role.ADMINISTRATOR)
