"""A tool in Python: counts the lines and the words of a file, as `wc` does."""

import json

from wit_world.imports.types import (
    ErrorCode,
    Example,
    ExecutionMode,
    Failure,
    Outcome_Failure,
    Outcome_Success,
    Success,
    ToolSchema,
)

INPUT = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "The path of a text file."}},
    "required": ["path"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"lines": {"type": "integer"}, "words": {"type": "integer"}},
    "required": ["lines", "words"],
}
MAX_CHARACTERS = 1_000_000


class Tool:
    def schema(self):
        return ToolSchema(
            name="python_reader",
            description="Counts the lines and the words of a text file.",
            input_schema=json.dumps(INPUT),
            output_schema=json.dumps(OUTPUT),
            execution_mode=ExecutionMode.FUNCTIONAL,
            blocking_config=None,
            display_config=None,
            examples=[Example('{"path": "~/notes/a.txt"}', None, "Count the words of ~/notes/a.txt with Python")],
        )

    def execute(self, input, context):
        path = json.loads(input)["path"]
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(MAX_CHARACTERS)
        except PermissionError:
            return failure(ErrorCode.PERMISSION_DENIED, f"`{path}` is not granted: do not try again")
        except FileNotFoundError:
            return failure(ErrorCode.NOT_FOUND, f"there is no `{path}`")
        except (OSError, ValueError) as error:
            return failure(ErrorCode.IO_ERROR, f"`{path}` cannot be read: {error}")
        counts = {"lines": text.count("\n"), "words": len(text.split())}
        return Outcome_Success(Success(json.dumps(counts), None, [], [], None))


def failure(code, message):
    return Outcome_Failure(Failure(code, message, False, None))
