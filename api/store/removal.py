"""Deleting an organization: its devices one by one, then what is under its own id."""

from __future__ import annotations

from api.store.core import Seam
from api.store.sql import removal as sql


class RemovalPart(Seam):
    """`api.store.base.Directory.delete_organization` for every dialect."""

    def delete_organization(self, organization_id: str) -> int:
        readings = 0
        for (device_key,) in self.fetch(sql.device_keys(organization_id)):
            with self.transaction() as transaction:
                transaction.lock_devices([device_key])
                readings += int(transaction.fetch(sql.count_readings(device_key))[0][0])
                for statement in sql.of_device(device_key):
                    transaction.run(statement)
        with self.transaction() as transaction:
            transaction.lock_directory()
            for statement in sql.of_organization(organization_id):
                transaction.run(statement)
        return readings
