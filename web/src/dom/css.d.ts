/** The build hands style sheets over as text. */
declare module "*.css" {
  const text: string;
  export default text;
}
