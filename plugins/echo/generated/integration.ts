// Generated from the manifest by `annex types`. Do not edit: edit the manifest.
// sha256:fa5d7aea2276a8150cfac35c8c775c51803f0a199038298ccc9e9886b5725516

/**
 * What the manifest of this integration declares, for `createIntegration<Integration>({ … })`.
 */
export interface Integration {
  name: "echo"
  settings: {
    account: {
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
