import HtmlWebpackPlugin from "html-webpack-plugin";

export default {
  mode: "production",
  entry: "./src/index.js",
  output: { filename: "[name].[contenthash].js", clean: true },
  plugins: [new HtmlWebpackPlugin({ title: "Evidence Chat with webpack" })],
};
