"""Validates lines of JSON against a JSON Schema with the package jsonschema, a validator that knows nothing of gtmark.

    python3 tests/validate_json.py SCHEMA FILE...

Prints the first error of each line that is not valid. Exit 0 all are, 1 some are not, 4 none is, 3 there is no
jsonschema.
"""

import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(3)


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    wrong = count = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                count += 1
                error = next(validator.iter_errors(json.loads(line)), None)
                if error:
                    wrong += 1
                    where = "/".join(str(part) for part in error.absolute_path)
                    print(f"{path}, line {number}: {where}: {error.message[:200]}")
    return 0 if wrong == 0 else 4 if wrong == count else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
