#!/bin/sh
# The part of `make sanitize` that there is time for in every `make test`.
exec sh grader/sanitize.sh some
