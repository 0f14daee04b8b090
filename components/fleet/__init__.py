"""The fleet page: every number, state and text of the wall. docs/fleet.md explains each number."""
