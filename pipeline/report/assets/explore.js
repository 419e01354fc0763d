// The table of all results: filters, sorting, pages, copy as CSV, citations.
"use strict";

const PAGE = 50;
const { columns, rows: total } = globalThis.roundtable;
const column = Object.fromEntries(columns.map((each) => [each.key, each]));
const explorer = document.getElementById("explore");
const form = explorer.querySelector("form");
const status = explorer.querySelector(".status");
const table = explorer.querySelector("table");
const pager = explorer.querySelector(".pager");
const dialog = explorer.querySelector("dialog");
const heads = [...table.tHead.rows[0].cells];
const shownColumns = heads.map((head) => column[head.dataset.key]);

// An address has some of its parts in common with the one before.
const addresses = [];
let parts = [];
column.source_url.shared.forEach((same, row) => {
  parts = [...parts.slice(0, same), ...column.source_url.rest[row].split("/").slice(1)];
  addresses.push(parts.join("/"));
});

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const large = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

let found = Array.from({ length: total }, (_, row) => row);
let page = 0;
let sorted = { key: null, falls: false };

function raw(each, row) {
  if (each.kind === "address") return addresses[row];
  const value = each.cells[row];
  return each.names ? each.names[value] : value;
}

function written(each, row) {
  const value = raw(each, row);
  if (value === null || value === "") return "–";
  if (each.kind === "count") return whole.format(value);
  if (each.kind === "number") return (value >= 1000 ? large : small).format(value);
  return value;
}

function filter() {
  const wanted = [];
  for (const select of form.querySelectorAll("select")) {
    if (select.value !== "") {
      const { cells, names } = column[select.name];
      wanted.push([cells, names.indexOf(select.value)]);
    }
  }
  found = [];
  for (let row = 0; row < total; row += 1) {
    if (wanted.every(([cells, name]) => cells[row] === name)) found.push(row);
  }
  sort();
}

function sort() {
  const { key, falls } = sorted;
  if (key !== null) {
    const each = column[key];
    const sign = falls ? -1 : 1;
    // Names are numbered in the order of the alphabet.
    const value = each.kind === "address" ? (row) => row : (row) => each.cells[row] ?? -Infinity;
    found.sort((a, b) => sign * (value(a) - value(b)) || a - b);
  }
  page = 0;
  show();
}

function show() {
  const first = page * PAGE;
  const body = document.createElement("tbody");
  for (const row of found.slice(first, first + PAGE)) {
    const line = body.insertRow();
    for (const each of shownColumns) line.append(cell(each, row));
  }
  table.tBodies[0].replaceWith(body);
  const last = Math.min(first + PAGE, found.length);
  status.textContent =
    found.length === total
      ? `All ${whole.format(total)} results`
      : `${whole.format(found.length)} of ${whole.format(total)} results`;
  pager.hidden = found.length <= PAGE;
  pager.querySelector(".place").textContent =
    `${whole.format(first + 1)} to ${whole.format(last)} of ${whole.format(found.length)}`;
  pager.querySelector("[data-action=back]").disabled = page === 0;
  pager.querySelector("[data-action=next]").disabled = last === found.length;
}

function cell(each, row) {
  const made = document.createElement("td");
  if (each.kind === "address") {
    const address = addresses[row];
    if (address !== "") {
      const link = document.createElement("a");
      link.href = address;
      link.rel = "noreferrer";
      link.textContent = "source";
      made.append(link, " ");
    }
    const cite = document.createElement("button");
    cite.type = "button";
    cite.textContent = "cite";
    cite.addEventListener("click", () => showCitation(row));
    made.append(cite);
    return made;
  }
  const text = document.createElement("bdi");
  text.textContent = written(each, row);
  made.append(text);
  if (each.kind !== "text") made.className = "number";
  return made;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// The footnote that `roundtable cite` writes for this one result.
function citation(row) {
  const of = (key) => raw(column[key], row);
  const [suite, version] = of("round").split(" ");
  const benchmark = [
    `MLPerf® v${version} ${suite} ${capital(of("division"))} ${of("benchmark")}`,
    of("accuracy_target") && `(${of("accuracy_target")}% accuracy target)`,
    of("scenario"),
  ];
  const hardware =
    of("accelerator") === "CPU only"
      ? "no accelerator"
      : `${of("accelerators") ?? "an unknown number of"} x ${of("accelerator")}`;
  const identity = of("entry_id") || `result ${of("result_key")}`;
  const system = [identity, of("category"), of("availability"), hardware];
  const isVerified = of("source_kind") === "published table";
  const value = `${Number(of("value").toPrecision(10))} ${of("unit")}`;
  const origin = [
    addresses[row] || "an address that is not shown",
    of("source_commit") ? `commit ${of("source_commit")}` : "commit not known",
    of("retrieved_on") || "date of retrieval not known",
    of("entry_id") ? `entry ${of("entry_id")}` : `result without entry id ${of("result_key")}`,
  ];
  const told =
    `${benchmark.filter(Boolean).join(" ")}: ${of("submitter")}, ${of("system_name")} ` +
    `(${system.filter(Boolean).join(", ")}): ${value}${isVerified ? "" : " (unverified)"}. ` +
    `Retrieved from ${origin.join(", ")}. ` +
    `Result ${isVerified ? "" : "not "}verified by MLCommons Association.`;
  return `${told}\n${explorer.dataset.legend}\n`;
}

function showCitation(row) {
  const text = dialog.querySelector("textarea");
  text.value = citation(row);
  dialog.showModal();
  text.setSelectionRange(0, 0);
  text.scrollTop = 0;
}

// As in the command line's CSV: no cell is a formula to a spreadsheet.
function quoted(value) {
  const text = value === null ? "" : String(value);
  const harmless = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function csv() {
  const lines = [shownColumns.map((each) => each.key).join(",")];
  for (const row of found) lines.push(shownColumns.map((each) => quoted(raw(each, row))).join(","));
  return lines.join("\n") + "\n";
}

async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    (dialog.open ? dialog : document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  status.textContent = told;
}

const actions = {
  back: () => {
    page -= 1;
    show();
  },
  next: () => {
    page += 1;
    show();
  },
  copy: () => copy(csv(), `Copied ${whole.format(found.length)} results as CSV`),
  "copy-citation": () => copy(dialog.querySelector("textarea").value, "Copied the citation"),
  close: () => dialog.close(),
};

explorer.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button) actions[button.dataset.action]();
});

form.addEventListener("change", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));

heads.forEach((head) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const { key } = head.dataset;
    sorted = { key, falls: sorted.key === key && !sorted.falls };
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sorted.falls ? "descending" : "ascending");
    sort();
  });
});

table.setAttribute("aria-label", "Results");
form.hidden = false;
filter();
