"""
title: Evidence Chat
author: Evidence Chat
author_url: https://github.com/evidence-chat/evidence-chat
description: Answers from your documents, by default with verbatim quotes. Every sentence has a source that can be opened and checked.
version: 0.1.0
required_open_webui_version: 0.6.0
license: MIT OR Apache-2.0
"""

import json

import aiohttp
from pydantic import BaseModel, Field

# Bytes of one event. The largest has all sources of an answer.
MAX_EVENT_BYTES = 4 * 1024 * 1024
# The server takes no longer question.
MAX_QUESTION_CHARS = 4000
SECRET = {"input": {"type": "password"}}


class PipeError(Exception):
    """Why there is no answer, as a sentence for the user."""


class Pipe:
    class Valves(BaseModel):
        url: str = Field(
            default="http://127.0.0.1:8090/v1",
            description="Base URL of the OpenAI adapter of Evidence Chat",
        )
        api_key: str = Field(
            default="",
            description="API key of the adapter, or the access token of a user",
            json_schema_extra=SECRET,
        )
        timeout_seconds: float = Field(default=60, gt=0, description="How long the server may be silent")

    class UserValves(BaseModel):
        api_key: str = Field(
            default="",
            description="Your own access token, in place of the administrator's key",
            json_schema_extra=SECRET,
        )

    def __init__(self):
        self.valves = self.Valves()

    async def pipe(self, body, __user__=None, __event_emitter__=None, __task__=None):
        """Yields the text of the answer, and emits the sources and what is being done."""
        if __task__:
            # Titles, tags and the like are tasks for a language model. Nothing is better than an answer about them.
            return

        async def emit(kind, data):
            if __event_emitter__:
                await __event_emitter__({"type": kind, "data": data})

        async def report(description, done, hidden=False):
            await emit("status", {"description": description, "done": done, "hidden": hidden})

        await report("Searching the documents", done=False)
        try:
            async for chunk in self._chunks(self._key(__user__), body):
                if chunk == WRITING:
                    await report("Writing and checking the answer", done=False)
                    continue
                text = chunk["choices"][0]["delta"].get("content")
                if text:
                    yield text
                if "retrieval" in chunk:
                    for source in sources(chunk.get("citations", {}).get("sources", [])):
                        await emit("source", source)
                    await report(*outcome(chunk))
        except PipeError as error:
            await report(str(error), done=True)
            # Open WebUI shows an object with `error` as an error of the message, but only in a stream.
            yield {"error": {"detail": str(error)}} if body.get("stream") else str(error)

    def _key(self, user):
        own = (user or {}).get("valves")
        return getattr(own, "api_key", "") or self.valves.api_key

    async def _chunks(self, key, body):
        """The chunks of the answer to the last question, and WRITING while a language model writes."""
        request = {"model": "evidence-chat", "stream": True, "messages": questions(body.get("messages", []))}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=self.valves.timeout_seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(
                    f"{self.valves.url.rstrip('/')}/chat/completions",
                    json=request,
                    headers={"Authorization": f"Bearer {key}"},
                    # Following a redirect would send the key elsewhere.
                    allow_redirects=False,
                ) as response,
            ):
                if response.status != 200:
                    raise PipeError(await error_of(response))
                is_complete = False
                async for data in events(response.content):
                    if data == "[DONE]":
                        is_complete = True
                    elif data == WRITING:
                        yield WRITING
                    else:
                        yield checked(json.loads(data))
                if not is_complete:
                    raise PipeError("The connection was lost before the answer was complete. Please ask again.")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise PipeError("Evidence Chat cannot be reached right now. Please try again in a moment.") from error


def questions(messages):
    """The last question and the one before it, which a follow-up leans on."""
    *earlier, last = [message for message in messages if message.get("role") == "user"] or [None]
    return [message for message in earlier[-1:] if is_short_text(message.get("content"))] + ([last] if last else [])


def is_short_text(content):
    """Whether a message has text only. Images would make the request large."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [part.get("text") if part.get("type") == "text" else None for part in parts]
    return all(isinstance(text, str) for text in texts) and sum(map(len, texts)) <= MAX_QUESTION_CHARS


# The comment that the server sends while a language model writes.
WRITING = ": writing"


async def events(content):
    """The data of server-sent events, however the stream is cut."""
    held = b""
    async for piece in content.iter_any():
        held += piece
        *blocks, held = held.split(b"\n\n")
        if len(held) > MAX_EVENT_BYTES:
            raise ValueError("an event is too large")
        for block in blocks:
            line = block.decode("utf-8")
            if line == WRITING:
                yield WRITING
            elif line.startswith("data: "):
                yield line.removeprefix("data: ")


def checked(chunk):
    """A chunk of text. The stream may end in an error instead."""
    if "error" in chunk:
        raise PipeError(chunk["error"]["message"])
    return chunk


async def error_of(response):
    """What the server says about an error."""
    try:
        return (await response.json(content_type=None))["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"Evidence Chat answered with status {response.status}."


def outcome(last):
    """The final status: what it says, whether the work is done, and whether it is hidden."""
    retrieval = last["retrieval"]
    notes = [
        *(["searched together with the question before"] if "searched" in retrieval else []),
        *(["the question is longer than the AI reads"] if retrieval.get("truncated") else []),
    ]
    if "refusal" in retrieval:
        what = "Not enough evidence for an answer"
    elif last.get("mode") == "generated":
        # Stays visible, because readers should know who wrote the answer.
        what = "Written by a language model from the documents"
    elif notes:
        what = "Answered from the documents"
    else:
        return ("Answered from the documents", True, True)
    return ("; ".join([what, *notes]), True)


def sources(citations):
    """One source for each document, in the order of the numbers in the text: Open WebUI counts them."""
    documents = {}
    for citation in citations:
        documents.setdefault(citation["index"], []).append(citation)
    return [source(documents[index]) for index in sorted(documents)]


def source(passages):
    """A document with its passages; the three lists run in parallel."""
    first = passages[0]
    url = next((passage["url"] for passage in passages if "url" in passage), None)
    return {
        "source": {"id": first["document_id"], "name": first["title"], **({"url": url} if url else {})},
        "document": [passage["excerpt"] for passage in passages],
        "metadata": [
            {
                # Open WebUI groups passages by it, and would show an address instead of the title.
                "source": first["document_id"],
                "name": first["title"],
                **{name: passage[name] for name in ("url", "page", "section") if name in passage},
            }
            for passage in passages
        ],
        # Cosine similarity of question and passage; Open WebUI shows it as relevance.
        "distances": [passage["score"] for passage in passages],
    }
