"""grader/test/schema.py [--changed] SCHEMA FILE...: does each file keep to the JSON schema?

--changed: and is a file refused once it is changed? Each kind of place is changed in the first file that has it: an object gets a
member more, and a value becomes one of another type, or a word that nobody writes. Without what its schema requires, it is refused
too. Prints a line for each that is not so, and then the counts; the exit status is 1 then.
"""
import copy
import json
import os
import sys

DEBIANS = "/usr/bin/python3"
try:
    import jsonschema
except ImportError:  # another Python stands first on PATH
    if sys.executable == DEBIANS or not os.path.exists(DEBIANS):
        sys.exit("schema.py: the Python package jsonschema is missing. Type: make build/setup/test")
    os.execv(DEBIANS, [DEBIANS] + sys.argv)


def places(value, path=()):
    """The path of each value within a value, the value's own last."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], path + (key,))
    yield path


def at(whole, path):
    for key in path:
        whole = whole[key]
    return whole


def replaced(whole, path, value):
    if not path:
        return value
    changed = copy.copy(whole)
    changed[path[0]] = replaced(changed[path[0]], path[1:], value)
    return changed


def named(path):
    return ".".join(str(key) for key in path) or "the whole"


WORDS = {"verdict", "behind", "kind", "trusted", "hash", "build", "lesson", "status", "visibility", "output_format"}


def changes(whole, path):
    """Values for that place that nobody writes there."""
    value = at(whole, path)
    yield [] if isinstance(value, dict) else {}
    if isinstance(value, dict):
        yield {**value, "surplus": "of a type that no member with a free name has"}
    if path and path[-1] in WORDS:
        yield "no such word"


def kind_of(path):
    return tuple("*" if isinstance(key, int) else key for key in path)


def changed(whole, schema, seen):
    """A path and the whole changed there, for each kind of place that is not among `seen`."""
    for key in schema.get("required", ()):
        yield (key,), {k: v for k, v in whole.items() if k != key}
    for path in places(whole):
        if kind_of(path) not in seen:
            seen.add(kind_of(path))
            for value in changes(whole, path):
                yield path, replaced(whole, path, value)


def main(schema_path, files, change):
    schema = json.load(open(schema_path))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    kept = amiss = refused = 0
    seen = set()
    for file in files:
        whole = json.load(open(file))
        error = jsonschema.exceptions.best_match(validator.iter_errors(whole))
        if error:
            print(f"{file}: {named(error.absolute_path)}: {error.message[:300]}")
            amiss += 1
            continue
        kept += 1
        for path, other in changed(whole, schema, seen) if change else ():
            refused += 1
            if validator.is_valid(other):
                print(f"{file}: changed at {named(path)}, it keeps to the schema all the same")
                refused -= 1
                amiss += 1
    print(f"{schema_path}: {kept} files keep to it, {refused} changes are refused, {amiss} amiss")
    return amiss or not kept or (change and not refused)


if __name__ == "__main__":
    change = sys.argv[1:2] == ["--changed"]
    sys.exit(bool(main(sys.argv[1 + change], sys.argv[2 + change:], change)))
