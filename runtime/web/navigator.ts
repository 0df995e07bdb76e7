/** WinterTC's minimum: a script learns where it runs from `navigator.userAgent`. */
export const createNavigator = (): object =>
  Object.defineProperties(
    {},
    {
      userAgent: { value: 'Annex', enumerable: true },
      [Symbol.toStringTag]: { value: 'Navigator' },
    },
  )
