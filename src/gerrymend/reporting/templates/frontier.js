"use strict";
(() => {
  const view = JSON.parse(document.getElementById("frontier").textContent);
  const byId = (id) => document.getElementById(id);
  const state = { notion: 0, estimator: null, rows: view.rows[0].key, target: "a", a: null, b: null };
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "pentagon", "hexagram"];
  const COLOURS = ["--mark", "--mark-3", "--mark-4"];
  const MARGINAL = { symbol: "x", colour: "--mark-2" };
  const TODAY = { symbol: "star", colour: "--ink" };
  const isPoint = (one) => one.kind === "point";
  const isReference = (one) => one.kind === "today" || one.kind === "unconstrained";

  // What is shown: the models of one notion, and of one estimator or all.
  const ofNotion = () => view.points.filter((one) => one.notion === view.notions[state.notion].name);
  const shown = () => ofNotion().filter((one) => state.estimator === null || one.estimator === null || one.estimator === state.estimator);
  const figures = (one) => one.samples[state.rows];
  const rowsWords = (key) => view.rows.find((rows) => rows.key === key).words;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  // What one starts from is picked first, beside the fairest: today's model or, where it is not there, the one without constraint. Without either it is the most accurate one.
  function pickEnds() {
    const points = shown().filter(isPoint);
    const least = (of, first, second) => of.reduce((best, one) => {
      const [x, y] = [figures(one), figures(best)];
      return x[first] < y[first] || (x[first] === y[first] && x[second] < y[second]) ? one : best;
    });
    const ofKind = (kind) => shown().filter((one) => one.kind === kind);
    state.a = state.b = null;
    if (points.length === 0) return;
    const starts = [ofKind("today"), ofKind("unconstrained"), points].find((of) => of.length > 0);
    state.a = least(starts, "error", "unfairness");
    const fairest = least(points, "unfairness", "error");
    state.b = fairest === state.a ? null : fairest;
  }

  function pick(place, target) {
    state[target] = view.points[place];
    show();
  }

  // Models that lie on one spot take turns, in the order of the data: those of MARGINAL and the references last.
  function pickAt(place) {
    const [at, picked] = [figures(view.points[place]), state[state.target]];
    const there = shown().filter((one) => figures(one).error === at.error && figures(one).unfairness === at.unfairness);
    pick(there[(there.indexOf(picked) + 1) % there.length].place, state.target);
  }

  // Words

  const points = (size) => size < 0.05 ? "less than 0.1 points" : `${size.toFixed(1).replace(/\.0$/, "")} ${size.toFixed(1) === "1.0" ? "point" : "points"}`;

  // The difference of the errors as they are shown, so that whoever subtracts gets it.
  function costWords(from, to) {
    const difference = to.error - from.error;
    if (Math.abs(difference) < 1e-12) return "costs no error";
    const size = Math.abs(parseFloat(to.error_words) - parseFloat(from.error_words));
    const wrong = Math.round(10 * size);
    const people = wrong ? `: about ${wrong} ${difference > 0 ? "more" : "fewer"} wrong in 1,000 decisions` : "";
    return difference > 0 ? `costs ${points(size)} more error${people}` : `saves ${points(size)} of error${people}`;
  }

  function unfairnessWords(from, to) {
    if (from.unfairness_words === to.unfairness_words) return `the largest unfairness found stays at ${to.unfairness_words}`;
    const moves = to.unfairness < from.unfairness ? "falls" : "rises";
    return `the largest unfairness found ${moves} from ${from.unfairness_words} to ${to.unfairness_words}`;
  }

  function showWords() {
    const words = byId("words");
    words.replaceChildren();
    if (!state.a || !state.b) {
      words.append(element("p", state.a || state.b ? "Pick a second model to compare." : "No model is picked."));
      return;
    }
    const order = [state.rows, ...view.rows.map((rows) => rows.key).filter((key) => key !== state.rows)];
    for (const key of order) {
      const [from, to] = [state.a.samples[key], state.b.samples[key]];
      const moved = state.a === state.b ? "A and B are the same model."
        : `from A to B ${costWords(from, to)}; ${unfairnessWords(from, to)}.`;
      words.append(element("p", `On the ${rowsWords(key)}: ${moved}`, key === state.rows ? "" : "quiet"));
      if (state.a === state.b) break;
    }
  }

  // A rule over many attributes is long: its beginning, and the whole on demand.
  function folded(text) {
    if (text.length <= 140) return text;
    const part = element("details", undefined, "rule");
    part.append(element("summary", `${text.slice(0, 90)}…`), element("div", text));
    return part;
  }

  function showPair() {
    const body = document.querySelector("#compare tbody");
    body.replaceChildren();
    const some = state.a || state.b;
    if (!some) return;
    some.facts.forEach((fact, number) => {
      const line = element("tr");
      line.setAttribute("role", "row");
      const name = element("th", fact.name);
      name.scope = "row";
      name.setAttribute("role", "rowheader");
      line.append(name);
      for (const one of [state.a, state.b]) {
        const cell = element("td");
        cell.append(one ? folded(one.facts[number].value) : "–");
        cell.setAttribute("role", "cell");
        if (one && one.facts[number].detail) cell.append(element("small", one.facts[number].detail));
        line.append(cell);
      }
      body.append(line);
    });
  }

  function showRefits() {
    byId("refits").replaceChildren(...[["A", state.a], ["B", state.b]].filter(([, one]) => one).map(([letter, one]) => {
      const part = element("div", undefined, "refit");
      const title = element("h3");
      title.append(element("span", letter, "badge"), ` ${one.name}${one.estimator === null ? "" : `, ${one.estimator}`}`);
      part.append(title, element("p", one.refit.note, "quiet"));
      if (one.refit.text) {
        const code = element("code", one.refit.text);
        const block = element("pre");
        block.append(code);
        const button = element("button", `Copy ${letter}`);
        button.type = "button";
        const told = element("span", "", "quiet");
        told.setAttribute("role", "status");
        button.addEventListener("click", () => copy(code, told));
        part.append(block, button, " ", told);
      }
      return part;
    }));
  }

  // Pages that are opened from a file may not be given the clipboard: then the text is selected.
  function copy(code, told) {
    const select = () => {
      const range = document.createRange();
      range.selectNodeContents(code);
      const selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      told.textContent = " Selected; copy it with Ctrl+C or ⌘C.";
    };
    if (!navigator.clipboard) return select();
    navigator.clipboard.writeText(code.textContent).then(() => { told.textContent = " Copied."; }, select);
  }

  function showTables() {
    document.querySelectorAll(".notion").forEach((section, number) => { section.hidden = number !== state.notion; });
    document.querySelectorAll("tbody[data-estimator]").forEach((body) => {
      body.hidden = state.estimator !== null && !["", state.estimator].includes(body.dataset.estimator);
    });
    for (const { key } of view.rows) {
      document.querySelectorAll(`.of-${key}`).forEach((cell) => { cell.hidden = key !== state.rows; });
    }
    document.querySelectorAll("tr[data-place]").forEach((line) => {
      const place = Number(line.dataset.place);
      const picked = { a: state.a?.place === place, b: state.b?.place === place };
      line.classList.toggle("picked", picked.a || picked.b);
      line.querySelectorAll("input").forEach((input) => { input.checked = picked[input.name[0]]; });
    });
  }

  // The picture. No text from the data goes into it: plotly would take tags in it for its own.

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function look(one) {
    if (one.kind === "marginal") return MARGINAL;
    if (one.kind === "today") return TODAY;
    const number = view.estimators.indexOf(one.estimator);
    return { symbol: one.kind === "unconstrained" ? "cross" : SYMBOLS[number % SYMBOLS.length], colour: COLOURS[number % COLOURS.length] };
  }

  const place = (one) => ({ x: figures(one).error, y: figures(one).unfairness });
  const places = (all) => ({ x: all.map((one) => place(one).x), y: all.map((one) => place(one).y) });

  function marks() {
    const height = (one) => ["marginal", "point", "unconstrained", "today"].indexOf(one.kind);
    const all = [...shown()].sort((one, other) => height(one) - height(other));  // the last is on top
    return {
      type: "scatter", mode: "markers", ...places(all), customdata: all.map((one) => one.place),
      marker: {
        size: all.map((one) => one.kind === "today" ? 18 : 13), symbol: all.map((one) => look(one).symbol + (figures(one).dominated ? "-open" : "")),
        color: all.map((one) => colour(look(one).colour)), line: { width: 2, color: all.map((one) => colour(look(one).colour)) },
      },
      error_y: {
        type: "data", symmetric: false, array: all.map((one) => figures(one).upper_bound - figures(one).unfairness),
        arrayminus: all.map(() => 0), color: colour("--line"), thickness: 1.5, width: 0,
      },
      hoverinfo: "text",
      hovertext: all.map((one) => `${one.name}${figures(one).dominated ? ", beaten" : ""}<br>error ${figures(one).error_words}<br>unfairness ${figures(one).unfairness_words}`),
    };
  }

  function edge() {
    const kept = shown().filter((one) => isPoint(one) && !figures(one).dominated)
      .sort((one, other) => figures(one).error - figures(other).error);
    return { type: "scatter", mode: "lines", hoverinfo: "skip", ...places(kept), line: { color: colour("--quiet"), width: 1, dash: "dot" } };
  }

  function rings() {
    return [["A", state.a, "middle left"], ["B", state.b, "middle right"]].filter(([, one]) => one && shown().includes(one)).map(([letter, one, side]) => ({
      type: "scatter", mode: "markers+text", hoverinfo: "skip", cliponaxis: false, ...places([one]), text: [letter], textposition: side,
      textfont: { size: 18, weight: 700, color: colour("--ink") }, customdata: [one.place],
      marker: { size: 25, symbol: "circle-open", line: { width: 3, color: colour("--ink") }, color: colour("--ink") },
    }));
  }

  function axisRange(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = 0.12 * (high - low) || 0.1 * Math.abs(high) || 0.01;
    return [low - room, high + room];
  }

  function knee(one, left) {
    const width = byId("plot").clientWidth;
    const text = width < 500 ? "suggested,<br>not chosen" : "suggested, not chosen";
    const right = (1 - left) * width > (width < 500 ? 170 : 260);  // the words need so much
    return {
      ...place(one), text, align: "left", showarrow: true, arrowhead: 2, standoff: 14,
      ax: right ? 40 : -40, ay: -45, xanchor: right ? "left" : "right", font: { color: colour("--ink") }, arrowcolor: colour("--ink"),
    };
  }

  const name = (one, left) => ({ ...place(one), text: one.name, showarrow: false, xanchor: left < 0.5 ? "left" : "right", yanchor: "bottom", yshift: 12, font: { color: colour("--ink") } });

  // How many models lie on one spot: their marks hide each other.
  function crowds() {
    const spots = new Map();
    for (const one of shown()) {
      const spot = `${place(one).x} ${place(one).y}`;
      spots.set(spot, [...(spots.get(spot) ?? []), one]);
    }
    return [...spots.values()].filter((there) => there.length > 1)
      .map((there) => ({ ...place(there[0]), text: `${there.length} models`, showarrow: false, xanchor: "left", yanchor: "bottom", yshift: 14, font: { color: colour("--quiet"), size: 12 } }));
  }

  function notes(range) {
    const left = (one) => (figures(one).error - range[0]) / (range[1] - range[0]);
    return [...crowds(), ...shown().filter((one) => one.suggested).map((one) => knee(one, left(one))), ...shown().filter(isReference).map((one) => name(one, left(one)))];
  }

  function layout(width) {
    const axis = { gridcolor: colour("--line"), zeroline: false, linecolor: colour("--quiet"), automargin: true, fixedrange: false };
    const [across, up] = ["error", "unfairness"].map((name) => axisRange(shown().map((one) => figures(one)[name])));
    return {
      width, autosize: width === undefined, showlegend: false, hovermode: "closest", dragmode: false, margin: { l: 60, r: 12, t: 12, b: 50 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("--ink"), size: 14, family: getComputedStyle(document.body).fontFamily },
      xaxis: { ...axis, title: { text: "error" }, tickformat: ".1~%", range: across, nticks: 6 },
      yaxis: { ...axis, title: { text: "unfairness found" }, range: up },
      hoverlabel: { bgcolor: colour("--raised"), bordercolor: colour("--quiet"), font: { color: colour("--ink") } },
      annotations: notes(across),
    };
  }

  function draw(width) {
    if (!window.Plotly) return;  // it comes last, as it is large: words and tables needn't wait
    Plotly.react("plot", [edge(), marks(), ...rings()], layout(width), {
      displaylogo: false, responsive: true, plotlyServerURL: "",
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],  // by name: no version adds one that would reach out
    });
  }

  const PATHS = {
    "circle": "M8 2a6 6 0 1 0 .01 0z", "square": "M2 2h12v12H2z", "diamond": "M8 1l7 7-7 7-7-7z", "triangle-up": "M8 1l7 13H1z",
    "pentagon": "M8 1l7 5-3 9H4L1 6z", "hexagram": "M8 0l2.3 4H15l-2.4 4 2.4 4h-4.700L8 16l-2.300-4H1l2.400-4L1 4h4.700z",
    "cross": "M5 1h6v4h4v6h-4v4H5v-4H1V5h4z", "star": "M8 0l2 6h6l-5 4 2 6-5-4-5 4 2-6-5-4h6z",
    "x": "M3 1l5 5 5-5 2 2-5 5 5 5-2 2-5-5-5 5-2-2 5-5-5-5z",
  };

  function keyItem(mark, filled, words) {
    const [item, drawing, path] = [element("li"), ...["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name))];
    drawing.setAttribute("viewBox", "0 0 16 16");
    drawing.setAttribute("aria-hidden", "true");
    path.setAttribute("d", PATHS[mark.symbol]);
    path.style.stroke = `var(${mark.colour})`;
    path.style.strokeWidth = "2";
    path.style.fill = filled ? `var(${mark.colour})` : "none";
    drawing.append(path);
    item.append(drawing, words);
    return item;
  }

  function showKey() {
    const all = shown();
    const own = all.filter(isPoint);
    const items = all.filter((one) => one.kind === "today").map((one) => keyItem(TODAY, true, one.name));
    for (const one of all.filter((one) => one.kind === "unconstrained")) items.push(keyItem(look(one), true, `${one.estimator}, unconstrained`));
    for (const name of new Set(own.map((one) => one.estimator))) items.push(keyItem(look(own.find((one) => one.estimator === name)), true, name));
    if (all.some((one) => figures(one).dominated)) items.push(keyItem(look(own[0]), false, "hollow: beaten by another model"));
    if (all.some((one) => one.kind === "marginal")) items.push(keyItem(MARGINAL, true, "MARGINAL: fair to one attribute at a time"));
    if (all.some((one) => figures(one).upper_bound > figures(one).unfairness + 1e-9)) items.push(element("li", "line upwards: up to the upper bound, what is not ruled out"));
    byId("key").replaceChildren(...items);
  }

  function show() {
    showTables();
    showWords();
    showPair();
    showRefits();
    showKey();
    draw();
  }

  document.documentElement.classList.add("js");
  pickEnds();
  show();
  document.addEventListener("DOMContentLoaded", () => {
    draw();
    byId("plot").on("plotly_click", (event) => {
      const place = event.points.map((one) => one.customdata).find((one) => one !== undefined);
      if (place !== undefined) pickAt(place);
    });
  });
  document.addEventListener("change", ({ target }) => {
    if (target.closest("tr[data-place]")) return pick(Number(target.value), target.name[0]);
    if (target.id === "notion") state.notion = Number(target.value);
    if (target.id === "estimator") state.estimator = target.value === "" ? null : view.estimators[Number(target.value)];
    if (target.name === "rows") state.rows = target.value;
    if (target.name === "target") state.target = target.value;
    if (target.id === "notion" || target.id === "estimator") pickEnds();
    show();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  window.addEventListener("beforeprint", () => { document.documentElement.classList.add("paper"); draw(640); });
  window.addEventListener("afterprint", () => { document.documentElement.classList.remove("paper"); draw(); });
})();
