"""The fleet page: every number, state and word of the wall. docs/fleet.md explains each number."""
