"""Everything a store of the web's own writes does that isn't a matter of dialect."""

from __future__ import annotations

from api.store.web import migrations
from api.store.web.embeds import EmbedsPart


class CommonWebStore(EmbedsPart):
    """`api.store.web.base.WebStore` over the seam."""

    schema = migrations
