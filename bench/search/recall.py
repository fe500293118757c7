"""How many of the five best passages the search finds that it would find if it compared the question with every vector."""

from searching import USER, Searcher

# As many as match_chunks considers.
NEAREST = 50
EXACT = f"""
    select e.chunk_id from kb_embeddings e where e.searchable
    order by e.embedding operator(extensions.<=>) %s::extensions.vector limit {NEAREST}"""
# Within one transaction, so that everything else stays the search that is measured.
REPLACE_INDEX = """
    create or replace function internal.kb_nearest_chunks(
      query_embedding extensions.vector, collections text[], max_count integer
    ) returns uuid[] language sql stable security definer set search_path = '' as $$
      select x.nearest[1:max_count] from bench.exact x where x.embedding operator(extensions.=) query_embedding
    $$"""


def measure_recall(server, database, questions):
    with server.connect("postgres", database) as admin:
        admin.execute("""
            create table if not exists bench.exact (question integer primary key, embedding extensions.vector, nearest uuid[])""")
        # The owner of the function that is replaced below.
        admin.execute("grant usage on schema bench to project_owner")
        admin.execute("grant select on bench.exact to project_owner")
        known = {number for (number,) in admin.execute("select question from bench.exact")}
        admin.execute("set enable_indexscan = off")
        admin.execute("set jit = off")
        for number, question in enumerate(questions):
            if number not in known:
                nearest = [row[0] for row in admin.execute(EXACT, [question["vector"]])]
                admin.execute("insert into bench.exact values (%s, %s, %s)", [number, question["vector"], nearest])
        admin.execute("reset enable_indexscan")
        approximate = answers(admin, questions)
        with admin.transaction(force_rollback=True):
            admin.execute(REPLACE_INDEX)
            exact = answers(admin, questions)
    return {name: share_found(approximate[name], exact[name]) for name in exact}


def answers(admin, questions):
    """Ids of the passages for each question, with its words and without."""
    searcher = Searcher(admin, USER)
    ids = lambda text: [
        {row[0] for row in searcher.search(question["vector"], text(question))[1]} for question in questions
    ]
    return {"recall_5": ids(lambda question: question["text"]), "vector_recall_5": ids(lambda _: None)}


def share_found(approximate, exact):
    found = sum(len(ours & theirs) for ours, theirs in zip(approximate, exact, strict=True))
    return round(found / sum(len(theirs) for theirs in exact), 4)
