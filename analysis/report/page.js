"use strict";
/* Sorts and filters the tables of rows. The page is complete without it, and well-formed XML with it: no ampersands, no less-than signs. */
const missing = "–";

function key(row, column) {
    const cell = row.cells[column];
    if (cell.textContent === missing)
        return null;
    return cell.dataset.v ? Number(cell.dataset.v) : cell.textContent;
}

function order(a, b, sign) {
    if (a === null || b === null)
        return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    if (typeof a === "number" ? typeof b === "number" : false)
        return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

function makeSortable(table, rows) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
            const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
            for (const other of head.parentNode.cells)
                other.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
            rows.sort((a, b) => order(key(a, column), key(b, column), sign));
            table.tBodies[0].append(...rows);
        });
    });
}

function makeFilter(table, rows) {
    const label = document.createElement("label"), box = document.createElement("input");
    const count = document.createElement("output");
    label.className = "filter";
    box.type = "search";
    box.placeholder = "words in a row, as: sparse wrong";
    label.append("filter", box, count);
    table.parentNode.before(label);
    box.addEventListener("input", () => {
        const words = box.value.toLowerCase().split(/\s+/);
        let shown = 0;
        for (const row of rows) {
            const text = Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase();
            row.hidden = !words.every((word) => text.includes(word));
            shown += row.hidden ? 0 : 1;
        }
        count.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " rows";
    });
}

for (const table of document.querySelectorAll("table.rows")) {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length > 1) {
        makeSortable(table, rows);
        makeFilter(table, rows);
    }
}
