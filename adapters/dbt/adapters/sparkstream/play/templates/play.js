// The playground: tables to edit, SQL to run, and what comes back.
const at = (id) => document.getElementById(id);
const made = (tag, attributes = {}, ...children) => {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
    else one.setAttribute(name, value);
  }
  one.append(...children);
  return one;
};
let tables = [];

const cell = (value, label, change, kind = "") => {
  const input = made("input", { "aria-label": label, class: kind, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  input.value = value ?? "";
  input.addEventListener("input", () => change(input.value));
  return input;
};
const drop = (label, act) => made("button", { type: "button", class: "drop", "aria-label": label, title: label, onclick: act }, "×");
const isTime = (type) => /^(timestamp|date)/i.test(type);

const grid = (table) => {
  const head = made("tr", {}, ...table.columns.map((column, c) => made("th", { scope: "col" },
    cell(column[0], `name of column ${c + 1} of ${table.name}`, (text) => { column[0] = text; }),
    cell(column[1], `type of ${column[0]}`, (text) => { column[1] = text; }, "type"))),
    made("th", {}, made("button", { type: "button", class: "drop", title: "add a column", "aria-label": `add a column to ${table.name}`, onclick: () => {
      table.columns.push([`c${table.columns.length + 1}`, "string"]);
      for (const row of table.rows) row.push(null);
      draw();
    } }, "+")));
  const lines = table.rows.map((row, r) => made("tr", {}, ...row.map((value, c) => made("td", {},
    cell(value, `${table.columns[c][0]} of row ${r + 1} of ${table.name}`, (text) => { row[c] = text === "" ? null : text; },
      isTime(table.columns[c][1]) ? "time" : ""))),
    made("td", {}, drop(`remove row ${r + 1} of ${table.name}`, () => { table.rows.splice(r, 1); draw(); }))));
  return made("div", { class: "grid", role: "region", "aria-label": `rows of ${table.name}` },
    made("table", {}, made("thead", {}, head), made("tbody", {}, ...lines)));
};
const draw = () => at("tables").replaceChildren(...tables.map((table, t) => made("div", { class: "table" },
  made("p", { class: "bar-of-fields" },
    cell(table.name, `name of table ${t + 1}`, (text) => { table.name = text; }, "name"),
    made("button", { type: "button", onclick: () => {
      // A new row is like the last one, as it mostly differs in one value.
      table.rows.push(table.rows.length ? [...table.rows.at(-1)] : table.columns.map(() => null));
      draw();
      const inputs = at("tables").children[t].querySelectorAll("tbody tr:last-child input");
      if (inputs.length) inputs[0].focus();
    } }, "Add a row"),
    table.columns.length > 1 ? made("button", { type: "button", title: "remove the last column", onclick: () => {
      table.columns.pop();
      for (const row of table.rows) row.pop();
      draw();
    } }, "Remove a column") : "",
    drop(`remove the table ${table.name}`, () => { tables.splice(t, 1); draw(); })),
  grid(table))));

const show = (number) => {
  const example = page.examples[number];
  tables = structuredClone(example.tables);
  at("sql").value = example.sql;
  at("dialect").value = example.dialect;
  at("arrival").value = "";
  draw();
};
const run = async () => {
  const outcome = at("outcome");
  if (outcome.getAttribute("aria-busy") === "true") return;
  outcome.setAttribute("aria-busy", "true");
  at("run").disabled = true;
  const waiting = made("p", { class: "waiting" }, "Spark works. It needs some seconds to start.");
  const timer = setTimeout(() => outcome.replaceChildren(waiting), 300);
  try {
    const answer = await fetch("run", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Sparkstream-Token": page.token },
      body: JSON.stringify({ sql: at("sql").value, dialect: at("dialect").value, arrival: at("arrival").value.trim(), tables }),
    });
    const text = await answer.text();
    clearTimeout(timer);
    // What users wrote is escaped by the server, and scripts in it would not run: the page's policy names its own.
    outcome.innerHTML = text;
    watch(outcome);
  } catch (fault) {
    outcome.replaceChildren(made("p", { class: "card failed", role: "alert" },
      "The playground doesn't answer: has sparkstream play been ended?"));
  } finally {
    clearTimeout(timer);
    outcome.setAttribute("aria-busy", "false");
    at("run").disabled = false;
  }
};
at("example").addEventListener("change", () => { show(at("example").value); run(); });
at("task").addEventListener("submit", (event) => { event.preventDefault(); run(); });
at("task").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  else if (event.key === "Enter" && event.target.tagName === "INPUT") event.preventDefault();
});
at("add-table").addEventListener("click", () => {
  tables.push({ name: `t${tables.length + 1}`, columns: [["ts", "timestamp_ntz"], ["v", "int"]], rows: [["2024-03-01 10:00", "1"]] });
  draw();
});
show(0);
run();
