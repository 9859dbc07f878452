// Points at a window: its rows. Points at a row: its windows. A click keeps what is shown, Escape lets it go.
for (const section of document.querySelectorAll("section.window")) {
  const svg = section.querySelector("svg");
  if (!svg) continue;
  const bars = [...svg.querySelectorAll(".bar")];
  const dots = [...svg.querySelectorAll(".dot")];
  const lines = [...section.querySelectorAll("tr[data-row]")];
  const status = section.querySelector(".status");
  const shade = svg.querySelector(".shade");
  const hint = status.textContent;
  const rowsOf = new Map(bars.map((bar) => [bar, new Set(bar.dataset.rows.split(" ").filter(Boolean))]));
  const framed = bars.some((bar) => bar.dataset.owner !== undefined);
  let kept = null;

  const mark = (rows, windows, current) => {
    for (const one of [...dots, ...lines]) {
      one.classList.toggle("in", rows.has(one.dataset.row));
      one.classList.toggle("current", one.dataset.row === current);
    }
    for (const bar of bars) bar.classList.toggle("in", windows.has(bar));
  };
  const cover = (bar) => {
    const box = bar && bar.querySelector("rect");
    shade.setAttribute("x", box ? box.getAttribute("x") : 0);
    shade.setAttribute("width", box ? box.getAttribute("width") : 0);
  };
  const show = (one) => {
    if (!one) {
      mark(new Set(), new Set(), null);
      cover(null);
      status.textContent = hint;
    } else if (rowsOf.has(one)) {
      mark(rowsOf.get(one), new Set([one]), one.dataset.owner ?? null);
      cover(one);
      status.textContent = one.getAttribute("aria-label");
    } else {
      const row = one.dataset.row;
      const holding = bars.filter((bar) => rowsOf.get(bar).has(row));
      mark(new Set([row]), new Set(holding), framed ? row : null);
      cover(holding.length === 1 ? holding[0] : null);
      const many = holding.length === 1 ? "1 " : holding.length + " ";
      const kind = framed ? "frame" : "window";
      status.textContent = dots.find((dot) => dot.dataset.row === row).getAttribute("aria-label")
        + " — in " + many + kind + (holding.length === 1 ? "" : "s");
    }
  };
  for (const one of [...bars, ...dots, ...lines]) {
    one.addEventListener("pointerenter", () => kept || show(one));
    one.addEventListener("pointerleave", () => kept || show(null));
    one.addEventListener("focus", () => kept || show(one));
    one.addEventListener("blur", () => kept || show(null));
    one.addEventListener("click", () => { kept = kept === one ? null : one; show(one); });
  }
  section.addEventListener("keydown", (event) => {
    const group = [bars, dots].find((some) => some.includes(document.activeElement));
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      kept = null;
      show(null);
    } else if (group && step) {
      const at = group.indexOf(document.activeElement);
      const next = group[(at + step + group.length) % group.length];
      document.activeElement.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      kept = null;
      next.focus();
      event.preventDefault();
    } else if (group && (event.key === "Enter" || event.key === " ")) {
      document.activeElement.dispatchEvent(new Event("click"));
      event.preventDefault();
    }
  });
}
