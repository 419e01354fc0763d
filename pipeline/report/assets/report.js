// Tooltips of charts and sorting of tables. Everything else works without.
"use strict";

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

document.addEventListener("pointerover", (event) => {
  const mark = event.target.closest("[data-tip]");
  tip.hidden = mark === null;
  if (mark !== null) {
    tip.textContent = mark.dataset.tip;
    placeTip(event);
  }
});

document.addEventListener("pointermove", (event) => {
  if (!tip.hidden) placeTip(event);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tip.hidden = true;
});

function placeTip(event) {
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18;
  const fits = below + tip.offsetHeight < innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${fits ? below : event.clientY - tip.offsetHeight - 12}px`;
}

// A column's head becomes a button: first rising, then falling.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (falls ? -1 : 1) * compare(a.cells[at], b.cells[at]));
      table.tBodies[0].append(...rows);
    });
  });
}

function compare(a, b) {
  if (a.dataset.value !== undefined && a.classList.contains("number")) {
    return Number(a.dataset.value || -Infinity) - Number(b.dataset.value || -Infinity) || 0;
  }
  const [left, right] = [a, b].map((cell) => cell.dataset.value ?? cell.textContent);
  return left.localeCompare(right, "en", { numeric: true });
}
