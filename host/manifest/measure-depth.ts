import type { CST } from 'yaml'

/**
 * Where a YAML text first nests deeper than it may: the offset of that token, or nothing. What comes after (the
 * composer, ajv, our own checks) recurses, and ten thousand brackets would overflow the stack.
 */
export function measureDepth(tokens: CST.Token[], maxDepth: number): number | undefined {
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next
    if (depth > maxDepth) return token.offset
    for (const child of childrenOf(token)) open.push({ token: child, depth: depth + 1 })
  }
  return undefined
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value]
  if (!('items' in token)) return []
  const children: CST.Token[] = []
  for (const item of token.items) {
    if (item.key != null) children.push(item.key)
    if (item.value !== undefined) children.push(item.value)
  }
  return children
}
