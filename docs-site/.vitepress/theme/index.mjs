import DefaultTheme from "vitepress/theme-without-fonts";
import HomeAnswer from "./HomeAnswer.vue";
import Layout from "./Layout.vue";
import PlayGround from "./playground/PlayGround.vue";
import "./styles/tokens.css";
import "./styles/content.css";
import "./styles/home.css";

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component("HomeAnswer", HomeAnswer);
    app.component("PlayGround", PlayGround);
  },
};
