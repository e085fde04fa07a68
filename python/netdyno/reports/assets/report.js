// On a phone panels stand below each other, each no wider than the screen: a knee at the right edge is seen.
const SMALL = 640;
const LEAST_PANEL = 150;
const LEGEND_COLUMNS = 2;
function narrow(part, most) {
  if (Array.isArray(part)) for (const one of part) narrow(one, most);
  if (part === null || typeof part !== "object" || Array.isArray(part)) return;
  if (part.hconcat) {
    part.vconcat = part.hconcat;
    delete part.hconcat;
    // Rows that are named beside the first panel alone are named in each.
    const rows = part.vconcat[0].encoding?.y;
    for (const panel of part.vconcat) if (rows && panel.encoding?.y?.axis === null) panel.encoding.y = rows;
  }
  if (typeof part.width === "number") part.width = Math.min(part.width, most);
  if (part.legend) Object.assign(part.legend, { orient: "top", columns: LEGEND_COLUMNS, labelLimit: most / LEGEND_COLUMNS });
  for (const [name, inner] of Object.entries(part)) if (name !== "datasets" && name !== "data") narrow(inner, most);
}

// The rows of a figure stand in the page as columns; one that repeats itself as values and how often each stands in a row.
function unpack(columns) {
  if (Array.isArray(columns)) return columns;
  const rows = [];
  for (const [name, column] of Object.entries(columns)) {
    const values = Array.isArray(column) ? column : column.of.flatMap((value, i) => Array(column.times[i]).fill(value));
    values.forEach((value, place) => ((rows[place] ??= {})[name] = value));
  }
  return rows;
}

function embed(live, spec) {
  // `ast` has expressions interpreted, so that the page needs no eval.
  return vegaEmbed(live, spec, { renderer: "svg", actions: false, ast: true, tooltip: { theme: "light" } });
}

// Where there is more room than a figure takes, its panels share it.
const LEAST_GAIN = 40;
function widen(spec, more) {
  const beside = spec.hconcat ?? [];
  const parts = beside.length ? beside.flatMap((part) => part.vconcat ?? [part]) : spec.vconcat ?? [spec];
  for (const part of parts) if (typeof part.width === "number") part.width += Math.floor(more / (beside.length || 1));
}

const roomOf = (figure) => figure.clientWidth || document.getElementById("summary").clientWidth;
async function drawWide(figure, live, spec) {
  const first = await embed(live, spec);
  const more = roomOf(figure) - first.view.container().querySelector("svg").width.baseVal.value;
  if (more < LEAST_GAIN) return first;
  first.finalize();
  widen(spec, more);
  return embed(live, spec);
}

async function draw(figure, live, spec) {
  if (innerWidth > SMALL) return drawWide(figure, live, spec);
  if (spec.usermeta?.keepWidth) return embed(live, spec);
  const room = figure.clientWidth || figure.parentElement.clientWidth || document.documentElement.clientWidth - 28;
  narrow(spec, room);
  spec.config.legend.layout = { top: { direction: "vertical", anchor: "start" } };
  const first = await embed(live, spec);
  const over = first.view.container().querySelector("svg").width.baseVal.value - room;
  if (over <= 0) return first;
  first.finalize();
  narrow(spec, Math.max(room - over, LEAST_PANEL));
  return embed(live, spec);
}

