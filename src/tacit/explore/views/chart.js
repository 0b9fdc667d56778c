// A picture of the house on the page: drawn by plotly, in the reader's choice of light or dark.
const DARK = matchMedia("(prefers-color-scheme: dark)");

export default {
  template: '<div class="chart" role="img" :aria-label="says"></div>',
  props: { figure: String, twins: Object, says: String, name: String },
  async mounted() {
    this.plotly = (await import("nicegui-plotly")).Plotly;
    this.draw();
    this.$watch("figure", this.draw);
    DARK.addEventListener("change", this.draw);
    this.sizes = new ResizeObserver(() => this.$el.offsetWidth && this.plotly.Plots.resize(this.$el));
    this.sizes.observe(this.$el);
  },
  unmounted() {
    DARK.removeEventListener("change", this.draw);
    this.sizes?.disconnect();
  },
  methods: {
    draw() {
      const lights = new RegExp(Object.keys(this.twins).join("|"), "gi");
      const text = DARK.matches ? this.figure.replace(lights, light => this.twins[light.toLowerCase()]) : this.figure;
      const { data, layout } = JSON.parse(text);
      const margin = { ...layout.margin, t: 16, l: this.$el.offsetWidth < 480 ? 48 : layout.margin?.l };
      this.plotly.react(this.$el, data, { ...layout, title: undefined, margin, autosize: true, width: undefined },
                        { displayModeBar: false, displaylogo: false });
    },
    save(kind) {
      this.plotly.downloadImage(this.$el, { format: kind, filename: this.name, width: 900, height: Math.max(this.$el.offsetHeight, 320), scale: kind === "png" ? 2 : 1 });
    },
  },
};
