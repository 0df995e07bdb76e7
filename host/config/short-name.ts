/** A name in an address: a subdomain, a slug. */
export const shortNamePattern = '^[a-z0-9]+(-[a-z0-9]+)*$'
export const longestShortName = 63

export const isShortName = (text: string): boolean =>
  text.length <= longestShortName && new RegExp(shortNamePattern).test(text)