// In a page of many cases their texts and the figures' numbers are packed: base64 of gzip of names and texts.
async function unpackParts() {
  const whole = document.getElementById("packed");
  if (!whole) return {};
  const bytes = Uint8Array.from(atob(JSON.parse(whole.textContent)), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
const parts = unpackParts();
// Who wants a part hears of a failure; if nobody does, it is none.
parts.catch(() => {});

async function textOf(name) {
  return document.getElementById(name)?.textContent ?? (await parts)[name];
}

async function enliven(figure) {
  const live = figure.querySelector(".live");
  const name = figure.dataset.spec;
  try {
    const { packed, like, ...own } = JSON.parse(await textOf(name));
    const { packed: others, ...spec } = like ? JSON.parse(await textOf(like)) : { packed, ...own };
    spec.datasets = Object.fromEntries(Object.entries(packed).map(([name, columns]) => [name, unpack(columns)]));
    figure.view = (await draw(figure, live, spec)).view;
    figure.classList.add("is-live");
  } catch (error) {
    live.remove();
    const words = figure.querySelector("p.still");
    if (words) words.textContent = "This figure could not be drawn.";
    console.error("figure is not live:", error);
  }
}

// Replaces the still by its live figure. Without this script it stays, and the others are not drawn: those come behind, one after
// the other, so that the page can be read meanwhile.
const drawn = [...document.querySelectorAll("figure[data-spec]:not([data-folded])")];
const isStill = (figure) => figure.querySelector(".still svg") !== null;
Promise.all(drawn.filter(isStill).map(enliven)).then(async () => {
  for (const figure of drawn.filter((figure) => !isStill(figure))) {
    await enliven(figure);
    await new Promise((rest) => setTimeout(rest));
  }
});

// A case whose text is packed gets it when it is first opened.
async function fill(room) {
  const name = room.dataset.packed;
  delete room.dataset.packed;
  const text = await parts.then((texts) => texts[name], (error) => console.error("case is not shown:", error));
  if (text === undefined) {
    room.textContent = "This browser cannot show what is packed in this page; `netdyno report` with `--as json` has it.";
    return;
  }
  room.innerHTML = text;
  dress(room, `-${name}`);
  unfold(room);
}
document.addEventListener(
  "toggle",
  ({ target }) => {
    const room = target.open && target.querySelector(":scope > [data-packed]");
    if (room) fill(room);
    else if (target.open && target.id.startsWith("case-")) unfold(target);
  },
  true,
);

// The figure of a case is drawn when the case is first opened: 48 at once would keep the page from being read.
function unfold(part) {
  for (const figure of part.querySelectorAll("figure[data-folded]")) {
    figure.removeAttribute("data-folded");
    enliven(figure);
  }
}

// A link to a case or a part opens it, and what it is folded into.
async function openTarget() {
  let target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const first = target;
  for (; target; target = target.parentElement) if (target.tagName === "DETAILS") target.open = true;
  if (!first) return;
  first.scrollIntoView();
  const room = first.querySelector(":scope > [data-packed]");
  if (!room) return;
  // One of the last cases: there is room to scroll to it only when it is there.
  await fill(room);
  first.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

// A table that is wider than the page is printed smaller, so that no number is broken or cut.
const PAGE_WIDTH = 690;
const LEAST_SIZE = 0.5;
function fitTables() {
  for (const table of document.querySelectorAll("main table")) {
    if (!table.checkVisibility()) continue;
    table.classList.add("measured");
    const wide = table.offsetWidth;
    table.classList.remove("measured");
    table.style.setProperty("--shrink", Math.min(Math.max(PAGE_WIDTH / wide, LEAST_SIZE), 1).toFixed(3));
  }
}

// What is folded is printed, but for the cases.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details.fold:not([open])")];
  for (const part of opened) part.open = true;
  fitTables();
});
addEventListener("afterprint", () => {
  for (const part of opened) part.open = false;
});

// The edge of what goes on beyond it fades.
function cue(part) {
  part.classList.toggle("more", part.scrollLeft + part.clientWidth < part.scrollWidth - 2);
}

// What scrolls can be scrolled with the keyboard.
const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
    cue(target);
  }
});
function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function button(label, title, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.title = title;
  made.addEventListener("click", () => act(made));
  return made;
}

// A row of its own below what it is about: over a heading or a caption it would cover them.
function bar(about, ...buttons) {
  const made = document.createElement("div");
  made.className = "tools";
  made.append(...buttons);
  about.after(made);
}

const title = document.title.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60);

// On a phone a row is a card: each cell says which column it is of.
function lay(table) {
  const names = [...table.querySelectorAll("thead tr:last-child > *")].map((cell) => cell.textContent.trim());
  if (names.length < 3) return;
  table.classList.add("cards");
  for (const row of table.querySelectorAll("tbody tr")) {
    let place = 0;
    for (const cell of row.cells) {
      if (cell.colSpan === 1 && names[place]) cell.dataset.label = names[place];
      place += cell.colSpan;
    }
  }
}

function offer(table, name) {
  const rows = () => [...table.rows].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()));
  const quoted = (cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  bar(
    table.closest(".scroll") ?? table,
    button("copy", "Copy this table", (pressed) => {
      navigator.clipboard.writeText(rows().map((row) => row.join("\t")).join("\n")).then(() => {
        pressed.textContent = "copied";
      });
    }),
    button("CSV", "Download this table as CSV", () => {
      save(`${title}${name}.csv`, "text/csv", `${rows().map((row) => row.map(quoted).join(",")).join("\n")}\n`);
    }),
  );
}

// What the script adds to a part of the page, whose tables are saved by its name.
function dress(part, name = "") {
  for (const [place, table] of part.querySelectorAll("table").entries()) {
    lay(table);
    offer(table, `${name}-table-${place + 1}`);
  }
  for (const scrolled of part.querySelectorAll(".scroll, figure .still, figure .live")) {
    wide.observe(scrolled);
    scrolled.addEventListener("scroll", () => cue(scrolled), { passive: true });
  }
}
dress(document);

for (const [place, figure] of drawn.entries()) {
  bar(
    figure,
    button("SVG", "Download this figure as SVG", () => {
      const svg = figure.querySelector(figure.classList.contains("is-live") ? ".live svg" : ".still svg");
      if (svg) save(`${title}-figure-${place + 1}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg));
    }),
  );
}
