"""The fleet page's answer to the browser: every number, state and word of the wall.

Pure rules: `spans` (windows and cells), `meters` (devices as the wall needs them), `known` (what is
known of one device), `states`, `sparks`, `beats`, `today`, `choice` (search, filter, sort, pages),
`tiles`, `totals`. What asks and remembers: `asking` (the service, within a time budget), `memory`
(per principal, shared by worker processes), `directory`, `knowledge`, `lines`, `volumes`. `board`
puts it together, `view` reads what the browser asks, `docs/fleet.md` says what each number means.
"""
