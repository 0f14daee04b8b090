"""The part of the web's own store that is the same for every dialect."""

from __future__ import annotations

from api.store.web import migrations
from api.store.web.embeds import EmbedsPart


class CommonWebStore(EmbedsPart):
    """`api.store.web.base.WebStore` on top of `Seam`."""

    schema = migrations
