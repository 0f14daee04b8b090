"""One suite per file. Each has ``check(ground)``, which raises `Wrong` where a result isn't exact,
and ``races(ground, rounds)``, what to time. A suite's name is its file's."""
