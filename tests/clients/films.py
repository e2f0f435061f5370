"""Films, queries and judgments of the real data of the tests, indexed by Terrier."""

import json
import lzma
import re
from pathlib import Path

import numpy as np
import pandas as pd

FIELDS = ("title", "overview", "actors")


def films(folder: Path):
    """The films as documents with text fields, and what else is known of them."""
    with lzma.open(folder / "corpus.jsonl.xz", "rt", encoding="utf-8") as file:
        for line in file:
            film = json.loads(line)
            text = {"title": film["title"], "overview": film["overview"], "actors": " ".join(film["actors"])}
            votes, popularity = np.log1p(film["votes"] or 0), np.log1p(film["popularity"] or 0)
            yield {"docno": str(film["id"]), **text, "votes": votes, "popularity": popularity}


def topics_and_qrels(folder: Path, n_queries: int):
    """Queries drawn at random from those with relevant films, and the judgments of these."""
    judged = pd.read_csv(folder / "judgments.tsv.xz", sep="\t", dtype={"doc_id": str})
    judged["query"] = [re.sub(r"[^0-9a-z]+", " ", str(text).lower()).strip() for text in judged["query"]]
    judged = judged[judged["query"] != ""]
    useful = judged[judged["grade"] > 0].drop_duplicates("query_id")
    topics = useful.sample(n_queries, random_state=0)[["query_id", "query"]]
    qrels = judged[judged["query_id"].isin(topics["query_id"])]
    names = {"query_id": "qid", "doc_id": "docno", "grade": "label"}
    return topics.rename(columns=names), qrels.rename(columns=names)[["qid", "docno", "label"]]
