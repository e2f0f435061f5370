"""What ``--help`` shows besides options: examples of each command, and the groups of commands."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "Start": ("demo", "info"),
    "Data": ("convert", "audit", "split", "clicks", "raters", "next", "judge"),
    "Train": ("train", "update", "path", "folds", "curve", "svm_rank_learn"),
    "Score and compare": ("predict", "evaluate", "compare", "interleave", "report", "drift"),
    "Deploy": ("export",),
}
EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("rankwise demo", "rankwise demo --out films"),
    "clicks": (
        "rankwise clicks log.csv --data features.csv --data-qid query --data-doc url --out judgments.csv",
        "rankwise clicks counts.csv --qid query --doc url --impressions shown --clicks clicks",
        "rankwise clicks log.csv --signals clicks=1,purchases=10 --data features.csv --out judgments.csv",
    ),
    "raters": (
        "rankwise raters judgments.csv",
        "rankwise raters judgments.csv --grades 0,4 --out labels.csv",
    ),
    "audit": (
        "rankwise audit judged.csv --doc title",
        "rankwise audit train.txt --count 50 --csv suspects.csv",
    ),
    "split": (
        "rankwise split judged.csv train.csv test.csv --qid query",
        "rankwise split judged.csv train.csv test.csv --qid query --time seen --fraction 0.2",
    ),
    "judge": (
        "rankwise judge films.csv --doc title --show title,plot --exclude plot",
        "rankwise judge films.csv model.safetensors --doc title --rater ann --journal ann.jsonl",
        "rankwise judge films.csv --journal ann.jsonl --export judged",
    ),
    "next": (
        "rankwise next candidates.csv --doc title --budget 50",
        "rankwise next candidates.csv model.safetensors --judgments judgments.csv --csv next.csv",
    ),
    "train": (
        "rankwise train judged.csv model.safetensors",
        "rankwise train train.txt model.safetensors --validation vali.txt --measure ndcg@10",
        "rankwise train judged.csv model.safetensors --label grade --qid query --doc title --columns auto",
    ),
    "update": (
        "rankwise update this-week.txt model.safetensors",
        "rankwise update new.txt model.safetensors --forget old.txt --out newer.safetensors",
    ),
    "path": ("rankwise path train.txt --validation vali.txt --model model.safetensors --plot path.png",),
    "folds": ("rankwise folds MQ2007 --learners rankrls,ranksvm --measures ndcg@10,map",),
    "curve": (
        "rankwise curve judged.csv",
        "rankwise curve judged.csv --columns auto --label grade --qid query --doc title --more 500,1000",
    ),
    "predict": (
        "rankwise predict test.txt model.safetensors --out scores.txt",
        "rankwise predict test.csv model.safetensors --trec --doc title > run.txt",
    ),
    "evaluate": (
        "rankwise evaluate test.txt scores.txt --measures ndcg@10,map",
        "rankwise evaluate test.csv model.safetensors",
        "rankwise evaluate run.txt --qrels qrels.txt",
    ),
    "compare": ("rankwise compare old.safetensors new.safetensors --data test.txt --worst 20",),
    "interleave": (
        "rankwise interleave log.csv",
        "rankwise interleave log.parquet --unit user --team ranker --clicked click",
    ),
    "report": (
        "rankwise report bm25.txt old.safetensors new.safetensors --data test.txt --out report.html",
        "rankwise report run1.txt run2.txt --qrels qrels.txt",
    ),
    "drift": (
        "rankwise drift model.safetensors new.parquet --fail-above 0.1",
        "rankwise drift model.safetensors judged.csv --time seen --exclude age",
    ),
    "export": (
        "rankwise export model.safetensors model.sql",
        "rankwise export model.safetensors model.json --to elasticsearch --name films",
    ),
    "convert": ("rankwise convert train.txt.gz train.store", "rankwise convert train.csv train.txt"),
    "info": (
        "rankwise info model.safetensors",
        "rankwise info model.safetensors --html > card.html",
        "rankwise info train.store --verify",
    ),
    "svm_rank_learn": ("rankwise svm_rank_learn -c 20 train.dat model",),
}


def epilog(command: str) -> str:
    """The examples of a command, each on a line of its own."""
    return "\n".join(("Examples:", *(f"  {example}" for example in EXAMPLES.get(command, ()))))


def group_of(command: str) -> str | None:
    """The group in which a command is listed."""
    return next((group for group, commands in GROUPS.items() if command in commands), None)
