const made = Symbol('made by the prelude')

/** WinterTC's minimum: a script learns where it runs from `navigator.userAgent`. */
export class Navigator {
  readonly #userAgent = 'Annex'

  constructor(key: unknown = undefined) {
    if (key !== made) throw new TypeError('Illegal constructor: there is one Navigator')
  }

  get userAgent(): string {
    return this.#userAgent
  }
}

export const createNavigator = (): Navigator => new Navigator(made)
