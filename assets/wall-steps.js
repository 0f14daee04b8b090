/* The pages that the wall display shows in turn. Pure. */

/* The pages of the rotation: the reader's own view first, then each group; if there are no groups,
   or the reader has chosen one, its further pages up to `last`. */
function wallSteps(ownGroup, groups, last) {
  const first = { group: ownGroup, page: null };
  if (!ownGroup && groups.length) {
    return [first, ...groups.map((group) => ({ group, page: null }))];
  }
  const further = Array.from({ length: Math.max(0, last - 1) }, (_, index) => ({
    group: ownGroup,
    page: String(index + 2),
  }));
  return [first, ...further];
}

/* The index of the next page, also if the rotation has become shorter meanwhile. */
const nextStep = (at, count) => (at + 1 < count ? at + 1 : 0);

/* The tiles of a page with the problem devices first, each once, and as on the page if it is there.
   A tile may be null: it is drawn already. */
function troublesFirst(troubles, tiles) {
  const fresh = new Map(tiles.filter(Boolean).map((tile) => [tile.id, tile]));
  const current = troubles.map((tile) => fresh.get(tile.id) || tile);
  const first = new Set(current.map((tile) => tile.id));
  return {
    troubles: current,
    tiles: [...current, ...tiles.filter((tile) => !tile || !first.has(tile.id))],
  };
}

export { nextStep, troublesFirst, wallSteps };
