"""Checks what a principal may do, by its role."""

from __future__ import annotations

from api.auth.principal import Principal
from api.errors import Forbidden
from api.roles import Role


def require(principal: Principal, role: Role) -> None:
    """Raises Forbidden where the credential's role doesn't include this one."""
    if not principal.role.includes(role):
        raise Forbidden(
            f"This needs the role {role}, and this {principal.kind} has the role {principal.role}."
        )
