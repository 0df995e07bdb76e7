// Generated from the manifest by `annex types`. Do not edit: edit the manifest.

/** What the manifest of this integration declares, for `createIntegration<Integration>({ … })`. */
export type Integration = {
  name: 'echo'
  settings: {
    account: {}
    site: {}
    space: {}
  }
  secrets: {}
  scopes: never
}
