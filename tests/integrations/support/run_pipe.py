"""Runs the pipe once, as JSON on stdin says, and prints what comes out, one JSON object a line.

{"valves": {…}, "own_key": "…", "body": {…}, "task": null, "stop_after": null, "open_webui": "FOLDER"}

Without `open_webui` the pipe is called directly: {"out": text or object} and {"event": …}. With it, the code of Open WebUI in that
folder loads and calls the pipe: {"front_matter": …}, {"line": …} of the stream or {"completion": …}, and {"event": …}.

With `connection`, a base URL, it is asked without the pipe, as Open WebUI asks an OpenAI API, with its code for the stream.
"""

import asyncio
import importlib.util
import json
import pathlib
import sys
import textwrap
import types

PIPE = pathlib.Path(__file__).parents[3] / "integrations/open-webui/evidence_chat_pipe.py"


def report(kind, value):
    print(json.dumps({kind: value}), flush=True)


async def emit(event):
    report("event", event)


async def run_alone(asked):
    spec = importlib.util.spec_from_file_location("evidence_chat_pipe", PIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pipe = module.Pipe()
    pipe.valves = pipe.Valves(**asked["valves"])
    user = {"id": "1", "valves": pipe.UserValves(api_key=asked.get("own_key") or "")}
    answer = pipe.pipe(asked["body"], __user__=user, __event_emitter__=emit, __task__=asked.get("task"))
    count = 0
    async for out in answer:
        report("out", out)
        count += 1
        if count == asked.get("stop_after"):
            await answer.aclose()
            break


async def run_in_open_webui(asked):
    stand_in(asked)
    from open_webui import functions
    from open_webui.utils import plugin

    content = PIPE.read_text(encoding="utf-8")
    if plugin.replace_imports(content) != content:
        raise SystemExit("Open WebUI would rewrite imports of the pipe")
    report("front_matter", plugin.extract_frontmatter(content))
    request = types.SimpleNamespace(
        app=types.SimpleNamespace(state=types.SimpleNamespace()), state=types.SimpleNamespace()
    )
    form = {**asked["body"], "model": "evidence_chat", "metadata": {"task": asked.get("task")} | IDS}
    answer = await functions.generate_function_chat_completion(request, form, User(), models={})
    if isinstance(answer, dict):
        return report("completion", answer)
    async for line in answer.body_iterator:
        report("line", line)


async def run_connection(asked):
    stand_in(asked)
    import aiohttp
    from open_webui.utils.misc import stream_chunks_handler

    handle_annotations = annotations_handler(asked["open_webui"])
    headers = {"Authorization": f"Bearer {asked['valves']['api_key']}"}
    body = {**asked["body"], "model": "evidence-chat"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{asked['connection']}/chat/completions", json=body, headers=headers) as response,
    ):
        async for line in stream_chunks_handler(response.content):
            line = line.decode("utf-8")
            report("line", line)
            if line.startswith("data: {"):
                delta = json.loads(line.removeprefix("data: "))["choices"][0]["delta"]
                await handle_annotations(delta, emit)


def annotations_handler(folder):
    """What Open WebUI does with the sources of a chunk: a part of a long function that needs its database."""
    source = pathlib.Path(folder, "open_webui/utils/middleware.py").read_text(encoding="utf-8")
    start = source.index("# Handle delta annotations")
    start = source.rindex("\n", 0, start) + 1
    end = source.rindex("\n", 0, source.index("delta_tool_calls = delta.get", start))
    block = textwrap.indent(textwrap.dedent(source[start:end]), "    ")
    names = {}
    exec(f"async def handle(delta, event_emitter):\n{block}", names)
    return names["handle"]


IDS = {"session_id": "s", "chat_id": "c", "message_id": "m"}


def stand_in(asked):
    """Replaces what Open WebUI's code for pipes imports but does not need here: database, sockets and settings."""
    sys.path.insert(0, asked["open_webui"])
    module("open_webui", is_package=True, path=f"{asked['open_webui']}/open_webui")
    module("open_webui.config", BYPASS_ADMIN_ACCESS_CONTROL=False)
    module(
        "open_webui.env",
        BYPASS_MODEL_ACCESS_CONTROL=True,
        CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE=None,
        ENABLE_FUNCTIONS=True,
        ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS=True,
        ENABLE_TOOLS=False,
        GLOBAL_LOG_LEVEL="ERROR",
        OFFLINE_MODE=False,
        PIP_OPTIONS=[],
        PIP_PACKAGE_INDEX_OPTIONS=[],
    )
    module("open_webui.models", is_package=True)
    module("open_webui.models.functions", Functions=Functions(asked), FunctionModel=object)
    module("open_webui.models.models", Models=types.SimpleNamespace(get_model_by_id=nothing))
    module("open_webui.models.tools", Tools=None)
    module("open_webui.models.users", UserModel=User)
    module("open_webui.socket", is_package=True)
    module("open_webui.socket.main", get_event_emitter=emitter, get_event_call=nothing)
    module("open_webui.utils.access_control", check_model_access=nothing)
    module("open_webui.utils.json_codec", JSONCodec=json)
    module("open_webui.utils.oauth", get_system_oauth_token=nothing)
    module(
        "open_webui.utils.payload", apply_model_params_to_body_openai=None, apply_system_prompt_to_body=nothing
    )
    module("mimeparse")


class User:
    id = "1"

    def model_dump(self):
        return {"id": self.id, "role": "user"}


class Functions:
    """The table of functions, with this pipe only."""

    def __init__(self, asked):
        self.valves = asked["valves"]
        self.own_key = asked.get("own_key") or ""

    async def get_function_by_id(self, _id):
        return types.SimpleNamespace(content=PIPE.read_text(encoding="utf-8"))

    async def get_function_valves_by_id(self, _id):
        return self.valves

    async def get_user_valves_by_id_and_user_id(self, _id, _user_id):
        return {"api_key": self.own_key}

    async def update_function_by_id(self, _id, change):
        raise SystemExit(f"Open WebUI would switch the pipe off: {change}")


async def emitter(_metadata):
    return emit


async def nothing(*_arguments):
    return None


def module(name, is_package=False, path=None, **names):
    made = types.ModuleType(name)
    made.__dict__.update(names)
    if is_package:
        made.__path__ = [path] if path else []
    sys.modules[name] = made


asked = json.load(sys.stdin)
run = run_connection if asked.get("connection") else run_in_open_webui if asked.get("open_webui") else run_alone
asyncio.run(run(asked))
