// Generated from the manifest by `annex types`. Do not edit: edit the manifest.
// sha256:2889181bf3382545b771d0ff275d2cced04f8d77a79df720136df78f69fda4f6

/**
 * What the manifest of this integration declares, for `createIntegration<Integration>({ … })`.
 */
export interface Integration {
  name: "elements"
  settings: {
    account: {
      [k: string]: unknown
    }
    site: {
    }
    space: {
    }
  }
  /**
   * Settings that only an active installation is sure to have: required ones without a default.
   */
  required: {
    account: never
    site: never
    space: never
  }
  secrets: {
  }
  scopes: never
}
