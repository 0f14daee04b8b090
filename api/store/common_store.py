"""The part of a store that is the same for every dialect."""

from __future__ import annotations

from api.store.alerts import AlertsPart
from api.store.annotations import AnnotationsPart
from api.store.billing import BillingPart
from api.store.directory import DirectoryPart
from api.store.findings import FindingsPart
from api.store.ingest import IngestPart
from api.store.insight import InsightPart
from api.store.keys import KeysPart
from api.store.maintenance import UpkeepPart
from api.store.removal import RemovalPart
from api.store.series import SeriesPart


class CommonStore(
    FindingsPart,  # before the directory part, which leaves holidays to this one
    DirectoryPart,
    RemovalPart,
    KeysPart,
    IngestPart,
    SeriesPart,
    InsightPart,
    AlertsPart,
    AnnotationsPart,
    BillingPart,
    UpkeepPart,
):
    """`api.store.base.Store` on top of `Seam`; a dialect adds reads and transactions."""
