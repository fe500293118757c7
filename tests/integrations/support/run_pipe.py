"""Runs the pipe once, as JSON on stdin says, and prints what comes out, one JSON object a line.

{"valves": {…}, "own_key": "…", "body": {…}, "task": null, "stop_after": null, "open_webui": "FOLDER"}

Without `open_webui` the pipe is called directly: {"out": text or object} and {"event": …}. With it, the code of Open WebUI in that
folder loads and calls the pipe: {"front_matter": …}, {"line": …} of the stream or {"completion": …}, and {"event": …}.
"""

import asyncio
import importlib.util
import json
import pathlib
import sys
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
    sys.path.insert(0, asked["open_webui"])
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


IDS = {"session_id": "s", "chat_id": "c", "message_id": "m"}


def stand_in(asked):
    """Replaces what Open WebUI's code for pipes imports but does not need here: database, sockets and settings."""
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
asyncio.run(run_in_open_webui(asked) if asked.get("open_webui") else run_alone(asked))
