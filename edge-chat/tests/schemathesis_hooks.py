"""Rules that docs/openapi.yaml can only state in prose, for Schemathesis; see schemathesis.mjs."""

import math
import os
import random
import uuid

import schemathesis

SESSIONS = os.environ["CHAT_SESSIONS"].split(",")
DOCUMENT = os.environ["CHAT_DOCUMENT"]


@schemathesis.hook
def before_load_schema(context, schema):
    """Gives each response the headers that every response has."""
    for response in schema["components"]["responses"].values():
        response["headers"] = {**schema["x-response-headers"], **response.get("headers", {})}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Normalizes vectors to length 1, leaves each passage of a reading once, and replaces most ids by existing ones."""
    if isinstance(case.body, dict) and is_vector(case.body.get("embedding")):
        case.body = {**case.body, "embedding": normalized(case.body["embedding"])}
    previous = case.body.get("previous") if isinstance(case.body, dict) else None
    if isinstance(previous, dict) and is_vector(previous.get("embedding")):
        case.body = {**case.body, "previous": {**previous, "embedding": normalized(previous["embedding"])}}
    reading = case.body.get("reading") if isinstance(case.body, dict) else None
    passages = reading.get("passages") if isinstance(reading, dict) else None
    if isinstance(passages, list) and all(isinstance(each, dict) and is_uuid(each.get("chunk_id")) for each in passages):
        each_once = list({each["chunk_id"]: each for each in passages}.values())
        case.body = {**case.body, "reading": {**reading, "passages": each_once}}
    known = (case.path_parameters or {}).get("id")
    if is_uuid(known) and random.random() < 0.8:
        is_document = case.operation.path.startswith("/api/documents/")
        case.path_parameters["id"] = DOCUMENT if is_document else random.choice(SESSIONS)


def is_vector(value):
    return isinstance(value, list) and value != [] and all(type(number) in (int, float) for number in value)


def normalized(vector):
    largest = max(abs(number) for number in vector)
    scaled = [number / largest for number in vector] if largest > 0 else [1.0] + [0.0] * (len(vector) - 1)
    length = math.hypot(*scaled)
    return [number / length for number in scaled]


def is_uuid(value):
    try:
        return str(uuid.UUID(value)) == value
    except (AttributeError, TypeError, ValueError):
        return False
