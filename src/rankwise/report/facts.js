// What everything below draws.
const facts = JSON.parse(document.getElementById("facts").textContent);
const names = facts.models.map((model) => model.name);
const others = names.filter((model) => model !== facts.baseline);
