"""One suite a file. Each has ``check(ground)``, which raises `Wrong` where an answer isn't exact,
and ``races(ground, rounds)``, what to time. A suite's name is its file's."""
