"""A search as the Worker makes it: one transaction with the claims of a user."""

import json
import time

from loading import WORKER_SECRET

HEADERS = json.dumps({"x-evidence-chat-worker": WORKER_SECRET})
USER = {"sub": "00000000-0000-4000-8000-000000000001", "role": "authenticated"}
# Also sees the documents of one team.
MEMBER = USER | {"app_metadata": {"team": "3"}}
SEARCH = "select * from match_chunks(%s, 5, 0.35, %s)"


class Searcher:
    def __init__(self, session, claims):
        self.session = session
        self.claims = json.dumps(claims)

    def search(self, vector, text):
        """The time in milliseconds, and the rows."""
        with self.session.transaction():
            self.become_user()
            started = time.perf_counter()
            answer = self.session.execute(SEARCH, [vector, text], prepare=True)
            # The rows have arrived; converting them to Python objects is not the database's time.
            milliseconds = (time.perf_counter() - started) * 1000
            return milliseconds, answer.fetchall()

    def become_user(self):
        self.session.execute("set local role authenticated")
        self.session.execute(
            "select set_config('request.headers', %s, true), set_config('request.jwt.claims', %s, true)",
            [HEADERS, self.claims],
        )


def percentiles(times):
    ordered = sorted(times)
    at = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2)
    return {"p50": at(0.5), "p95": at(0.95)}
