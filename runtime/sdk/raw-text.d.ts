/** The text of a JavaScript file, which a script sends to browsers. */
declare module '*.raw.js' {
  const text: string
  export default text
}
