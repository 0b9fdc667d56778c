// The network as a drawing that one can take hold of: click, drag, zoom, and the same with the keyboard.
// What an agent is to the coalition comes from the server as a word; this file knows no mathematics.
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  honest: "M-9 0A9 9 0 1 0 9 0A9 9 0 1 0 -9 0Z",
  corrupted: "M-9 -9H9V9H-9Z",
  summed: "M-10 0L-5 -9H5L10 0L5 9H-5Z",
  exposed: "M0 -12L12 0L0 12L-12 0Z",
};
const KINDS = { corrupted: "corrupted", exposed: "exposed", "in a sum that is learnt": "summed" };
const STEP = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const REACH = 4; // pixels that a hand moves without meaning to drag

function make(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.appendChild(element);
  return element;
}

export default {
  template: `<div class="drawing">
    <svg ref="svg" class="network" role="group" :aria-label="shown.says" :class="shown.mode + '-mode'" preserveAspectRatio="xMidYMid meet"
         @pointerdown="press" @pointermove="pull" @pointerup="release" @pointercancel="release"
         @wheel.prevent="turn" @keydown="key"><g ref="stage"></g></svg>
    <div class="zoom">
      <button type="button" aria-label="Zoom in" @click="zoom(1 / 1.3)">+</button>
      <button type="button" aria-label="Zoom out" @click="zoom(1.3)">−</button>
      <button type="button" aria-label="Show the whole network" @click="fit">⤢</button>
    </div>
  </div>`,
  props: { network: Object, roles: Object, suggested: Array, mode: String, says: String },
  data() { return { first: null, shown: { roles: this.roles, suggested: this.suggested, says: this.says, mode: this.mode } }; },
  mounted() {
    this.draw();
    this.fit();
    this.$watch("network", (now, before) => {
      this.shown = { roles: this.roles, suggested: this.suggested, says: this.says, mode: this.mode };
      this.draw();
      if (now.key !== before.key) this.fit();
    });
  },
  methods: {
    reveal(news) {
      // another coalition, or another meaning of a click: the network itself stays as it is drawn
      if (news.mode !== undefined) this.first = null;
      Object.assign(this.shown, news);
      if (news.suggested !== undefined) this.suggest();
      this.dress();
    },
    draw() {
      const focused = document.activeElement?.dataset?.agent;
      const stage = this.$refs.stage;
      stage.replaceChildren();
      this.places = Object.fromEntries(this.network.agents.map(([name, x, y]) => [name, [x, y]]));
      const many = this.network.agents.length;
      this.size = many > 400 ? 1.4 : many > 60 ? 1.1 : 1; // a large network is drawn on a larger sheet
      stage.setAttribute("class", many > 60 ? "crowded" : "");
      const links = make("g", { class: "links", "aria-hidden": "true" }, stage);
      this.dashes = make("g", { class: "dashes", "aria-hidden": "true" }, stage);
      const agents = make("g", {}, stage);
      this.lines = this.network.links.map(([a, b]) => {
        const line = make("g", { class: "link", "data-link": `${a}\u0000${b}` }, links);
        make("line", { class: "grip" }, line);
        make("line", { class: "line" }, line);
        return [line, a, b];
      });
      this.nodes = {};
      for (const [name] of this.network.agents) {
        const node = make("g", { class: "agent", "data-agent": name, role: "button", tabindex: -1 }, agents);
        make("path", {}, node);
        if (many <= 200) make("text", { y: -15, "text-anchor": "middle", "aria-hidden": "true" }, node).textContent = name;
        this.nodes[name] = node;
      }
      const stop = focused in this.nodes ? focused : this.network.agents[0]?.[0];
      if (stop !== undefined) this.nodes[stop].setAttribute("tabindex", 0);
      this.suggest();
      this.place();
      this.dress();
      if (focused in this.nodes) this.nodes[focused].focus();
    },
    suggest() {
      this.dashes.replaceChildren();
      this.dashed = (this.shown.suggested || []).filter(([a, b]) => a in this.nodes && b in this.nodes).map(([a, b]) => {
        const line = make("g", { class: "dash", "data-suggested": `${a}\u0000${b}` }, this.dashes);
        make("line", { class: "grip" }, line);
        make("line", { class: "line" }, line);
        return [line, a, b];
      });
      this.place();
    },
    place(only) {
      for (const [line, a, b] of [...(this.lines || []), ...(this.dashed || [])]) {
        if (only !== undefined && a !== only && b !== only) continue;
        const [[x1, y1], [x2, y2]] = [this.places[a], this.places[b]];
        for (const each of line.children)
          for (const [key, value] of [["x1", x1], ["y1", y1], ["x2", x2], ["y2", y2]]) each.setAttribute(key, value);
      }
      for (const name of only === undefined ? Object.keys(this.nodes) : [only]) {
        const [x, y] = this.places[name];
        this.nodes[name].setAttribute("transform", `translate(${x} ${y}) scale(${this.size})`);
      }
    },
    dress() {
      for (const [name, node] of Object.entries(this.nodes)) {
        const role = (this.shown.roles || {})[name] || "honest";
        const kind = KINDS[role] || "honest";
        const wanted = `agent ${kind}${this.first === name ? " chosen" : ""}`;
        if (node.getAttribute("class") !== wanted || !node.hasAttribute("aria-label")) {
          node.setAttribute("class", wanted);
          node.firstChild.setAttribute("d", SHAPES[kind]);
          node.setAttribute("aria-label", `Agent ${name}, ${role}`);
          node.setAttribute("aria-pressed", String(kind === "corrupted"));
        }
      }
    },
    fit() {
      const all = Object.values(this.places);
      if (!all.length) return this.look(-200, -150, 400, 300);
      const [xs, ys] = [all.map(p => p[0]), all.map(p => p[1])];
      const [left, top] = [Math.min(...xs) - 40, Math.min(...ys) - 40];
      this.look(left, top, Math.max(...xs) + 40 - left, Math.max(...ys) + 60 - top);
    },
    look(x, y, width, height) {
      this.box = [x, y, width, height];
      this.$refs.svg.setAttribute("viewBox", this.box.join(" "));
    },
    zoom(factor, at) {
      const [x, y, width, height] = this.box;
      const [cx, cy] = at || [x + width / 2, y + height / 2];
      this.look(cx - (cx - x) * factor, cy - (cy - y) * factor, width * factor, height * factor);
    },
    turn(event) { this.zoom(event.deltaY > 0 ? 1.12 : 1 / 1.12, this.at(event)); },
    at(event) {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.$refs.svg.getScreenCTM().inverse());
      return [point.x, point.y];
    },
    press(event) {
      if (event.button) return;
      const agent = event.target.closest("[data-agent]")?.dataset.agent;
      this.held = { agent, from: this.at(event), client: [event.clientX, event.clientY], moved: false, target: event.target };
      this.$refs.svg.setPointerCapture(event.pointerId);
    },
    pull(event) {
      const held = this.held;
      if (!held) return;
      held.moved ||= Math.hypot(event.clientX - held.client[0], event.clientY - held.client[1]) > REACH;
      if (!held.moved) return;
      const [x, y] = this.at(event);
      if (held.agent !== undefined) {
        this.places[held.agent] = [x, y];
        this.place(held.agent);
      } else this.look(this.box[0] + held.from[0] - x, this.box[1] + held.from[1] - y, this.box[2], this.box[3]);
    },
    release(event) {
      const held = this.held;
      this.held = null;
      if (!held || event.type === "pointercancel") return;
      if (held.moved) {
        if (held.agent !== undefined) this.$emit("moved", { agent: held.agent, at: this.places[held.agent] });
        return;
      }
      const dash = held.target.closest("[data-suggested]");
      const link = held.target.closest("[data-link]");
      if (held.agent !== undefined) this.choose(held.agent);
      else if (dash) this.$emit("joined", { link: dash.dataset.suggested.split("\u0000") });
      else if (link && this.shown.mode === "links") this.$emit("joined", { link: link.dataset.link.split("\u0000") });
      else if (this.shown.mode === "agents") this.$emit("added", { at: this.at(event) });
    },
    choose(agent) {
      this.nodes[agent].focus({ preventScroll: true });
      if (this.shown.mode === "links") {
        if (this.first === null) this.first = agent;
        else {
          if (this.first !== agent) this.$emit("joined", { link: [this.first, agent] });
          this.first = null;
        }
        this.dress();
      } else this.$emit(this.shown.mode === "agents" ? "removed" : "clicked", { agent });
    },
    key(event) {
      const agent = event.target.dataset?.agent;
      if (agent === undefined) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.choose(agent);
      } else if (event.key in STEP) {
        event.preventDefault();
        const [dx, dy] = STEP[event.key];
        const [x, y] = this.places[agent];
        if (event.shiftKey) {
          this.places[agent] = [x + 15 * dx, y + 15 * dy];
          this.place(agent);
          this.$emit("moved", { agent, at: this.places[agent] });
          return;
        }
        let [best, least] = [null, Infinity];
        for (const [name, [u, v]] of Object.entries(this.places)) {
          const [along, aside] = [(u - x) * dx + (v - y) * dy, Math.abs((u - x) * dy) + Math.abs((v - y) * dx)];
          if (name !== agent && along > 0 && along + 2 * aside < least) [best, least] = [name, along + 2 * aside];
        }
        if (best !== null) {
          this.nodes[agent].setAttribute("tabindex", -1);
          this.nodes[best].setAttribute("tabindex", 0);
          this.nodes[best].focus();
        }
      }
    },
    picture() {
      // The drawing as a file: what style sheets say is written into it.
      const svg = this.$refs.svg, copy = svg.cloneNode(true);
      const wanted = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font", "opacity"];
      const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
      from.forEach((each, k) => {
        const style = getComputedStyle(each);
        for (const name of wanted) to[k].style.setProperty(name, style.getPropertyValue(name));
      });
      copy.querySelectorAll(".grip").forEach(each => each.remove());
      const ours = ["data-link", "data-suggested", "data-agent", "tabindex", "aria-pressed"]; // and no XML, partly
      copy.querySelectorAll("*").forEach(each => ours.forEach(name => each.removeAttribute(name)));
      copy.setAttribute("role", "img");
      const [, , width, height] = this.box;
      copy.setAttribute("xmlns", SVG);
      copy.setAttribute("width", Math.round(900));
      copy.setAttribute("height", Math.round(900 * height / width));
      copy.style.background = getComputedStyle(document.body).backgroundColor;
      return new XMLSerializer().serializeToString(copy);
    },
    save(kind) {
      const text = this.picture(), svg = new Blob([text], { type: "image/svg+xml" });
      const give = blob => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(blob);
        link.download = `network.${kind}`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      };
      if (kind === "svg") return give(svg);
      const image = new Image(), [, , width, height] = this.box;
      image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = 1800;
        canvas.height = Math.round(1800 * height / width);
        const pen = canvas.getContext("2d");
        pen.fillStyle = getComputedStyle(document.body).backgroundColor;
        pen.fillRect(0, 0, canvas.width, canvas.height);
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(give, "image/png");
      };
      image.src = URL.createObjectURL(svg);
    },
  },
};
