// Generated from the JSON Schemas in schemas/ by `make types`. Do not edit: edit the schema.

/**
 * The holder of a token, and what it may do.
 */
export interface Me {
  object: 'me'
  role: 'reader' | 'editor' | 'admin' | 'operator' | 'integration' | 'installation'
  /**
   * The organization of a person’s token. An operator’s token is of none.
   */
  organization?: {
    id: string
    subdomain: string
    title: string
  }
  /**
   * The name of the script’s integration.
   */
  integration?: string
  /**
   * The id of the script’s installation.
   */
  installation?: string
  /**
   * The scopes of a script’s token.
   */
  scopes?: string[]
  /**
   * The ids of the operations that this role, and these scopes, may call.
   */
  allowed: string[]
}

export interface MeOperations {
  getMe: {
    roles: 'reader' | 'editor' | 'admin' | 'operator' | 'installation' | 'integration'
    params: {}
    query: object
    body: undefined
    answer: Me
  }
}
