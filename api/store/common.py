"""Everything a store does that isn't a matter of dialect."""

from __future__ import annotations

from api.store.alerts import AlertsPart
from api.store.annotations import AnnotationsPart
from api.store.directory import DirectoryPart
from api.store.findings import FindingsPart
from api.store.ingest import IngestPart
from api.store.insight import InsightPart
from api.store.keys import KeysPart
from api.store.reads import SeriesPart
from api.store.removal import RemovalPart
from api.store.upkeep import UpkeepPart


class CommonStore(
    DirectoryPart,
    RemovalPart,
    KeysPart,
    IngestPart,
    SeriesPart,
    InsightPart,
    FindingsPart,
    AlertsPart,
    AnnotationsPart,
    UpkeepPart,
):
    """`api.store.base.Store` over the seam; a dialect adds how to fetch and to transact."""
