/* How long a page may wait with its next check, since an answer has shown that the session stands. A
   clock that was set back counts as no answer. */
export function restMs(heardMs, nowMs, everyMs) {
  const ageMs = nowMs - heardMs;
  return ageMs >= 0 && ageMs < everyMs ? everyMs - ageMs : 0;
}
