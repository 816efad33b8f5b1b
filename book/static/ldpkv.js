/* Filter of the claims table. The page is complete without it.
   The address holds the choice: claims-table.html#paper=pckv&verdict=differs */
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll("table.ldpkv-claims")];
  if (tables.length === 0) return;

  const classEnding = (element, prefix) => {
    const name = [...element.classList].find((item) => item.startsWith(prefix));
    return name ? name.slice(prefix.length) : "";
  };
  const verdicts = ["exact", "within-error", "shape-only", "differs", "not-checkable"];
  const rows = tables.flatMap((table) =>
    [...table.querySelectorAll("tbody tr")].map((row) => ({
      row,
      paper: classEnding(table, "ldpkv-paper-"),
      verdict: verdicts.find((name) => row.querySelector(".badge-" + name)) || "",
    })),
  );
  const papers = tables.map((table) => [
    classEnding(table, "ldpkv-paper-"),
    table.closest("section").querySelector("h2").firstChild.textContent.trim(),
  ]);

  const bar = document.createElement("form");
  bar.className = "ldpkv-filter";
  const menu = (name, label, choices) => {
    const select = document.createElement("select");
    select.name = name;
    select.append(new Option("all", ""));
    choices.forEach(([value, text]) => select.append(new Option(text, value)));
    const box = document.createElement("label");
    box.append(label + " ", select);
    bar.append(box);
    return select;
  };
  const paper = menu("paper", "Paper", papers);
  const verdict = menu("verdict", "Verdict", verdicts.map((v) => [v, v.replace("-", " ")]));
  const count = document.createElement("output");
  bar.append(count);
  tables[0].closest("section").before(bar);

  const show = () => {
    let shown = 0;
    rows.forEach((item) => {
      const keep =
        (!paper.value || item.paper === paper.value) &&
        (!verdict.value || item.verdict === verdict.value);
      item.row.hidden = !keep;
      shown += keep ? 1 : 0;
    });
    tables.forEach((table) => {
      const some = [...table.querySelectorAll("tbody tr")].some((row) => !row.hidden);
      table.closest("section").hidden = !some;
    });
    count.textContent = shown + " of " + rows.length + " claims";
  };
  const read = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    paper.value = wanted.get("paper") || "";
    verdict.value = wanted.get("verdict") || "";
    show();
  };
  bar.addEventListener("change", () => {
    const wanted = new URLSearchParams();
    if (paper.value) wanted.set("paper", paper.value);
    if (verdict.value) wanted.set("verdict", verdict.value);
    history.replaceState(null, "", "#" + wanted);
    show();
  });
  window.addEventListener("hashchange", read);
  read();
});
