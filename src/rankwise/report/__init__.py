"""Reports: facts about rankers on judged rows as plain JSON, and the page that draws them."""
