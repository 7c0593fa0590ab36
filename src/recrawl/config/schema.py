"""JSON Schema of the project file; what it says of each key stands below the key in `document`."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

from recrawl.config import document


def json_schema() -> dict[str, Any]:
    """JSON Schema of the project file, for editors.

    The keys' texts are read here, not by each start of the program (as pydantic would have it:
    a sixth of the time that a start takes).
    """
    schema = document.Document.model_json_schema()
    texts = _texts()
    for name, part in (("Document", schema), *schema["$defs"].items()):
        for key, about in part.get("properties", {}).items():
            if (name, key) in texts:
                about["description"] = texts[name, key]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _texts() -> dict[tuple[str, str], str]:
    """(section, key) -> the text that follows the key in the source."""
    found = {}
    for section in ast.parse(inspect.getsource(document)).body:
        if not isinstance(section, ast.ClassDef):
            continue
        for line, after in pairwise(section.body):
            match line, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=key)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[section.name, key] = inspect.cleandoc(text)
    return found
