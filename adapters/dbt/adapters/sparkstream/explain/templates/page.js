// Points at a window: its rows. Points at a row: its windows. A click keeps what is shown, Escape lets it go.
const touch = matchMedia("(hover: none)").matches;
const watch = (root) => {
  for (const section of root.querySelectorAll("section.window")) {
    const svg = section.querySelector("svg");
    if (!svg) continue;
    const bars = [...svg.querySelectorAll(".bar")];
    const dots = [...svg.querySelectorAll(".dot")];
    const lines = [...section.querySelectorAll("tr[data-row]")];
    const status = section.querySelector(".status");
    const shade = svg.querySelector(".shade");
    if (touch) status.textContent = status.dataset.touch;
    const hint = status.textContent;
    const fold = svg.querySelector(".fold");
    const rowsOf = new Map(bars.map((bar) => [bar, new Set(bar.dataset.rows.split(" ").filter(Boolean))]));
    const framed = bars.some((bar) => bar.dataset.owner !== undefined);
    let kept = null;
    let unfolded = fold && fold.dataset.row;

    // Where windows are folded, those of one row are shown, one below another as they begin.
    const unfold = (row, holding) => {
      if (!fold || row === unfolded || !holding.length) return;
      unfolded = row;
      const top = Math.min(...bars.map((bar) => +bar.querySelector("rect").getAttribute("y")));
      for (const bar of bars) {
        const rank = holding.indexOf(bar);
        bar.classList.toggle("folded", rank < 0);
        const y = +bar.querySelector("rect").getAttribute("y");
        bar.setAttribute("transform", `translate(0 ${rank < 0 ? 0 : top + rank * fold.dataset.step - y})`);
        bar.setAttribute("tabindex", rank === 0 ? 0 : -1);
      }
      const place = dots.find((dot) => dot.dataset.row === row).dataset.place;
      fold.textContent = fold.dataset.text.replace("{place}", place).replace("{shown}", holding.length);
    };
    const mark = (rows, windows, current) => {
      for (const one of [...dots, ...lines]) {
        one.classList.toggle("in", rows.has(one.dataset.row));
        one.classList.toggle("current", one.dataset.row === (current ?? unfolded));
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
        unfold(row, holding);
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
      const open = bars.filter((bar) => !bar.classList.contains("folded"));
      const group = [open, dots].find((some) => some.includes(document.activeElement));
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
  // A box that goes on beyond its edge fades out there.
  for (const box of root.querySelectorAll(".drawing, .scroll, pre")) {
    const mark = () => {
      box.classList.toggle("more-left", box.scrollLeft > 1);
      box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    };
    box.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(box);
  }
};
watch(document);
